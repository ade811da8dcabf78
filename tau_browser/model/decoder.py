"""From the bytes of a log to columns: incremental, tolerant, nothing dropped without a word.

The rules are tau-format 1.8 and 1.9. Bytes are split on "\\n" only. A stretch of lines is decoded
at once; where that fails, its lines are read one by one, and what is odd is written down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from tau_browser.model.columns import (
    KINDS,
    PREVIOUS,
    PREVIOUS_KEY,
    ROLES,
    Columns,
    Flag,
    Int64s,
    Names,
    Places,
    concatenate,
)
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.format import TAU, Format, Links
from tau_browser.model.heads import (
    Found,
    Head,
    MessageHead,
    Unreadable,
    describe,
    find_values,
)

_REFUSED_ENCODINGS = {
    b"\xff\xfe": "UTF-16, not UTF-8: convert the file to read it",
    b"\xfe\xff": "UTF-16, not UTF-8: convert the file to read it",
    b"\x1f\x8b": "compressed with gzip: unpack the file to read it",
}
_BOM = b"\xef\xbb\xbf"
_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0c\x0e-\x1f]")
_STOPS = {"error": Flag.ERROR, "aborted": Flag.ABORTED}
_CUSTOM = {
    None: 0,
    "config": Flag.CONFIG,
    "agent_spec": Flag.CONFIG,
    "turn_error": Flag.ERROR,
    "branch_error": Flag.ERROR,
}
FILE_BYTES = 1 << 40
"""A log may be kept in several files: byte offsets in the nth, from 0, start at n times this."""
_FILE_LINES = 1_000_000  # the same for lines; a log of one file may have more

_ALIKE = (UNSET, PREVIOUS)  # what all entries of some formats have for an id and a parent
_UNSET_KEY = hash(UNSET)
_EMPTY_KEY = hash("")


@dataclass(frozen=True, slots=True)
class Log:
    """A log as decoded up to some byte: one place in the columns per record."""

    header: dict[str, Any] | None
    columns: Columns
    kinds: Names
    roles: Names
    usage: list[tuple[int, int, int, int]]
    diagnostics: list[Diagnostic]
    size: int  # bytes decoded, the unfinished last line included
    format: Format


@dataclass(slots=True)
class _File:
    """One of the files of a log, as far as it has been decoded."""

    offset: int  # where its next line starts
    line: int
    name: str = ""
    rest: list[bytes] = field(default_factory=list)  # pieces of the line that has no end yet
    refused: bool = False

    @property
    def size(self) -> int:
        """Bytes fed so far."""
        return self.offset % FILE_BYTES + sum(map(len, self.rest))


@dataclass(frozen=True, slots=True)
class _Row:
    """One record that was read on its own."""

    head: Head
    start: int
    stop: int
    line: int
    noted: bool
    link: Any


class Decoder:
    """Takes a log's bytes in pieces of any size; `log()` is what they amount to so far."""

    def __init__(self, format: Format = TAU) -> None:
        self._format = format
        self._header: dict[str, Any] | None = None
        self._kinds, self._roles = Names(KINDS), Names(ROLES)
        self._usage: list[tuple[int, int, int, int]] = []
        self._diagnostics: list[Diagnostic] = []
        self._parts: list[Columns] = []
        self._records = 0  # in the parts
        self._links: Links = []
        self._files = [_File(0, 1)]
        self._at = self._files[0]
        self._values = 0  # values met so far, entries or not

    @property
    def size(self) -> int:
        """Bytes fed so far."""
        return sum(file.size for file in self._files)

    def add_file(self, name: str) -> None:
        """Another file belongs to the log; `name` tells it from the first in what is said."""
        at = len(self._files)
        self._files.append(_File(at * FILE_BYTES, at * _FILE_LINES + 1, name))

    def feed(self, data: bytes, file: int = 0) -> None:
        """Decode the whole lines that these bytes complete in one of the files."""
        at = self._at = self._files[file]
        if not at.offset % FILE_BYTES and at.size < len(_BOM):  # a mark may come in pieces
            data = self._check_encoding(b"".join([*at.rest, data]))
            at.rest = []
        if at.refused:
            at.offset += len(data)
            return
        end = data.rfind(b"\n") + 1
        if end:
            self._decode(b"".join([*at.rest, memoryview(data)[:end]]))
            at.rest = []
        if end < len(data):
            at.rest.append(data[end:])

    def log(self) -> Log:
        """What has been fed so far, as a log. Feeding may go on afterwards.

        Of a last line without its end, what is whole counts and what is torn is pending; all of it
        is decided anew when more bytes come.
        """
        self._parts = [concatenate(self._parts or [self._columns([])])]
        settled, header, values = len(self._diagnostics), self._header, self._values
        usage, links, records = len(self._usage), len(self._links), self._records
        tails = []
        for file in self._files:
            tails.append(self._tail(file))
            self._records += len(tails[-1])
        columns = concatenate([*self._parts, *filter(len, tails)])
        columns, told = self._format.settle(columns, self._links)
        log = Log(
            header=self._header,
            columns=columns,
            kinds=Names(self._kinds),
            roles=Names(self._roles),
            usage=list(self._usage),
            diagnostics=[*self._diagnostics, *told],
            size=self.size,
            format=self._format,
        )
        del self._diagnostics[settled:]
        del self._usage[usage:]
        del self._links[links:]
        self._header, self._values, self._records = header, values, records
        return log

    def _check_encoding(self, data: bytes) -> bytes:
        for mark, reason in _REFUSED_ENCODINGS.items():
            if data.startswith(mark):
                self._at.refused = True
                self._diagnostics.append(Diagnostic(None, None, reason, Severity.UNREADABLE))
        if data.startswith(_BOM):
            self._note(self._at.offset, "starts with a UTF-8 byte order mark", Severity.NOTE)
            self._at.offset += len(_BOM)
            return data[len(_BOM) :]
        return data

    def _decode(self, lines: bytes) -> None:
        at = 0
        read_alone = self._format.header_lines
        while self._header is None and self._at.line % _FILE_LINES <= read_alone:
            end = lines.find(b"\n", at) + 1
            if not end:
                return
            self._decode_stretch(lines[at:end], one_by_one=True)
            at = end
        if at < len(lines):  # what follows may be read at once
            self._decode_stretch(lines[at:] if at else lines)

    def _decode_stretch(self, lines: bytes, *, one_by_one: bool = False) -> None:
        part = None if one_by_one else self._fast(lines)
        if part is None:
            part = self._slow(lines)
        else:
            self._at.line += len(part)
            self._values += len(part)
        self._at.offset += len(lines)
        self._records += len(part)
        if len(part):
            self._parts.append(part)

    def _fast(self, lines: bytes) -> Columns | None:
        """Columns of a stretch of lines decoded at once, or None where one of them is odd."""
        if not _is_utf8(lines):
            return None
        try:
            heads, found = self._format.heads(lines, self._header)
        except (msgspec.DecodeError, RecursionError):
            return None
        start, stop = _line_ranges(lines)
        if len(heads) != len(start) or not _hold_objects(lines, start, stop):
            return None
        usage = len(self._usage)
        part = self._columns(
            heads,
            start=start + self._at.offset,
            stop=stop + self._at.offset,
            line=np.arange(self._at.line, self._at.line + len(heads)),
        )
        odd = ((part.flags & Flag.NO_ID) != 0) & (part.parent != PREVIOUS_KEY)
        odd |= (part.key == _EMPTY_KEY) | (part.parent == _UNSET_KEY)
        if odd.any() or self._kinds.where(part.kind, "", "session").any():
            del self._usage[usage:]
            return None
        self._links += [(self._records + at, link) for at, link in found]
        return part

    def _slow(self, lines: bytes) -> Columns:
        """Columns of lines read one by one, with a diagnostic for each oddity."""
        rows: list[_Row] = []
        at = 0
        while at < len(lines):
            end = lines.index(b"\n", at)
            rows += self._read_line(lines[at:end], self._at.offset + at)
            self._at.line += 1
            at = end + 1
        return self._columns_of_rows(rows)

    def _tail(self, file: _File) -> Columns:
        """Columns of the last line, which has no end yet: the records on it that are whole."""
        self._at = file
        tail = b"".join(file.rest)
        file.rest = [tail] if tail else []
        whole = len(tail)
        for value in find_values(tail):
            whole = value.start if isinstance(value, Unreadable) else len(tail)
        rows = self._read_line(tail[:whole], self._at.offset)
        if torn := len(tail) - whole:
            reason = f"the last line is incomplete ({torn:,} bytes): still being written"
            self._note(self._at.offset + whole, reason, Severity.PENDING)
        return self._columns_of_rows(rows)

    def _read_line(self, line: bytes, offset: int) -> list[_Row]:
        noted = self._note_bytes(line, offset)
        rows: list[_Row] = []
        values = list(find_values(line))
        noted |= len(values) > 1
        if sum(isinstance(v, Found) and isinstance(v.value, dict) for v in values) > 1:
            self._note(offset, "several records on one line: each is shown", Severity.NOTE)
        for value in values:
            if isinstance(value, Unreadable):
                self._note(offset + value.start, value.reason, Severity.UNREADABLE)
            elif isinstance(value.value, dict):
                if value.harm:
                    noted = True
                    self._note(offset + value.start, value.harm)
                rows += self._read_record(value.value, offset + value.start, value, noted)
            else:
                reason = f"{describe(value.value)}, not an entry: not in the tree"
                self._note(offset + value.start, reason, Severity.UNREADABLE)
            self._values += 1
        return rows

    def _read_record(
        self, record: dict[str, Any], start: int, found: Found, noted: bool
    ) -> list[_Row]:
        if self._header is None and (header := self._format.header(record)) is not None:
            self._take_header(header, start)
            if not self._format.header_is_entry:
                return []
        head, odd, link = self._format.head(record, self._header)
        for reason in odd:
            self._note(start, reason)
        stop = start + found.stop - found.start
        return [_Row(head, start, stop, self._at.line, noted or bool(odd), link)]

    def _take_header(self, header: dict[str, Any], start: int) -> None:
        self._header = header
        if self._values and self._format.header_lines == 1:
            self._note(start, "the session header is not the first record", Severity.NOTE)
        for reason, severity in self._format.header_remarks(header):
            self._note(start, reason, severity)

    def _note_bytes(self, line: bytes, offset: int) -> bool:
        before = len(self._diagnostics)
        if not _is_utf8(line):
            self._note(offset, "bytes that are not UTF-8: shown as �")
        if b"\x00" in line:
            self._note(offset, f"{line.count(0):,} NUL bytes")
        if _CONTROL.search(line):
            self._note(offset, "raw control characters inside the line", Severity.NOTE)
        return len(self._diagnostics) > before

    def _note(self, byte: int, reason: str, severity: Severity = Severity.DAMAGE) -> None:
        name, line = self._at.name, self._at.line
        source = f"{name}, line {line % _FILE_LINES}" if name else ""
        self._diagnostics.append(Diagnostic(line, byte, reason, severity, source))

    def _columns_of_rows(self, rows: list[_Row]) -> Columns:
        columns = self._columns(
            [row.head for row in rows],
            start=[row.start for row in rows],
            stop=[row.stop for row in rows],
            line=[row.line for row in rows],
        )
        for at, row in enumerate(rows):
            if row.noted:
                columns.flags[at] |= Flag.NOTED
            if row.link is not None:
                self._links.append((self._records + at, row.link))
        return columns

    def _columns(
        self, heads: Sequence[Head], start: Any = (), stop: Any = (), line: Any = ()
    ) -> Columns:
        messages = [head.message for head in heads]
        flags = np.zeros(len(heads), np.uint16)
        usage = np.full(len(heads), -1, np.int32)
        # One pass each over what most entries lack: a pass costs its cache misses, not its tests.
        rare = [
            at
            for at, h in enumerate(heads)
            if h.status or h.customType or h.copiedFrom or h.branchOf or h.is_error
        ]
        reported = _filled([m.usage or m.stop_reason or m.is_error or None for m in messages])
        for at in {*rare, *(at for at in reported if _ends_badly(messages[at]))}:
            flags[at] = flags_of(heads[at])
        if reported:
            spent = [(at, counts) for at in reported if (counts := messages[at].usage) is not None]
            usage[[at for at, _ in spent]] = np.arange(len(spent)) + len(self._usage)
            self._usage += [counts.counts() for _, counts in spent]
        starts, key = np.asarray(start, np.int64), _hashes([head.id for head in heads])
        nameless = key == _UNSET_KEY
        flags[nameless] |= Flag.NO_ID
        key[nameless] = ~starts[nameless]
        return Columns(
            start=starts,
            stop=np.asarray(stop, np.int64),
            line=np.asarray(line, np.int32),
            key=key,
            parent=_hashes([head.parentId for head in heads]),
            kind=self._kinds.encode([head.type for head in heads]),
            role=self._roles.encode([message.role for message in messages]),
            flags=flags,
            usage=usage,
        )


def flags_of(head: Head) -> int:
    """The bits of `Flag` that a record's own head tells."""
    flags = _STOPS.get(head.message.stop_reason or "", 0) | _CUSTOM.get(head.customType, 0)
    if head.status == "incomplete":
        flags |= Flag.INCOMPLETE
    if head.copiedFrom is not None:
        flags |= Flag.COPIED
    if head.branchOf is not None:
        flags |= Flag.LANE
    if head.is_error or head.message.is_error:
        flags |= Flag.ERROR
    return flags


def _ends_badly(message: MessageHead) -> bool:
    return message.is_error or message.stop_reason in _STOPS


def _filled(values: list[Any]) -> list[int]:
    """Where a list is not None."""
    if values.count(None) == len(values):
        return []
    return [at for at, value in enumerate(values) if value is not None]


def _hashes(ids: list[Any]) -> Int64s:
    if ids and ids[0] in _ALIKE and ids.count(ids[0]) == len(ids):
        return np.full(len(ids), hash(ids[0]), np.int64)
    return np.fromiter(map(hash, ids), np.int64, len(ids))


def _line_ranges(lines: bytes) -> tuple[Places, Places]:
    """Where the lines of a stretch start and stop; a carriage return at the end is left out."""
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    start = np.concatenate([[0], ends[:-1] + 1])
    if b"\r" in lines:
        ends -= (data[ends - 1] == ord("\r")) & (ends > start)
    return start, ends


def _hold_objects(lines: bytes, start: Places, stop: Places) -> bool:
    """Whether every line starts and stops as an object does.

    If there are as many objects as lines besides, each line holds one: inside an object, no "}"
    is followed by a "{" with nothing but blank space between.
    """
    data = np.frombuffer(lines, np.uint8)
    return bool((data[start] == ord("{")).all() and (data[stop - 1] == ord("}")).all())


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
