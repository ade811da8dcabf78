"""A session in a file, or in a file and others that belong to it: read in pieces, watched, never
written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tau_browser.model.decoder import Decoder
from tau_browser.model.format import TAU, Format
from tau_browser.model.session import Session, session_of
from tau_browser.stores.files import FileSource, FileSources, Identity, identity_of, words_of
from tau_browser.stores.session_log import SessionLog
from tau_browser.stores.store import Change, Progress, StoreError

_CHUNK = 512 * 1024
# How much of what was read last is compared before reading on: catches a rewrite that grew.
_TAIL = 4096

Others = Callable[[], list[tuple[str, str]]]
"""The files that belong to a session besides its own, in the order in which they were begun:
(path, name to tell it by)."""


@dataclass(slots=True)
class _File:
    """A file as far as it was read."""

    path: str
    size: int = 0
    seen: Identity | None = None
    tail: bytes = b""

    def change(self, source: FileSource) -> Change:
        """What happened to it. Raises OSError."""
        now, seen = identity_of(os.stat(self.path)), self.seen
        if seen is None or now == seen:
            return Change.NONE
        if (now.device, now.inode) != (seen.device, seen.inode):
            return Change.REPLACED
        if now.size < seen.size:
            return Change.SHRANK
        if now.size == seen.size or self._tail_differs(source):
            return Change.REWRITTEN
        return Change.GREW

    def _tail_differs(self, source: FileSource) -> bool:
        try:
            return source.read(self.size - len(self.tail), self.size) != self.tail
        except OSError:
            return True  # loading it again will say why it cannot be read


class SessionFile:
    """An open session of a file store."""

    def __init__(self, path: str, format: Format = TAU, others: Others = lambda: []) -> None:
        self.path = path
        self._format = format
        self._others = others
        self._source: FileSources | None = None
        self._decoder = Decoder(format)
        self._files = [_File(path)]
        self._was_gone = False

    def load(self) -> Iterator[Progress]:
        """Read the files from their start; the first and the last progress carry a session."""
        source = self._begin()
        total = sum(file.status().st_size for file in source.files)
        shown = False
        for done in self._read_on(source):
            early = not shown and done < total
            shown = True
            yield Progress(done, total, self._session(source) if early else None)
        yield Progress(self._decoder.size, total, self._session(source))

    def read(self) -> Session:
        """The whole at once, without what a person could look at meanwhile. Raises StoreError."""
        source = self._begin()
        for _ in self._read_on(source):
            pass
        return self._session(source)

    def check(self) -> Change:
        if self._source is None:
            return Change.NONE if os.path.exists(self.path) else Change.GONE
        changes = []
        for file, source in zip(self._files, self._source.files, strict=True):
            try:
                changes.append(file.change(source))
            except OSError:
                if file.path == self.path:
                    self._was_gone = True
                    return Change.GONE
                changes.append(Change.REWRITTEN)
        if self._was_gone:
            self._was_gone = False
            return Change.BACK
        if len(self._others()) >= len(self._files):
            changes.append(Change.GREW)
        found = [change for change in changes if change is not Change.NONE]
        worse = [change for change in found if change is not Change.GREW]
        return (worse or found or [Change.NONE])[0]

    def follow(self) -> Session:
        if self._source is None:
            raise StoreError(f"{self.path}: not open")
        self._add_others(self._source)
        for _ in self._read_on(self._source):
            pass
        return self._session(self._source)

    def log(self) -> SessionLog:
        """Its file, and those that belong to it."""
        others = [path for path, _ in self._others()]
        return SessionLog(self.path, (self.path, *others), self._format)

    def close(self) -> None:
        # The file is closed with the last session that was read from it: closed here, its number
        # could be given to another file while a thread still reads by it.
        self._source = None

    def _begin(self) -> FileSources:
        self._decoder, self._files = Decoder(self._format), [_File(self.path)]
        try:
            self._source = source = FileSources(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: {words_of(error)}") from error
        self._add_others(source)
        return source

    def _add_others(self, source: FileSources) -> None:
        known = {file.path for file in self._files}
        for path, name in self._others():
            if path in known:
                continue
            try:
                source.add(path)
            except OSError as error:
                raise StoreError(f"{path}: {words_of(error)}") from error
            self._files.append(_File(path))
            self._decoder.add_file(name)

    def _read_on(self, source: FileSources) -> Iterator[int]:
        """Feed the decoder to the end of each file; yields the bytes read so far."""
        for at, file in enumerate(self._files):
            yield from self._read_file(at, file, source.files[at])

    def _read_file(self, at: int, file: _File, source: FileSource) -> Iterator[int]:
        file.seen = identity_of(source.status())
        try:
            while data := source.read(file.size, file.size + _CHUNK):
                self._decoder.feed(data, at)
                file.size += len(data)
                file.tail = (file.tail + data[-_TAIL:])[-_TAIL:]
                yield self._decoder.size
        except OSError as error:
            raise StoreError(f"{file.path}: {words_of(error)}") from error
        if file.size > file.seen.size:  # it grew while it was being read
            file.seen = identity_of(source.status())

    def _session(self, source: FileSources) -> Session:
        return session_of(self._decoder.log(), source)


def load_session(path: str, format: Format = TAU) -> Session:
    """A session read to its end. Raises StoreError."""
    return SessionFile(path, format).read()
