"""A session in a file: read in pieces, watched, never written, never mapped.

Entries are read with pread when they are looked at. A memory map would be shorter to write, but
a file that another process cuts short would then kill the reader (SIGBUS).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tau_browser.model.decoder import Decoder
from tau_browser.model.session import Session, session_of
from tau_browser.stores.store import Change, Progress, StoreError

_CHUNK = 256 * 1024
# How much of what was read last is compared before reading on: catches a rewrite that grew.
_TAIL = 4096
# A header that is longer than this is found by reading the session.
_HEADER = 64 * 1024


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells one state of a file from another."""

    device: int
    inode: int
    size: int
    mtime_ns: int


def identity_of(status: os.stat_result) -> Identity:
    """The identity of a file's present state."""
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class FileSource:
    """The bytes of an open file. Survives the file's being renamed, replaced or deleted."""

    def __init__(self, path: str) -> None:
        self._fd = -1
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for a writer
            raise StoreError(f"{path}: not a regular file")
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, start: int, stop: int) -> bytes:
        """These bytes; fewer if the file has become shorter since, none once it is closed."""
        return os.pread(self._fd, stop - start, start) if self._fd >= 0 else b""

    def status(self) -> os.stat_result:
        """The state of the open file, which may no longer be the one at its path."""
        return os.fstat(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    __del__ = close


class SessionFile:
    """An open session of a file store."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._source: FileSource | None = None
        self._decoder = Decoder()
        self._seen: Identity | None = None
        self._tail = b""
        self._was_gone = False

    def load(self) -> Iterator[Progress]:
        """Read the file from its start; the first and the last progress carry a session."""
        self._decoder, self._tail = Decoder(), b""
        self._source = source = self._open()
        total = source.status().st_size
        shown = False
        for done in self._read_on(source):
            early = not shown and done < total
            shown = True
            yield Progress(done, total, self._session(source) if early else None)
        yield Progress(self._decoder.size, total, self._session(source))

    def check(self) -> Change:
        try:
            now = identity_of(os.stat(self.path))
        except OSError:
            self._was_gone = True
            return Change.GONE
        if self._was_gone:
            self._was_gone = False
            return Change.BACK
        seen = self._seen
        if seen is None or now == seen:
            return Change.NONE
        if (now.device, now.inode) != (seen.device, seen.inode):
            return Change.REPLACED
        if now.size < seen.size:
            return Change.SHRANK
        if now.size == seen.size or self._tail_differs():
            return Change.REWRITTEN
        return Change.GREW

    def follow(self) -> Session:
        if self._source is None:
            raise StoreError(f"{self.path}: not open")
        for _ in self._read_on(self._source):
            pass
        return self._session(self._source)

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _open(self) -> FileSource:
        try:
            return FileSource(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: {words_of(error)}") from error

    def _read_on(self, source: FileSource) -> Iterator[int]:
        """Feed the decoder to the end of the file; yields the bytes read so far."""
        self._seen = identity_of(source.status())
        at = self._decoder.size
        try:
            while data := source.read(at, at + _CHUNK):
                self._decoder.feed(data)
                at += len(data)
                self._tail = (self._tail + data)[-_TAIL:]
                yield at
        except OSError as error:
            raise StoreError(f"{self.path}: {words_of(error)}") from error
        if at > self._seen.size:  # it grew while it was being read
            self._seen = identity_of(source.status())

    def _tail_differs(self) -> bool:
        if self._source is None:
            return False
        end = self._decoder.size
        try:
            return self._source.read(end - len(self._tail), end) != self._tail
        except OSError:
            return True  # loading it again will say why it cannot be read

    def _session(self, source: FileSource) -> Session:
        return session_of(self._decoder.log(), source)


def load_session(path: str) -> Session:
    """A session read to its end. Raises StoreError."""
    session = None
    for progress in SessionFile(path).load():
        session = progress.session
    assert session is not None  # the last progress always carries one
    return session


def header_of(path: str) -> dict[str, Any]:
    """The header of a session, if it is the first line; else {}. Raises OSError, StoreError."""
    source = FileSource(path)
    line, end, _ = source.read(0, _HEADER).partition(b"\n")
    source.close()
    decoder = Decoder()
    decoder.feed(line + end)
    return decoder.log().header or {}


def words_of(error: OSError) -> str:
    """What the system said, ready for the middle of a sentence."""
    return (error.strerror or str(error)).lower()
