"""A log that is not written yet: stretches of another, and lines of its own.

It is a source like a file, so the session that a plan would make is read from it by the same
reader that will read the file: what a preview tells is what τ will find.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator

from tau_browser.model.decoder import Decoder
from tau_browser.model.format import TAU, Format
from tau_browser.model.payload import Record
from tau_browser.model.session import Session, Source, session_of

_CHUNK = 256 * 1024


class Draft:
    """The bytes of a log in the making."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pieces: list[tuple[int, int] | bytes] = []
        self._starts: list[int] = []
        self.size = 0

    def keep(self, start: int, stop: int) -> None:
        """Go on with these bytes of the source."""
        last = self._pieces[-1] if self._pieces else b""
        if isinstance(last, tuple) and last[1] == start:
            self._pieces[-1] = (last[0], stop)
        elif start < stop:
            self._pieces.append((start, stop))
            self._starts.append(self.size)
        self.size += stop - start

    def add(self, data: bytes) -> None:
        """Go on with bytes of its own."""
        if data:
            self._pieces.append(data)
            self._starts.append(self.size)
            self.size += len(data)

    def read(self, start: int, stop: int) -> bytes:
        """These bytes; fewer at the end, or where the source became shorter."""
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
        """The bytes from the start."""
        for at in range(0, self.size, _CHUNK):
            yield self.read(at, min(at + _CHUNK, self.size))


def session_in(draft: Draft, format: Format = TAU) -> Session:
    """The session that a draft holds."""
    decoder = Decoder(format)
    for piece in draft.pieces():
        decoder.feed(piece)
    return session_of(decoder.log(), draft)


def line_of(record: Record) -> bytes:
    """A record as τ writes it (tau-format 1.3)."""
    return json.dumps(record).encode("ascii") + b"\n"
