"""What it costs to bring a workspace of aethergraph to a browsable tree."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tau_browser.model.rows import Rows
from tau_browser.model.session import Session
from tau_browser.stores.aethergraph.store import AethergraphStore
from tests.benchmarks.reading import alternate
from tests.benchmarks.table import Figure

_LIMIT = 3
_NODES = 40  # of one run
_PER_RUN = 2000  # events


def figures(entries: int) -> list[Figure]:
    """CPU to a browsable tree of each layout, against a bare parse of the same events."""
    with tempfile.TemporaryDirectory() as folder:
        return _figures(Path(folder), entries)


def _figures(folder: Path, entries: int) -> list[Figure]:
    made = {
        "first alpha, lines": (_write_first(folder / "a1", entries), "run:r0"),
        "fifteenth alpha, lines": (_write_lines(folder / "a15-fs", entries), "session:s0"),
        "fifteenth alpha, SQLite": (_write_table(folder / "a15", entries), "session:s0"),
    }
    found = []
    for name, (path, session) in made.items():
        bare, browsable = alternate(
            lambda p=path: _parse(p), lambda p=path, s=session: _browse(p, s), rounds=3
        )
        what = (
            f"CPU to a browsable tree, aethergraph's {name}, {entries:,} events / bare json.loads"
        )
        found.append(Figure(what, browsable / bare, _LIMIT))
    return found


def _browse(path: Path, session: str) -> tuple[Session, Rows]:
    """A session read for the first time: nothing of it is in any cache."""
    root = next(parent for parent in path.parents if (parent / "root").exists())
    with tempfile.TemporaryDirectory() as cache:
        store = AethergraphStore([str(root)], Path(cache))
        *_, last = store.open(f"{root}#{session}").load()
        assert last.session is not None
        return last.session, Rows(last.session.outline)


def _parse(path: Path) -> None:
    """Every event as the program's own reader decodes it."""
    if path.suffix == ".db":
        connection = sqlite3.connect(path)
        for (payload,) in connection.execute("SELECT payload FROM events ORDER BY id"):
            json.loads(payload)
        connection.close()
        return
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def _write_first(root: Path, entries: int) -> Path:
    path = root / "memory/mem/r0/events/2026-03-02.jsonl"
    _prepare(root, path)
    _write(path, (_first(at) for at in range(entries)))
    return path


def _write_lines(root: Path, entries: int) -> Path:
    path = root / "mem/org:local|session:s0/events/2026-03-02.jsonl"
    _prepare(root, path)
    timeline = {"timeline_id": "org:local|session:s0"}
    _write(path, (_fifteenth(at) | timeline for at in range(entries)))
    return path


def _write_table(root: Path, entries: int) -> Path:
    path = root / "memory_events/events.db"
    _prepare(root, path)
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, ts REAL, scope_id TEXT, "
        "kind TEXT, payload TEXT, run_id TEXT, session_id TEXT);"
        "CREATE TABLE event_tags (event_row_id INTEGER, tag TEXT)"
    )
    connection.executemany(
        "INSERT INTO events (ts, scope_id, kind, payload, run_id, session_id) "
        "VALUES (?, 'org:local|session:s0', ?, ?, ?, 's0')",
        (
            (each["ts"], each["kind"], json.dumps(each), each["run_id"])
            for each in map(_fifteenth, range(entries))
        ),
    )
    connection.commit()
    connection.close()
    return path


def _prepare(root: Path, path: Path) -> None:
    path.parent.mkdir(parents=True)
    (root / "root").touch()


def _write(path: Path, events: Iterator[dict[str, Any]]) -> None:
    with path.open("w") as file:
        for each in events:
            file.write(json.dumps(each) + "\n")


def _first(at: int) -> dict[str, Any]:
    """What the first alpha writes of a run: calls and their results, and talk now and then."""
    kind = ("user_msg", "tool_start", "tool_result", "tool_start", "tool_result")[at % 5]
    said = (
        f"{kind} {at}: finding {at} about lazy index and offsets; finding {at + 1} about the same"
    )
    is_result = kind == "tool_result"
    output = {"name": "rows", "vtype": "number", "value": float(at)}
    severity, metrics = (
        (3, {"latency_ms": 600.0 + at, "tokens": at % 90}) if is_result else (2, None)
    )
    signal = 0.15 + 0.1 * severity + min(len(said) / 400, 0.4) + 0.2 * bool(metrics)
    return {
        "event_id": f"{at:024x}",
        "ts": _stamp(at),
        "run_id": "r0",
        "graph_id": "report.flow",
        "node_id": None if kind == "user_msg" else f"node_{at // 5 % _NODES}",
        "agent_id": "tau",
        "tool": f"tool.t{at % 9}" if is_result else None,
        "kind": kind,
        "stage": None if is_result else "act",
        "severity": severity,
        "signal": min(1.0, signal),
        "tags": ["chat", "turn"],
        "entities": None,
        "inputs": [{"name": "topic", "vtype": "string", "value": f"topic {at}"}] * is_result
        or None,
        "outputs": [output] * is_result or None,
        "inputs_ref": None,
        "outputs_ref": None,
        "metrics": metrics,
        "text": said,
        "embedding": None,
        "pii_flags": None,
        "sources": None,
        "version": 1,
    }


def _fifteenth(at: int) -> dict[str, Any]:
    """The same as the fifteenth alpha writes it, in runs of a session."""
    first = _first(at)
    run = f"run-{at // _PER_RUN:012x}"
    kept = {name: value for name, value in first.items() if value is not None}
    talk = {"kind": "chat.turn", "stage": "user", "data": {"role": "user", "text": first["text"]}}
    scope = {"scope_id": "session:s0", "session_id": "s0", "user_id": "local", "org_id": "local"}
    return kept | scope | {"run_id": run, "version": 2} | (talk if at % 5 == 0 else {})


def _stamp(at: int) -> str:
    seconds = at // 3
    minutes, hours = seconds // 60, seconds // 3600
    day = 2 + hours // 24
    return f"2026-03-{day:02}T{hours % 24:02}:{minutes % 60:02}:{seconds % 60:02}Z"
