"""Searching the session files themselves: exact, and without an index.

A term is found where the text of an entry holds it, character by character, in any case; all the
terms must be there. What an index cannot find is found here: parts of words, signs, expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from tau_browser.model.heads import Found, find_values
from tau_browser.model.payload import Record, text_of
from tau_browser.search.candidates import Line, candidates
from tau_browser.search.logs import FILES, Logs
from tau_browser.search.matching import Check, pattern_for
from tau_browser.search.query import Query
from tau_browser.stores.session_log import SessionLog
from tau_browser.stores.store import StoreError

_BATCH = 500  # lines


class Hit(NamedTuple):
    """An entry that was found, at bytes start to stop of a file."""

    path: str
    start: int
    stop: int
    record: Record


def scan(
    query: Query,
    paths: Sequence[str],
    cancelled: Callable[[], bool] = lambda: False,
    plain: Container[str] = (),
    logs: Logs = FILES,
) -> Iterator[list[Hit]]:
    """The entries of these sessions that hold all the terms of a query, in batches, in no order of
    files; its filters are not asked (`filtering`). Ends early if cancelled.

    plain: paths of those that spell their texts in one way only (`Reader.plain_paths`). Raises
    QueryError if an expression takes too long.
    """
    checks = [Check(pattern_for(term), term.negated) for term in query.terms]
    wanted = [check.pattern for check in checks if not check.negated]
    seen = _Seen(logs)
    read = _Read(paths, plain, logs)
    for lines in chain(candidates(wanted, read.direct, read.plain), candidates((), read.others)):
        for first in range(0, len(lines), _BATCH):
            found = _hits(lines[first : first + _BATCH], checks, read)
            yield [hit for hit in found if seen.is_entry(hit)]
            if cancelled():
                return


class _Read:
    """The files in which sessions are read.

    direct: those whose texts stand in them as strings · plain: of them, those that spell them in
    one way only · others: those of which every line must be looked at
    """

    def __init__(self, paths: Sequence[str], plain: Container[str], logs: Logs) -> None:
        self.direct: list[str] = []
        self.plain: set[str] = set()
        self.others: list[str] = []
        self._logs: dict[str, tuple[SessionLog, int]] = {}
        for path in paths:
            try:
                log = logs.of(path)
            except (StoreError, OSError):  # what cannot be read has no lines
                continue
            (self.direct if log.format.is_direct else self.others).extend(log.files)
            if path in plain:
                self.plain.update(log.files)
            self._logs |= {file: (log, start) for file, start in log.starts().items()}

    def log(self, file: str) -> tuple[SessionLog, int]:
        """The log that a file belongs to, and at which byte of it the file starts."""
        return self._logs[file]


def _hits(lines: Sequence[Line], checks: Sequence[Check], read: _Read) -> Iterator[Hit]:
    for file, at, data in lines:
        log, base = read.log(file)
        for start, stop, stored in _records(data):
            record = log.format.record(stored)
            text = text_of(record)
            if all(check.pattern.matches(text) != check.negated for check in checks):
                yield Hit(log.path, base + at + start, base + at + stop, record)


def _records(line: bytes) -> list[tuple[int, int, Record]]:
    """The records on a line with their places; there may be none, and there may be several."""
    line = line.removesuffix(b"\r")
    try:
        value = _decode(line)
    except (msgspec.DecodeError, RecursionError):
        found = (it for it in find_values(line) if isinstance(it, Found))
        return [(it.start, it.stop, it.value) for it in found if isinstance(it.value, dict)]
    return [(0, len(line), value)] if isinstance(value, dict) else []


class _Seen:
    """Tells records that are entries from those that are not: headers, placeholders that were
    finished later, repetitions. Only where there may be such is the whole session read."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
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
                columns = self._logs.load(path).columns
            except (StoreError, OSError):
                return set()
            ranges = zip(columns.start.tolist(), columns.stop.tolist(), strict=True)
            self._ranges[path] = set(ranges)
        return self._ranges[path]


_decode = msgspec.json.Decoder().decode
