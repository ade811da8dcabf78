"""`tau-browse ls`: the sessions of a store, those changed last first.

JSON: {"sessions": [row], "coverage": {"seen", "listed", "unreadable": [{"path", "reason"}]}}
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import pairwise
from typing import Any

from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json, shown_time
from tau_browser.model.summary import Summary
from tau_browser.model.text import counted
from tau_browser.stores.listing import modified_ms, newest_first
from tau_browser.stores.store import Listed, Store, Unreadable

_ID_LENGTH = 8
_TITLE_LENGTH = 60
# A clock may be off by a little; a session of the day after tomorrow has a wrong date.
_SKEW_MS = 24 * 3600 * 1000


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the list. Raises Failure, ConfigError and StoreError."""
    store = places.store(args) if args.path is None else places.target(args, args.path).store
    sessions, unreadable = look_into_all(store)
    if args.json:
        print_json(_as_json(sessions, unreadable))
    else:
        _print(sessions, unreadable, printer)
    if sessions:
        return 0
    if unreadable:
        raise Failure(f"nothing can be read in {store.title}")
    raise Failure(f"no sessions in {store.title}", code=1)


def look_into_all(store: Store) -> tuple[list[Listed], list[Unreadable]]:
    """Every session with its summary, newest first, and whatever could not be listed."""
    found = [
        store.look_into(item) if isinstance(item, Listed) and item.summary is None else item
        for item in store.scan()
    ]
    store.remember()
    sessions = [item for item in found if isinstance(item, Listed)]
    return newest_first(sessions), [item for item in found if isinstance(item, Unreadable)]


def row(listed: Listed, ref: str) -> dict[str, Any]:
    """A session as one row of JSON; null stands for what its file does not tell."""
    summary = summary_in(listed)
    return {
        "ref": ref,
        "id": summary.id or None,
        "title": summary.title,
        "cwd": summary.cwd or None,
        "store": listed.store,
        "path": listed.path,
        "created": summary.created or None,
        "modified": summary.modified or None,
        "entries": entries_in(summary),
        "parent": summary.parent,
        "diagnostics": findings(summary),
    }


def summary_in(listed: Listed) -> Summary:
    """The summary of a session that was looked into."""
    assert listed.summary is not None
    return listed.summary


def entries_in(summary: Summary) -> int | None:
    """How many entries a session has; None where nobody has counted them yet."""
    return None if summary.partial and not summary.entries else summary.entries


def findings(summary: Summary) -> int:
    """How many findings there are about a session."""
    return summary.unreadable + summary.damage + summary.notes + summary.pending


def _as_json(sessions: list[Listed], unreadable: list[Unreadable]) -> dict[str, Any]:
    return {
        "sessions": map(row, sessions, _references(sessions)),
        "coverage": {
            "seen": len(sessions) + len(unreadable),
            "listed": len(sessions),
            "unreadable": [{"path": item.path, "reason": item.reason} for item in unreadable],
        },
    }


def _references(sessions: list[Listed]) -> list[str]:
    """A word for each session that names it: its id where that is its alone, else its path."""
    ids = [summary_in(listed).id for listed in sessions]
    count = Counter(ids)
    return [
        session_id if session_id and count[session_id] == 1 else listed.path
        for session_id, listed in zip(ids, sessions, strict=True)
    ]


def _print(sessions: list[Listed], unreadable: list[Unreadable], printer: Printer) -> None:
    if sessions:
        head = ["SESSION", "MODIFIED", "ENTRIES", "", "TITLE", "DIRECTORY"]
        latest = int(time.time() * 1000) + _SKEW_MS
        rows = [
            _cells(listed, ref, latest)
            for listed, ref in zip(sessions, _shortened(sessions), strict=True)
        ]
        printer.table([head, *rows], right=[2])
        printer.line()
    for item in unreadable:
        printer.line(f"not listed: {item.path}: {item.reason}")
    flawed = sum(findings(summary_in(listed)) > 0 for listed in sessions)
    parts = [counted(len(sessions), "session"), f"{len(unreadable):,} unreadable"]
    printer.line(", ".join([*parts, *([f"{flawed:,} with findings (!)"] if flawed else [])]))


def _cells(listed: Listed, ref: str, latest: int) -> list[str]:
    summary = summary_in(listed)
    clock = " clock?" if modified_ms(listed) > latest else ""
    title = summary.title
    return [
        ref,
        shown_time(summary.modified) + clock,
        "?" if (entries := entries_in(summary)) is None else f"{entries:,}",
        "!" if findings(summary) else "",
        title if len(title) <= _TITLE_LENGTH else f"{title[: _TITLE_LENGTH - 1]}…",
        summary.cwd,
    ]


def _shortened(sessions: list[Listed]) -> list[str]:
    """The same as `_references`, ids cut to what still tells them apart."""
    references = _references(sessions)
    ids = sorted({summary_in(listed).id for listed in sessions})
    shared = [_shared(one, other) for one, other in pairwise(ids)]
    length = max([_ID_LENGTH, *(common + 1 for common in shared)])
    return [
        ref[:length] if ref != listed.path else ref
        for ref, listed in zip(references, sessions, strict=True)
    ]


def _shared(one: str, other: str) -> int:
    """How many characters two ids begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
