"""Small aethergraph workspaces, written as the program writes them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from tau_browser.model.session import Session
from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.store import Listed
from tests.conftest import DATA

SAMPLES = DATA / "aethergraph"


def event(number: int, **fields: Any) -> dict[str, Any]:
    """An event of the first alpha, with every key that it writes."""
    names = ["graph_id", "node_id", "agent_id", "tool", "stage", "tags", "entities", "inputs"]
    names += ["outputs", "inputs_ref", "outputs_ref", "metrics", "embedding", "pii_flags"]
    nothing = dict.fromkeys([*names, "sources"])
    return nothing | {
        "event_id": f"{number:024x}",
        "ts": f"2026-03-02T09:{number // 60 % 60:02}:{number % 60:02}Z",
        "run_id": "r1",
        "kind": "note",
        "severity": 2,
        "signal": 0.35 + min(len(fields.get("text") or "said") / 400, 0.4),
        "text": "said",
        "version": 1,
        **fields,
    }


def events_file(root: Path, run: str = "r1", day: str = "2026-03-02") -> Path:
    """The file of a run's events of a day; its folder is made."""
    path = root / "memory/mem" / run / "events" / f"{day}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_run(root: Path, *events: dict[str, Any], run: str = "r1") -> Path:
    """A run of the first alpha. Returns the file of its events."""
    path = events_file(root, run)
    lines = [json.dumps(each | {"run_id": run}) + "\n" for each in events]
    path.write_text("".join(lines))
    return path


def write_json(path: Path, value: Any) -> None:
    """An object as a file of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def write_lines(path: Path, *values: Any) -> None:
    """Objects as lines of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values))


EVENTS_TABLE = """
CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, ts REAL, scope_id TEXT, kind TEXT,
    tags_json TEXT, payload TEXT, user_id TEXT, org_id TEXT, run_id TEXT, session_id TEXT,
    client_id TEXT, agent_id TEXT, graph_id TEXT, node_id TEXT, topic TEXT, tool TEXT,
    severity INTEGER, signal REAL);
CREATE TABLE event_tags (event_row_id INTEGER, tag TEXT);
"""


def write_events(root: Path, *events: dict[str, Any], wal: bool = False) -> sqlite3.Connection:
    """The events of the fifteenth alpha, in its database. The connection stays open."""
    path = root / "memory_events/events.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    connection = sqlite3.connect(path)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    if is_new:
        connection.executescript(EVENTS_TABLE)
    for each in events:
        connection.execute(
            "INSERT INTO events (ts, scope_id, kind, payload, run_id, session_id) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                each.get("ts"),
                each.get("timeline_id", "org:local|session:s1"),
                each.get("kind"),
                json.dumps(each),
                each.get("run_id"),
                each.get("session_id"),
            ),
        )
    connection.commit()
    return connection


def copied(name: str, folder: Path) -> Path:
    """One of the stored samples, in a place where it may be harmed."""
    shutil.copytree(SAMPLES / name, folder / name)
    return folder / name


def opened(root: Path, session_id: str) -> Session:
    """A session of a workspace, by its id."""
    store = AethergraphStore([str(root)])
    for listed in store.scan():
        if isinstance(listed, Listed) and store.identify(listed) == session_id:
            *_, last = store.open(listed.path).load()
            assert last.session is not None
            return last.session
    raise AssertionError(f"no session {session_id}")


def reasons(session: Session) -> list[str]:
    """What was found about a session."""
    return [finding.reason for finding in session.diagnostics]


def place(session: Session, entry_id: str) -> int:
    """The place of an entry."""
    (found,) = session.find(entry_id)
    return found


def children(session: Session, entry_id: str) -> list[str]:
    """The ids of what hangs under an entry."""
    return session.ids(session.tree.children(place(session, entry_id)))


def records(session: Session) -> list[dict[str, Any]]:
    """All entries' records, in file order."""
    return [session.record(at) for at in range(len(session))]
