"""Vectors that took long to make, kept on disk by what they were made from.

A cache and nothing more: what cannot be read is made again, and what cannot be written is not
kept. It holds no text, but a vector tells much about one: only its owner may read it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from pathlib import Path

import numpy as np

from tau_browser.search.semantic.int8 import Floats

KEPT = 50_000
"""Vectors kept, the newest: some 45 MB."""

_STORED = np.dtype("<f2")
_PATIENCE = 2.0  # seconds to wait for another process that writes
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB NOT NULL);
"""
_TRIM = "DELETE FROM vectors WHERE id <= (SELECT max(id) FROM vectors) - ?"


class VectorCache:
    """Vectors by key in one file, for any number of threads and processes."""

    def __init__(self, path: Path, kept: int = KEPT) -> None:
        self._lock = threading.Lock()
        self._database = _opened(path, kept)

    def get(self, key: bytes) -> Floats | None:
        """The vector stored under a key."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            query = "SELECT vector FROM vectors WHERE key = ?"
            if found := self._database.execute(query, (key,)).fetchone():
                return np.frombuffer(found[0], _STORED).astype(np.float32)
        return None

    def put(self, key: bytes, vector: Floats) -> None:
        """Store a vector under a key, as float16."""
        stored = vector.astype(_STORED).tobytes()
        with self._lock, contextlib.suppress(sqlite3.Error), self._database:
            insert = "INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)"
            self._database.execute(insert, (key, stored))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


def _opened(path: Path, kept: int) -> sqlite3.Connection:
    """The database in a file; in place of a damaged one, a new one; in memory if there is no way to
    have a file."""
    with contextlib.suppress(OSError, sqlite3.Error):
        try:
            return _connect(path, kept)
        except sqlite3.OperationalError:  # busy, full, read-only
            raise
        except sqlite3.DatabaseError:  # damaged
            path.unlink()
            return _connect(path, kept)
    return _connect(None, kept)


def _connect(path: Path | None, kept: int) -> sqlite3.Connection:
    if path:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    database = sqlite3.connect(path or ":memory:", timeout=_PATIENCE, check_same_thread=False)
    try:
        database.executescript(_SCHEMA)
        with database:
            database.execute(_TRIM, (kept,))
    except sqlite3.Error:
        database.close()
        raise
    return database
