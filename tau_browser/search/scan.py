"""Searching the session files themselves: exact, and without an index.

A term is found where the text of an entry holds it, character by character, in any case; all the
terms must be there. What an index cannot find is found here: parts of words, signs, expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from tau_browser.model.heads import Found, find_values
from tau_browser.model.payload import Record, text_of
from tau_browser.search.candidates import Line, candidates
from tau_browser.search.matching import Check, pattern_for
from tau_browser.search.query import Query
from tau_browser.stores.session_file import load_session
from tau_browser.stores.store import StoreError

_BATCH = 200


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found, at bytes start to stop of a file."""

    path: str
    start: int
    stop: int
    record: Record


def scan(
    query: Query, paths: Sequence[str], cancelled: Callable[[], bool] = lambda: False
) -> Iterator[list[Hit]]:
    """The entries of these files that hold all the terms of a query, in batches, in no order of
    files; its filters are not asked (`filtering`). Ends early if cancelled.

    Raises QueryError if an expression takes too long.
    """
    checks = [Check(pattern_for(term), term.negated) for term in query.terms]
    wanted = [check.pattern for check in checks if not check.negated]
    seen = _Seen()
    batch: list[Hit] = []
    for line in candidates(wanted, paths):
        if line is None or len(batch) >= _BATCH:
            yield batch
            batch = []
            if cancelled():
                return
        if line is not None:
            batch += [hit for hit in _hits(line, checks) if seen.is_entry(hit)]
    yield batch


def _hits(line: Line, checks: Sequence[Check]) -> Iterator[Hit]:
    for start, stop, record in _records(line.data):
        text = text_of(record)
        if all(check.pattern.matches(text) != check.negated for check in checks):
            yield Hit(line.path, line.start + start, line.start + stop, record)


def _records(line: bytes) -> Iterator[tuple[int, int, Record]]:
    """The records on a line with their places; there may be none, and there may be several."""
    line = line.removesuffix(b"\r")
    try:
        value = _decode(line)
    except (msgspec.DecodeError, RecursionError):
        for found in find_values(line):
            if isinstance(found, Found) and isinstance(found.value, dict):
                yield found.start, found.stop, found.value
    else:
        if isinstance(value, dict):
            yield 0, len(line), value


class _Seen:
    """Tells records that are entries from those that are not: headers, placeholders that were
    finished later, repetitions. Only where there may be such is the whole session read."""

    def __init__(self) -> None:
        self._ids: set[tuple[str, object]] = set()
        self._ranges: dict[str, set[tuple[int, int]]] = {}

    def is_entry(self, hit: Hit) -> bool:
        if hit.start == 0 and hit.record.get("type") == "session":
            return False
        entry_id = hit.record.get("id")
        key = hit.path, entry_id if isinstance(entry_id, str | int) else None
        is_odd = (
            key in self._ids
            or key[1] is None
            or hit.record.get("status") == "incomplete"
            or hit.record.get("type") == "session"
        )
        self._ids.add(key)
        return not is_odd or (hit.start, hit.stop) in self._entries(hit.path)

    def _entries(self, path: str) -> set[tuple[int, int]]:
        if path not in self._ranges:
            self._ranges[path] = set()
            try:
                columns = load_session(path).columns
            except (StoreError, OSError):
                return set()
            ranges = zip(columns.start.tolist(), columns.stop.tolist(), strict=True)
            self._ranges[path] = set(ranges)
        return self._ranges[path]


_decode = msgspec.json.Decoder().decode
