"""Where an index lies, who may look into it, and who may write it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol


class NoIndex(Exception):
    """There is no index that could be read. The message says why, in words for a person."""


class IndexBusy(Exception):
    """Another process is writing the index; what is there can be read meanwhile."""


class Place(Protocol):
    """What an index is of: a store."""

    name: str
    title: str


def index_folder(cache_folder: Path, store: Place) -> Path:
    """The folder of a store's index, whether or not there is one."""
    name = hashlib.sha256(f"{store.name}\0{store.title}".encode("utf-8", "surrogateescape"))
    return cache_folder / "index" / name.hexdigest()[:16]


class Files:
    """The files of an index in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalog = folder / "catalog.db"
        self.postings = folder / "postings"
        self.words = folder / "words.txt"
        self.lock = folder / "writer.lock"
        self.journal = folder / "journal"  # files that a commit is about to change
        self.damaged = folder / "damaged"  # why a reader could not read it

    def make_folder(self) -> None:
        """The folder, for its owner alone. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)

    def wipe(self) -> None:
        """Remove the index, but not the lock. Raises OSError."""
        for path in self.folder.iterdir():
            if path == self.lock:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        self.postings.mkdir(mode=0o700)

    def close_to_others(self) -> None:
        """Take from others what the libraries let them read. The folder keeps them out anyway."""
        for path in (*self.folder.iterdir(), *self.postings.iterdir()):
            with contextlib.suppress(FileNotFoundError):  # merged away meanwhile
                path.chmod(0o700 if path.is_dir() else 0o600)

    def size(self) -> int:
        """Bytes of all files."""
        total = 0
        for path in self.folder.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                total += path.stat().st_size
        return total

    def mark_damaged(self, reason: str) -> None:
        """Leave word for the next writer. A folder that cannot be written is no reason to stop."""
        with contextlib.suppress(OSError):
            self.damaged.write_text(reason, encoding="utf-8")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only writer among all processes. Raises IndexBusy and OSError.

        The system lets go of the lock when the process ends, however it ends.
        """
        handle = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise IndexBusy("another process is indexing this store") from error
            yield
        finally:
            os.close(handle)


def replace_file(path: Path, text: str) -> None:
    """Put a text in the place of a file, at once, for good, for its owner alone. Raises OSError."""
    partial = path.with_suffix(".partial")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
