"""A session as a plan reads it: all of it, with the state of what it was read from."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Read, Refusal, Remedy
from tau_browser.model.columns import Columns
from tau_browser.model.decoder import Decoder
from tau_browser.model.diagnostic import Severity
from tau_browser.model.session import Session, session_of
from tau_browser.stores.files import FileSource, words_of
from tau_browser.stores.session_log import SessionLog, log_in_file
from tau_browser.stores.store import StoreError

_CHUNK = 1024 * 1024
_STILL = 5.0
"""Seconds without a write, after which nobody is taken to be writing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A session, the state that it was read in, and every record of its log: an entry may have
    more than one (tau-format 1.7)."""

    session: Session
    read: Read
    records: Columns
    ours: bool = False  # what was written last was written by us
    flaws: tuple[str, ...] = ()  # why nothing may be written: what is there is evidence

    def busy(self, *, copies: bool = False, force: bool = False) -> list[Refusal]:
        """Why the session is not to be touched now, if it is being written. copies: it is only
        copied, which a person may want to force."""
        if self.flaws:
            return [Refusal(f"{flaw}: it is left as it is") for flaw in self.flaws]
        if copies and force:
            return []
        remedy = Remedy.FORCE if copies else None
        if any(at.severity is Severity.PENDING for at in self.session.diagnostics):
            reason = "the last line is incomplete: another process may be writing it"
            return [Refusal(reason, remedy)]
        age = time.time() - self.read.mtime_ns / 1e9
        if not self.ours and abs(age) < _STILL:
            reason = f"written to {max(0, age):.0f} s ago: another process may go on writing"
            return [Refusal(f"{reason}; try again in {_STILL:.0f} s", remedy)]
        return []


def read_file(path: str, journal: Journal | None = None) -> Reading:
    """Read a session of τ's to its end. The journal tells what was written by us.

    Raises StoreError.
    """
    return read_log(log_in_file(path), journal)


def read_log(log: SessionLog, journal: Journal | None = None) -> Reading:
    """Read the files of a session to their ends. Raises StoreError."""
    decoder = Decoder(log.format)
    try:
        source = log.source()
        states = []
        for at, (path, file) in enumerate(zip(log.files, source.files, strict=True)):
            if at:
                decoder.add_file(os.path.relpath(path, os.path.dirname(log.path)))
            states.append(_feed(decoder, at, path, file))
    except OSError as error:
        raise StoreError(f"{error.filename or log.path}: {words_of(error)}") from error
    found = decoder.log()
    read = replace(states[0], others=tuple(states[1:]))
    ours = journal is not None and journal.made(log.path, read.digest)
    return Reading(session_of(found, source), read, found.columns, ours)


def _feed(decoder: Decoder, at: int, path: str, file: FileSource) -> Read:
    """Decode a file to its end; returns its state."""
    status, digest, size = file.status(), hashlib.sha256(), 0
    for piece in bytes_of(file):
        decoder.feed(piece, at)
        digest.update(piece)
        size += len(piece)
    return Read(path, size, status.st_mtime_ns, digest.hexdigest())


def file_state(path: str) -> Read | None:
    """The state of what lies at a path, if it is a file. Raises StoreError."""
    return state_of(path) if os.path.isfile(path) else None


def state_of(path: str) -> Read | None:
    """The state of a file; None if there is none. Raises StoreError."""
    try:
        source = FileSource(path)
        status = source.status()
        digest, size = hashlib.sha256(), 0
        for piece in bytes_of(source):
            digest.update(piece)
            size += len(piece)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: {words_of(error)}") from error
    return Read(path, size, status.st_mtime_ns, digest.hexdigest())


def bytes_of(source: FileSource, stop: int | None = None) -> Iterator[bytes]:
    """The bytes of a file from its start, to its end or to `stop`. Raises OSError."""
    at = 0
    while data := source.read(at, at + _CHUNK if stop is None else min(stop, at + _CHUNK)):
        at += len(data)
        yield data


def is_as_read(read: Read) -> bool:
    """Whether what was read stands there as it did. Raises StoreError."""
    parts = (replace(read, others=()), *read.others)
    return all(state_of(part.path) == part for part in parts)


def is_at(path: str, read: Read) -> bool:
    """Whether the file at a path looks as it did, by size and time: cheap, for the last moment."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (read.size, read.mtime_ns)
