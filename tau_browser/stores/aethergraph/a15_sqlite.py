"""The fifteenth alpha as it comes: every part in an SQLite database of its own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tau_browser.model.diagnostic import Severity
from tau_browser.model.heads import decode_record
from tau_browser.stores.aethergraph.database import has_table, opened
from tau_browser.stores.aethergraph.events import Event, events_in_rows
from tau_browser.stores.aethergraph.records import Damage, Read, Spot, Stored
from tau_browser.stores.store import StoreError

EVENTS = "memory_events/events.db"
LOG = "events/events.db"
SESSIONS = "sessions/sessions.db"
RUNS = "runs/runs.db"
STATES = "graph_state/graph_state.db"
FILES = (EVENTS, LOG, SESSIONS, RUNS, STATES)


def read_events(root: Path, session: str | None = None) -> tuple[list[Event], list[Damage]]:
    """The events of a session and those of none, in the order in which they were written; without
    a session, all."""
    asked = "" if session is None else "WHERE session_id = ? OR session_id IS NULL"
    rows, damage = _rows(
        root,
        EVENTS,
        "events",
        f"SELECT id, payload, scope_id FROM events {asked} ORDER BY id",
        () if session is None else (session,),
    )
    events, torn = events_in_rows(EVENTS, rows)
    payloads = {number: payload for number, payload, _ in rows} if torn else {}
    return events, damage + [_not_json(spot, payloads[spot.row]) for spot in torn]


def sessions(root: Path) -> Read:
    """The sessions."""
    return _objects(root, SESSIONS, "sessions", "data_json")


def runs(root: Path) -> Read:
    """The records of the runs."""
    return _objects(root, RUNS, "runs", "data_json")


def results(root: Path) -> Read:
    """What the runs gave, of those that gave anything."""
    return _objects(root, RUNS, "run_results", "data_json")


def states(root: Path) -> Read:
    """The last state of each run's graph."""
    return _objects(root, STATES, "docs", "data_json", "WHERE doc_id LIKE 'graph_state/%'")


def changes(root: Path) -> Read:
    """How the states of graphs changed, in order."""
    return _objects(root, STATES, "events", "payload")


def log(root: Path) -> Read:
    """Spans, agent events, log lines and meters, in order."""
    return _objects(root, LOG, "events", "payload")


def session_and_timeline(root: Path) -> Iterable[tuple[str, str]]:
    """The pairs of session and timeline under which events are kept, "" for none."""
    query = "SELECT DISTINCT coalesce(session_id, ''), coalesce(scope_id, '') FROM events"
    rows, _ = _rows(root, EVENTS, "events", query)
    return [(_text(session), _text(timeline)) for session, timeline in rows]


def _objects(root: Path, file: str, table: str, column: str, where: str = "") -> Read:
    query = f"SELECT rowid, {column} FROM {table} {where} ORDER BY rowid"
    read = Read()
    rows, read.damage = _rows(root, file, table, query)
    for number, data in rows:
        spot = Spot(file, table=table, row=number)
        if isinstance(data, bytes) and (value := decode_record(data)):
            read.values.append(Stored(value, spot))
        else:
            read.damage.append(_not_json(spot, data))
    return read


def _rows(
    root: Path, file: str, table: str, query: str, values: tuple[str, ...] = ()
) -> tuple[list[tuple[Any, ...]], list[Damage]]:
    """The rows of a query; none where there is no such database or table in it."""
    path = root / file
    if not path.is_file():
        return [], []
    try:
        with opened(path) as connection:
            connection.text_factory = bytes  # what is not UTF-8 is damage of its own row
            if not has_table(connection, table):
                return [], []
            return connection.execute(query, values).fetchall(), []
    except StoreError as error:
        reason = str(error).removeprefix(f"{path}: ")
        return [], [Damage(Spot(file), reason, Severity.UNREADABLE)]


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _not_json(spot: Spot, data: object) -> Damage:
    return Damage(spot, "not a JSON object", Severity.UNREADABLE, _text(data)[:2000])
