"""`tau-browse ls`: the sessions of a store, those changed last first.

JSON: {"sessions": [row], "coverage": {"seen", "listed", "unreadable": [{"path", "reason"}]}};
with --memory also "uncounted", like "unreadable"
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tau_browser import config
from tau_browser.actions.progress import Progress
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json, shown_time
from tau_browser.cli.progress import watched
from tau_browser.model.memory import MemoryType
from tau_browser.model.summary import Summary
from tau_browser.model.tallies import Tallies, tallied
from tau_browser.model.text import counted
from tau_browser.stores.listing import modified_ms, newest_first
from tau_browser.stores.store import Listed, Store, StoreError, Unreadable

_ID_LENGTH = 8
_TITLE_LENGTH = 60
# A clock may be off by a little; a session of the day after tomorrow has a wrong date.
_SKEW_MS = 24 * 3600 * 1000


@dataclass
class _Counts:
    """What entries make and call, by the path of their session. uncounted: what could not be
    read."""

    of: dict[str, Tallies] = field(default_factory=dict)
    uncounted: list[Unreadable] = field(default_factory=list)


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the list. Raises Failure, ConfigError and StoreError."""
    store = places.store(args) if args.path is None else places.target(args, args.path).store
    sessions, unreadable = look_into_all(store)
    counts = _counted(store, sessions) if args.memory else None
    if args.json:
        print_json(_as_json(sessions, unreadable, counts))
    else:
        _print(sessions, unreadable, counts, printer)
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


def _counted(store: Store, sessions: Sequence[Listed]) -> _Counts:
    """Read all sessions, and count. Raises Failure where a person stops it, and ConfigError."""
    config.use_rules(config.settings())
    counts = _Counts()
    with watched() as tell:
        for done, listed in enumerate(sessions):
            tell(Progress("reading", done, len(sessions)))
            opened = store.open(listed.path)
            try:
                *_, last = opened.load()
                assert last.session is not None  # the last progress carries it
                *_, (_, counts.of[listed.path]) = tallied(last.session)
            except (StoreError, OSError) as error:
                counts.uncounted.append(Unreadable(listed.path, str(error)))
            finally:
                opened.close()
    return counts


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


def _as_json(
    sessions: list[Listed], unreadable: list[Unreadable], counts: _Counts | None
) -> dict[str, Any]:
    rows = list(map(row, sessions, _references(sessions)))
    coverage = {
        "seen": len(sessions) + len(unreadable),
        "listed": len(sessions),
        "unreadable": [{"path": item.path, "reason": item.reason} for item in unreadable],
    }
    if counts is not None:
        rows = [each | _counts_in(counts.of.get(each["path"])) for each in rows]
        coverage["uncounted"] = [
            {"path": item.path, "reason": item.reason} for item in counts.uncounted
        ]
    return {"sessions": iter(rows), "coverage": coverage}


def _counts_in(tallies: Tallies | None) -> dict[str, Any]:
    if tallies is None:
        return {"memory": None, "families": None}
    return {"memory": tallies.memories, "families": tallies.families}


def _references(sessions: list[Listed]) -> list[str]:
    """A word for each session that names it: its id where that is its alone, else its path."""
    ids = [summary_in(listed).id for listed in sessions]
    count = Counter(ids)
    return [
        session_id if session_id and count[session_id] == 1 else listed.path
        for session_id, listed in zip(ids, sessions, strict=True)
    ]


def _print(
    sessions: list[Listed],
    unreadable: list[Unreadable],
    counts: _Counts | None,
    printer: Printer,
) -> None:
    if sessions:
        head = ["SESSION", "MODIFIED", "ENTRIES", "", "TITLE", "DIRECTORY"]
        latest = int(time.time() * 1000) + _SKEW_MS
        rows = [
            _cells(listed, ref, latest)
            for listed, ref in zip(sessions, _shortened(sessions), strict=True)
        ]
        if counts is not None:
            head[3:3] = [each.upper() for each in MemoryType]
            for listed, cells in zip(sessions, rows, strict=True):
                cells[3:3] = _memories(counts.of.get(listed.path))
        printer.table([head, *rows], right=[2, 3, 4, 5] if counts is not None else [2])
        printer.line()
    for item in unreadable:
        printer.line(f"not listed: {item.path}: {item.reason}")
    if counts is not None:
        for item in counts.uncounted:
            printer.line(f"not counted: {item.path}: {item.reason}")
        if told := str(sum(counts.of.values(), Tallies())):
            printer.line(told)
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


def _memories(tallies: Tallies | None) -> list[str]:
    """How many entries make memory of each type; what was not counted is not known."""
    if tallies is None:
        return ["?"] * len(MemoryType)
    return [f"{tallies.memories[each.value]:,}" for each in MemoryType]


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
