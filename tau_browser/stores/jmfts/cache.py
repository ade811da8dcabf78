"""What was read of conversations, kept in private files, so that it need not be sent again.

A file holds the log of one conversation and, as its last line, how the conversation stood. It is
written once and never changed: a later reading takes its place. What is kept is shown only after
the server was asked whether it still holds (see `opened`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tau_browser.stores.files import FileSource
from tau_browser.stores.store import StoreError

_VERSION = 3
_MOST = 2**30  # bytes of all files together
_LONGEST = 64 * 1024  # bytes of the last line


class Reading(msgspec.Struct, frozen=True):
    """How a conversation stood when it was read: what to ask the server about."""

    count: int  # documents, with the root
    newest: int  # the document with the highest number
    newest_created: str
    newest_updated: str | None
    root_updated: str | None
    incomplete: list[int]  # entries whose streams had not ended
    hidden: int  # documents that are not open to the token, and are no part of `count`
    last_seq: int | None  # the writer's counter at its highest
    flaws: list[str]  # why nothing may be written to it
    size: int  # bytes of the log
    version: int = _VERSION


@dataclass(frozen=True, slots=True)
class Cache:
    """The files of one server and one token, in a folder that need not exist yet."""

    folder: Path
    owner: str  # not every token sees the same

    def find(self, document: int) -> tuple[Reading, FileSource] | None:
        """What is kept of a conversation, or None."""
        try:
            source = FileSource(str(self._path(document)))
            size = source.status().st_size
            last = source.read(max(0, size - _LONGEST), size).rpartition(b"\n")[2]
            reading = msgspec.json.decode(last, type=Reading)
        except (OSError, StoreError, msgspec.DecodeError):
            return None
        whole = reading.version == _VERSION and reading.size + len(last) == size
        return (reading, source) if whole else None

    def keep(self, document: int, log: Iterable[bytes], reading: Reading) -> FileSource:
        """Keep a log in the place of what was there, and open it. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(document)
        handle, temporary = tempfile.mkstemp(dir=self.folder)  # made 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(log)
                file.write(msgspec.json.encode(reading))
            source = FileSource(temporary)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        self._make_room(path)
        return source

    def forget(self, document: int) -> None:
        """Keep nothing of a conversation."""
        with contextlib.suppress(OSError):
            self._path(document).unlink()

    def _path(self, document: int) -> Path:
        name = hashlib.sha256(f"{self.owner}\0{document}".encode()).hexdigest()
        return self.folder / f"{name[:24]}.jsonl"

    def _make_room(self, newest: Path) -> None:
        """Drop what was read the longest ago. Sessions that are open keep their files."""
        with contextlib.suppress(OSError):
            files = [(path, path.stat()) for path in self.folder.glob("*.jsonl")]
            total = 0
            for path, status in sorted(files, key=lambda each: -each[1].st_mtime):
                total += status.st_size
                if total > _MOST and path != newest:
                    path.unlink()
