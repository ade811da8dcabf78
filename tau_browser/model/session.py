"""A conversation: its header, its columns, its tree, and each entry's record when looked at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import msgspec
import numpy as np

from tau_browser.model.columns import OTHER, Bools, Columns, Flag, Int32s, Int64s, Names, Places
from tau_browser.model.decoder import Log
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.entries import Entries, entries_of
from tau_browser.model.format import TAU, Format
from tau_browser.model.heads import decode_record
from tau_browser.model.outline import Outline, nested_outline, outline_of
from tau_browser.model.payload import Record, message_of, text_of
from tau_browser.model.translation import is_nested, told_findings
from tau_browser.model.tree import Tree, hierarchy_of, is_foreign, tree_of


class Source(Protocol):
    """Where the bytes of a session are read from, whenever one of its entries is looked at."""

    def read(self, start: int, stop: int) -> bytes:
        """These bytes; fewer if the source has become shorter since."""
        ...


class _Stamp(msgspec.Struct):
    timestamp: str = ""


_LINE_NAME = re.compile("line-([0-9]{1,9})")
_decode_stamp = msgspec.json.Decoder(_Stamp).decode
_STRETCH = 128 * 1024  # bytes that are read at once
_GAP = 4096  # bytes, at most, between two records that are neighbours
_LINK_REASONS = {
    Flag.ORPHAN: "its parent is not in the session: drawn as a detached root",
    Flag.CYCLE: "its parents lead back to itself: the ring is cut here, drawn as a detached root",
}


@dataclass(frozen=True)
class Session:
    """One conversation as it stood when it was read. Entries are named by place, 0 to n-1."""

    header: dict[str, Any]
    entries: Entries
    tree: Tree
    kinds: Names
    roles: Names
    usage: Int64s  # one row per stored usage: input, output, cache read, cache write tokens
    diagnostics: list[Diagnostic]
    size: int  # bytes read
    source: Source
    format: Format = TAU

    def __len__(self) -> int:
        return len(self.entries.columns)

    @property
    def columns(self) -> Columns:
        return self.entries.columns

    @property
    def id(self) -> str:
        """The session id; "" where the header has none."""
        value = self.header.get("id")
        return value if isinstance(value, str) else ""

    @property
    def leaf(self) -> int:
        """Where τ reopens the session, or NOWHERE."""
        return self.tree.leaf

    @property
    def is_nested(self) -> bool:
        """Whether it is a hierarchy that a store keeps, and no conversation: no entry is the leaf,
        none was left, and a parent of several is no fork."""
        return is_nested(self.header)

    @property
    def forks(self) -> list[int]:
        """Entries at which the conversation went on in several ways, in file order."""
        return [] if self.is_nested else self.tree.own_forks

    @cached_property
    def outline(self) -> Outline:
        """The lines of the tree as drawn."""
        return nested_outline(self.tree) if self.is_nested else outline_of(self.tree, self.is_user)

    @cached_property
    def is_user(self) -> Bools:
        """Whether an entry is a user's message, by place."""
        columns = self.columns
        messages = self.kinds.where(columns.kind, "message")
        return messages & self.roles.where(columns.role, "user")

    def raw(self, place: int) -> bytes:
        """The bytes of an entry's record, as stored."""
        return self.source.read(*self.columns.row(place))

    def record(self, place: int) -> Record:
        """An entry's record in τ's shape; {} if its bytes are no longer there."""
        return self.format.record(decode_record(self.raw(place)))

    def text(self, place: int) -> str:
        """All the text of an entry."""
        return text_of(self.record(place))

    def entry_id(self, place: int) -> str:
        """The id of an entry, or "line-N" for one that has none of its own."""
        if self.has(place, Flag.NO_ID):
            return f"line-{self.columns.line[place]}"
        return self.format.entry_id(self.raw(place))

    def stamp(self, place: int) -> str:
        """The timestamp of an entry as written; "" where it has none."""
        return stamp_of(self.raw(place))

    def kind(self, place: int) -> str:
        """The kind of an entry."""
        code = int(self.columns.kind[place])
        if code < OTHER:
            return self._kind_names[code]
        return str(self.record(place).get("type", ""))

    def role(self, place: int) -> str:
        """The role of an entry's message; "" where it has none."""
        code = int(self.columns.role[place])
        if code < OTHER:
            return self._role_names[code]
        return str(message_of(self.record(place)).get("role", ""))

    def has(self, place: int, flag: int) -> bool:
        """Whether an entry has a flag (or any of several)."""
        return bool(self.columns.flags[place] & flag)

    def find(self, entry_id: str) -> list[int]:
        """The places of all entries with this id, in file order."""
        first = self.entries.find(hash(entry_id))
        if first is None:
            return self._find_by_line(entry_id)
        same_key = np.flatnonzero(self.columns.key == self.columns.key[first])
        return [at for at in same_key.tolist() if self.entry_id(at) == entry_id]

    def places_at(self, starts: Collection[int]) -> Places:
        """The places of the entries whose records begin at these bytes, in file order. Below zero,
        minus a number: the entry that has it for an id, as on a server."""
        found = np.isin(self.columns.start, [start for start in starts if start >= 0])
        for start in starts:
            if start < 0:
                found[self.find(str(-start))] = True
        return np.flatnonzero(found)

    def find_prefix(self, prefix: str) -> list[int]:
        """The places of all entries whose id starts so, in file order."""
        return [at for at in range(len(self)) if self.entry_id(at).startswith(prefix)]

    def ids(self, places: Any) -> list[str]:
        """The ids of these entries."""
        return [self.entry_id(int(place)) for place in places]

    def places_of_kind(self, *kinds: str) -> list[int]:
        """The places of all entries of these kinds, in file order."""
        return np.flatnonzero(self.kinds.where(self.columns.kind, *kinds)).tolist()

    @property
    def findings(self) -> list[Diagnostic]:
        """The diagnostics that say that something is wrong or odd."""
        return [each for each in self.diagnostics if each.severity is not Severity.REMARK]

    def diagnostics_of(self, place: int) -> list[Diagnostic]:
        """The findings on an entry's line."""
        line = int(self.columns.line[place])
        return [finding for finding in self.diagnostics if finding.line == line]

    def _find_by_line(self, name: str) -> list[int]:
        if not (line := _LINE_NAME.fullmatch(name)):
            return []
        on_line = np.flatnonzero(self.columns.line == int(line[1]))
        return [at for at in on_line.tolist() if self.has(at, Flag.NO_ID)]

    @cached_property
    def _role_names(self) -> list[str]:
        return list(self.roles)

    @cached_property
    def _kind_names(self) -> list[str]:
        return list(self.kinds)


def session_of(log: Log, source: Source) -> Session:
    """The conversation that a log holds."""

    def same(one: int, other: int) -> bool:
        first, second = (source.read(*log.columns.row(place)) for place in (one, other))
        try:
            if first == second:
                return True
            return log.format.same(decode_record(first), decode_record(second))
        except RecursionError:  # too deep to compare: then both are shown
            return False

    def stamps(places: Int32s) -> list[str]:
        return [stamp_of(raw) for raw in records_at(source, entries.columns, places)]

    entries = entries_of(log.columns, same)
    header_id = log.header.get("id") if log.header else None
    root_id = header_id if isinstance(header_id, str) else None
    if is_nested(log.header):
        tree = hierarchy_of(entries, root_id)
    else:
        leaf = log.format.leaf(entries.columns, log.kinds)
        foreign = is_foreign(entries.columns, log.kinds)
        tree = tree_of(entries, root_id, leaf, stamps, foreign)
    return Session(
        header=log.header or {},
        entries=entries,
        tree=tree,
        kinds=log.kinds,
        roles=log.roles,
        usage=np.array(log.usage, np.int64).reshape(-1, 4),
        diagnostics=_findings(log, entries),
        size=log.size,
        source=source,
        format=log.format,
    )


def records_at(source: Source, columns: Columns, places: Int32s) -> Iterator[bytes]:
    """The bytes of the records at these places, in this order. Neighbours are read at once, others
    alone: to ask the system for each costs less than to copy what lies between."""
    start, stop = columns.start[places], columns.stop[places]
    gap = start[1:] - stop[:-1]
    apart = (gap < 0) | (gap > _GAP) | (start[1:] // _STRETCH != start[:-1] // _STRETCH)
    ends = np.append(np.flatnonzero(apart) + 1, len(places)).tolist() if len(places) else []
    starts, stops = start.tolist(), stop.tolist()
    at = 0
    for end in ends:
        begin = starts[at]
        stretch = source.read(begin, stops[end - 1])
        for row in range(at, end):
            yield stretch[starts[row] - begin : stops[row] - begin]
        at = end


def stamp_of(raw: bytes) -> str:
    """The timestamp of a record as written; "" where it has none."""
    try:
        return _decode_stamp(raw).timestamp
    except (msgspec.DecodeError, RecursionError):
        value = decode_record(raw).get("timestamp")
        return "" if value is None else str(value)


def _findings(log: Log, entries: Entries) -> list[Diagnostic]:
    """All that is to be said about a session, in the order of its lines."""
    told = told_findings(log.header)
    findings = [*log.diagnostics, *entries.diagnostics]
    if not log.size:
        findings.append(Diagnostic(None, None, "the file is empty", Severity.NOTE))
    elif (
        log.format.has_header
        and log.header is None
        and all(finding.line is not None for finding in findings)
    ):
        reason = "no session header: its id and directory are unknown"
        findings.append(Diagnostic(1, 0, reason, Severity.DAMAGE))
    columns = entries.columns
    for flag, reason in _LINK_REASONS.items():
        for place in np.flatnonzero(columns.flags & flag).tolist():
            line, start = int(columns.line[place]), int(columns.start[place])
            findings.append(Diagnostic(line, start, reason, Severity.DAMAGE))
    for line in {finding.line for finding in told if finding.line is not None}:
        columns.flags[columns.line == line] |= Flag.NOTED
    return [*sorted(findings, key=lambda finding: finding.byte or 0), *told]
