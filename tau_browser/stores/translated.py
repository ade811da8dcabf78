"""Sessions of stores that keep no log: put into τ's lines once, and read as a log from then on.

The lines lie in the cache, for their owner alone, under the state of what they were made from.
They are shown only while that is in this very state; lines of other states are deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tau_browser.model.session import Session
from tau_browser.stores.files import words_of
from tau_browser.stores.session_file import SessionFile
from tau_browser.stores.session_log import SessionLog
from tau_browser.stores.store import Change, Progress, StoreError, whole


@dataclass(frozen=True, slots=True)
class State:
    """What tells one state of a stored session from another.

    mark: another string after any change · size: grows when something is appended, in any unit.
    """

    mark: str
    size: int


@dataclass(frozen=True, slots=True)
class Translation:
    """Some of a session in τ's lines, each with its newline; done of total, in any unit."""

    lines: bytes
    done: int
    total: int


class Origin(Protocol):
    """A session where it is stored. Reading leaves it as it is."""

    path: str

    def state(self) -> State:
        """Its present state, told cheaply. Raises StoreError if it is gone or cannot be read."""
        ...

    def translate(self) -> Iterator[Translation]:
        """All of it, the header first. Raises StoreError."""
        ...


class TranslatedSession:
    """An open session that is read through its translation."""

    def __init__(self, origin: Origin, folder: Path) -> None:
        """`folder`: where translations are kept."""
        self.path = origin.path
        self._origin = origin
        self._folder = folder
        self._name = hashlib.sha256(origin.path.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._seen: State | None = None
        self._was_gone = False

    def load(self) -> Iterator[Progress]:
        """Translate it if need be, then read the lines; the last progress carries the session."""
        self._seen = state = self._origin.state()
        log = self._log_in(state)
        if not log.exists():
            yield from self._write(log)
        yield from SessionFile(str(log)).load()

    def log(self) -> SessionLog:
        """The file of its lines as it stands now. Raises StoreError."""
        log = self._log_in(self._origin.state())
        if not log.exists():
            for _ in self._write(log):
                pass
        return SessionLog(self.path, (str(log),))

    def check(self) -> Change:
        try:
            now = self._origin.state()
        except StoreError:
            self._was_gone = True
            return Change.GONE
        if self._was_gone:
            self._was_gone = False
            return Change.BACK
        if self._seen is None or now == self._seen:
            return Change.NONE
        if now.size == self._seen.size:
            return Change.REWRITTEN
        return Change.GREW if now.size > self._seen.size else Change.SHRANK

    def follow(self) -> Session:
        return whole(self)

    def close(self) -> None:
        """Nothing to let go of: sessions that were read keep their file open."""

    def _log_in(self, state: State) -> Path:
        mark = hashlib.sha256(f"{state.mark}\0{state.size}".encode()).hexdigest()[:24]
        return self._folder / f"{self._name}-{mark}.jsonl"

    def _write(self, log: Path) -> Iterator[Progress]:
        """Put a whole translation in place at once; yields no session."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=self._folder)  # made 0600
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            with os.fdopen(handle, "wb") as file:
                for piece in self._origin.translate():
                    file.write(piece.lines)
                    yield Progress(min(piece.done, piece.total - 1), piece.total)
            os.replace(temporary, log)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:  # a reader who stops half-way, too
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        self._delete_others(log)

    def _delete_others(self, log: Path) -> None:
        for other in self._folder.glob(f"{self._name}-*.jsonl"):
            if other != log:
                other.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"{self.path}: cannot be read by way of {self._folder}: {words_of(error)}"
        )
