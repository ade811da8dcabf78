"""A log that is not written yet: stretches of another, and lines of its own.

It is a source like a file, so the session that a plan would make is read from it by the same
reader that will read the file: what a preview tells is what τ will find.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator

from tau_browser.model.decoder import FILE_BYTES, Decoder
from tau_browser.model.format import TAU, Format
from tau_browser.model.payload import Record
from tau_browser.model.session import Session, Source, session_of

_CHUNK = 256 * 1024


class Draft:
    """The bytes of a log in the making. beside: what else belongs to the session, by path from its
    folder; logs among it (`.jsonl`) are further files of this one."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pieces: list[tuple[int, int] | bytes] = []
        self._starts: list[int] = []
        self._end = 0
        self.beside: dict[str, Draft] = {}

    @property
    def size(self) -> int:
        """How many bytes, with those of the files beside it."""
        return self._end + sum(draft.size for draft in self.beside.values())

    @property
    def logs(self) -> dict[str, Draft]:
        """The logs beside it."""
        return {name: draft for name, draft in self.beside.items() if name.endswith(".jsonl")}

    def keep(self, start: int, stop: int) -> None:
        """Go on with these bytes of the source."""
        last = self._pieces[-1] if self._pieces else b""
        if isinstance(last, tuple) and last[1] == start:
            self._pieces[-1] = (last[0], stop)
        elif start < stop:
            self._pieces.append((start, stop))
            self._starts.append(self._end)
        self._end += stop - start

    def add(self, data: bytes) -> None:
        """Go on with bytes of its own."""
        if data:
            self._pieces.append(data)
            self._starts.append(self._end)
            self._end += len(data)

    def read(self, start: int, stop: int) -> bytes:
        """These bytes; fewer at the end, or where the source became shorter. Those of the nth log
        beside it start at n times FILE_BYTES."""
        other, start = divmod(start, FILE_BYTES)
        stop -= other * FILE_BYTES
        if other:
            return [*self.logs.values()][other - 1].read(start, stop)
        found = []
        at = max(0, bisect_right(self._starts, start) - 1)
        while at < len(self._pieces) and self._starts[at] < stop:
            piece, begin = self._pieces[at], self._starts[at]
            low, high = max(0, start - begin), stop - begin
            if isinstance(piece, bytes):
                found.append(piece[low:high])
            else:
                end = min(piece[1], piece[0] + high)
                found.append(self._source.read(min(piece[0] + low, end), end))
            at += 1
        return b"".join(found)

    def pieces(self) -> Iterator[bytes]:
        """The bytes from the start, without those of the files beside it."""
        for at in range(0, self._end, _CHUNK):
            yield self.read(at, min(at + _CHUNK, self._end))


def session_in(draft: Draft, format: Format = TAU) -> Session:
    """The session that a draft holds."""
    decoder = Decoder(format)
    for piece in draft.pieces():
        decoder.feed(piece)
    for at, (name, log) in enumerate(draft.logs.items(), 1):
        decoder.add_file(name)
        for piece in log.pieces():
            decoder.feed(piece, at)
    return session_of(decoder.log(), draft)


def line_of(record: Record) -> bytes:
    """A record as τ writes it (tau-format 1.3)."""
    return json.dumps(record).encode("ascii") + b"\n"
