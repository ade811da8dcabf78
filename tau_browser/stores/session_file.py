"""A session in a file: read in pieces, watched, never written."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tau_browser.model.decoder import Decoder
from tau_browser.model.session import Session, session_of
from tau_browser.stores.files import FileSource, Identity, identity_of, words_of
from tau_browser.stores.store import Change, Progress, StoreError

_CHUNK = 256 * 1024
# How much of what was read last is compared before reading on: catches a rewrite that grew.
_TAIL = 4096


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

    def read(self) -> Session:
        """The whole file at once, without what a person could look at meanwhile."""
        self._decoder, self._tail = Decoder(), b""
        self._source = source = self._open()
        for _ in self._read_on(source):
            pass
        return self._session(source)

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
        # The file is closed with the last session that was read from it: closed here, its number
        # could be given to another file while a thread still reads by it.
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
    return SessionFile(path).read()
