"""SQLite databases of others: read as they truly stand, and without a trace.

SQLite itself leaves files (-shm, -wal) beside a database that was last used in WAL mode, even
where it only reads. So such a one is opened as immutable, which is true as long as nobody writes
to it; one that has a log of changes beside it is copied with its log and read there.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from tau_browser.stores.files import FileSource, identity_of, words_of
from tau_browser.stores.store import StoreError

_LOGS = ("-wal", "-journal")
_TRIES = 5
_MODE_AT, _WAL_MODE = 18, 2  # a byte of the header: which journal its last writer kept


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A database to read from. Raises StoreError, also for what goes wrong within the block."""
    try:
        if not path.is_file():
            raise StoreError(f"{path}: no such file")
        if _has_log(path):
            with (
                tempfile.TemporaryDirectory(prefix="tau-browse-") as folder,  # made 0700
                closing(_connect(_copy(path, Path(folder)), "ro")) as connection,
            ):
                yield connection
        elif _mode(path) != _WAL_MODE:  # reading takes a lock and leaves no file
            with closing(_connect(path, "ro")) as connection:
                yield connection
        else:
            before = _state(path)
            with closing(_connect(path, "ro", immutable=True)) as connection:
                yield connection
            if _state(path) != before:
                raise StoreError(f"{path}: was written to while it was read; read it again")
    except sqlite3.Error as error:
        raise StoreError(f"{path}: not a readable SQLite database: {error}") from error
    except OSError as error:
        raise StoreError(f"{path}: {words_of(error)}") from error


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a database has a table."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


def files_of(path: Path) -> list[Path]:
    """A database and the logs beside it, as far as they are there."""
    return [each for each in (path, *map(Path, _log_paths(path))) if each.is_file()]


def _connect(path: Path, mode: str, *, immutable: bool = False) -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?mode={mode}" + "&immutable=1" * immutable
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.execute("PRAGMA query_only = 1")
    return connection


def _copy(path: Path, folder: Path) -> Path:
    """A database and its logs as they stood together at one moment."""
    for _ in range(_TRIES):
        before = _state(path)
        for each in files_of(path):
            shutil.copyfile(each, folder / each.name)
        if _state(path) == before:
            return folder / path.name
        for copy in folder.iterdir():
            copy.unlink()
    raise StoreError(f"{path}: is being written to all the time; read it again later")


def _state(path: Path) -> list[object]:
    return [(each.name, identity_of(os.stat(each))) for each in files_of(path)]


def _has_log(path: Path) -> bool:
    return any(os.path.isfile(log) and os.path.getsize(log) for log in _log_paths(path))


def _log_paths(path: Path) -> list[str]:
    return [f"{path}{end}" for end in _LOGS]


def _mode(path: Path) -> int:
    source = FileSource(str(path))
    head = source.read(0, _MODE_AT + 1)
    source.close()
    return head[_MODE_AT] if len(head) > _MODE_AT else 0
