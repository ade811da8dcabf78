"""The journal: one line per change with what undo needs, and the trash beside it.

A line is written, and is on the disk, before its change takes effect. A change that was cut off
in between has a line and no effect: what stands at its path tells which, so that the journal is
never asked to be right about it.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tau_browser.model.payload import Record
from tau_browser.model.times import format_time
from tau_browser.stores.files import words_of
from tau_browser.stores.store import StoreError

_FIELDS = {"id": str, "time": str, "store": str, "verb": str, "path": str, "about": str}


@dataclass(frozen=True, slots=True)
class Change:
    """One line. path: what was changed · memo: what the store's writer needs to take it back ·
    undoes: the id of the change that this one takes back, or ""."""

    store: str
    verb: str
    path: str
    about: str
    memo: Record
    undoes: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    time: str = field(default_factory=lambda: now())


class Journal:
    """The changes made so far, in a folder that only its owner can read. Raises StoreError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "journal.jsonl"
        self.trash = folder / "trash"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Held while a change is made: two of our own processes take turns."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.trash.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{self.folder}: {words_of(error)}: no change can be kept") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def write(self, change: Change) -> None:
        """Add a line, and wait until it is on the disk."""
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(handle).st_size
            torn = bool(size) and os.pread(handle, 1, size - 1) != b"\n"
            line = json.dumps(asdict(change)).encode("ascii") + b"\n"
            os.write(handle, b"\n" * torn + line)
            os.fsync(handle)
        except OSError as error:
            raise StoreError(f"{self.path}: {words_of(error)}: nothing was changed") from error
        finally:
            os.close(handle)

    def changes(self) -> list[Change]:
        """All changes, the oldest first; of lines with the same id, which tell ever more of one
        change, the last. Lines that cannot be read are left out."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self.path}: {words_of(error)}") from error
        found = (_change_of(line) for line in lines)
        return list({change.id: change for change in found if change is not None}.values())

    def made(self, path: str, digest: str) -> bool:
        """Whether the bytes with this digest were brought to this path by one of the changes."""
        return any(
            change.path == path and (change.memo.get("after") or {}).get("digest") == digest
            for change in self.changes()
        )


def now() -> str:
    """The time in τ's spelling."""
    return format_time(int(datetime.now(UTC).timestamp() * 1000)) or ""


def _change_of(line: bytes) -> Change | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("memo"), dict):
        return None
    if not all(isinstance(record.get(name), kind) for name, kind in _FIELDS.items()):
        return None
    undoes = record.get("undoes")
    known = {name: record[name] for name in _FIELDS}
    return Change(**known, memo=record["memo"], undoes=undoes if isinstance(undoes, str) else "")
