"""Which bytes of which file hold which content, in what state (SQLite).

    files      a session file and the state of it that was indexed
    groups     entries of one file that stand alike: in the same branch state, under one model
    standings  an entry: bytes start to stop of a file, its content, its group
    contents   hash of a content -> its number, which stays its own even when it stands nowhere

A change of state changes a group's row and not its entries: a branch that is left costs nothing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tau_browser.search.index.freshness import FileState

VERSION = 8
"""Of the catalog, the postings and the vectors together: another version is made anew."""

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE,
    device INTEGER, inode INTEGER, size INTEGER, mtime INTEGER, ctime INTEGER, digest BLOB,
    session TEXT NOT NULL DEFAULT '', cwd TEXT NOT NULL DEFAULT '', problem TEXT,
    plain INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, state INTEGER NOT NULL,
    model TEXT NOT NULL
);
CREATE INDEX groups_of_file ON groups (file);
CREATE TABLE standings (
    file INTEGER, start INTEGER, stop INTEGER NOT NULL, content INTEGER NOT NULL,
    member INTEGER NOT NULL, PRIMARY KEY (file, start)
) WITHOUT ROWID;
CREATE INDEX standings_of_content ON standings (content);
CREATE TABLE contents (hash INTEGER PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
"""
_MOST_VARIABLES = 500
_MEMORY = 64 << 10  # KiB of pages that a writer keeps


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as indexed. `state` None: not to its end, or never. `problem`: why not. `is_plain`:
    see `freshness.Digest`."""

    id: int
    path: str
    state: FileState | None = None
    session: str = ""
    cwd: str = ""
    problem: str | None = None
    is_plain: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Entries of one file that stand alike. `state`: a `model.context.State`."""

    id: int
    file: int
    state: int
    model: str


@dataclass(frozen=True, slots=True)
class StandingRow:
    """An entry in a file."""

    file: int
    start: int
    stop: int
    content: int
    group: int


def create(path: Path) -> None:
    """An empty catalog. Raises sqlite3.Error."""
    connection = sqlite3.connect(path)
    connection.executescript(f"PRAGMA journal_mode = WAL; BEGIN; {_TABLES}")
    connection.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION,))
    connection.commit()
    connection.close()


class Catalog:
    """An open catalog. Every method raises sqlite3.Error where the file is damaged or full."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        mode = "rw" if writable else "ro"
        self._sql = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        if writable:
            self._sql.execute("PRAGMA synchronous = NORMAL")
            self._sql.execute(f"PRAGMA cache_size = -{_MEMORY}")

    def close(self) -> None:
        self._sql.close()

    def begin(self) -> None:
        self._sql.execute("BEGIN")

    def commit(self) -> None:
        self._sql.execute("COMMIT")

    def rollback(self) -> None:
        if self._sql.in_transaction:
            self._sql.execute("ROLLBACK")

    def changes(self) -> int:
        """A number that differs when another process has committed since."""
        return int(self._sql.execute("PRAGMA data_version").fetchone()[0])

    def meta(self, name: str) -> int:
        row = self._sql.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def set_meta(self, name: str, value: int) -> None:
        self._sql.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    # files

    def files(self) -> list[FileRow]:
        """All files, in order of their ids."""
        columns = (
            "id, path, device, inode, size, mtime, ctime, digest, session, cwd, problem, plain"
        )
        rows = self._sql.execute(f"SELECT {columns} FROM files ORDER BY id")
        return [_file_row(row) for row in rows]

    def add_file(self, path: str) -> int:
        """A new file, not indexed yet."""
        row = self._sql.execute("INSERT INTO files (path) VALUES (?)", (os.fsencode(path),))
        assert row.lastrowid is not None
        return row.lastrowid

    def set_path(self, file: int, path: str) -> None:
        self._sql.execute("UPDATE files SET path = ? WHERE id = ?", (os.fsencode(path), file))

    def set_file(self, row: FileRow) -> None:
        """Write down all but the path of a file."""
        state = (None,) * 6 if row.state is None else (*row.state.identity, row.state.digest)
        self._sql.execute(
            "UPDATE files SET device = ?, inode = ?, size = ?, mtime = ?, ctime = ?, digest = ?,"
            " session = ?, cwd = ?, problem = ?, plain = ? WHERE id = ?",
            (*state, _utf8(row.session), _utf8(row.cwd), row.problem, row.is_plain, row.id),
        )

    def forget_file(self, file: int) -> None:
        """Remove a file with all its entries."""
        for statement in (
            "DELETE FROM standings WHERE file = ?",
            "DELETE FROM groups WHERE file = ?",
            "DELETE FROM files WHERE id = ?",
        ):
            self._sql.execute(statement, (file,))

    # groups

    def groups(self, file: int | None = None) -> list[Group]:
        """The groups of a file, or all."""
        where, given = ("", ()) if file is None else (" WHERE file = ?", (file,))
        return [
            Group(*row)
            for row in self._sql.execute(f"SELECT id, file, state, model FROM groups{where}", given)
        ]

    def add_group(self, file: int, state: int, model: str) -> int:
        row = self._sql.execute(
            "INSERT INTO groups (file, state, model) VALUES (?, ?, ?)", (file, state, _utf8(model))
        )
        assert row.lastrowid is not None
        return row.lastrowid

    def set_state(self, group: int, state: int) -> None:
        self._sql.execute("UPDATE groups SET state = ? WHERE id = ?", (state, group))

    # entries

    def standings(self, file: int) -> list[StandingRow]:
        """The entries of a file in the order of their bytes."""
        return self._standings("file = ? ORDER BY start", (file,))

    def standings_of(self, contents: Sequence[int]) -> list[StandingRow]:
        """Where these contents stand, the file that was indexed first coming first."""
        found: list[StandingRow] = []
        for some in _chunks(contents):
            found += self._standings(f"content IN ({_marks(some)})", some)
        return sorted(found, key=lambda row: (row.file, row.start))

    def content_at(self, file: int, start: int) -> int | None:
        """The content of the entry of a file that starts at this byte."""
        row = self._sql.execute(
            "SELECT content FROM standings WHERE file = ? AND start = ?", (file, start)
        ).fetchone()
        return int(row[0]) if row else None

    def put_standings(self, rows: Iterable[StandingRow]) -> None:
        self._sql.executemany(
            "INSERT OR REPLACE INTO standings VALUES (?, ?, ?, ?, ?)",
            ((row.file, row.start, row.stop, row.content, row.group) for row in rows),
        )

    def remove_standings(self, file: int, starts: Iterable[int]) -> None:
        self._sql.executemany(
            "DELETE FROM standings WHERE file = ? AND start = ?", ((file, at) for at in starts)
        )

    def count(self, table: str) -> int:
        return int(self._sql.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def numbers(self, hashes: Sequence[int]) -> dict[int, int]:
        """The numbers of contents that are known, by hash."""
        found: dict[int, int] = {}
        for some in _chunks(hashes):
            found.update(
                self._sql.execute(
                    f"SELECT hash, id FROM contents WHERE hash IN ({_marks(some)})", some
                )
            )
        return found

    def all_numbers(self) -> list[int]:
        """The numbers of all contents, ascending."""
        return [int(row[0]) for row in self._sql.execute("SELECT id FROM contents ORDER BY id")]

    def add_contents(self, numbered: Iterable[tuple[int, int]]) -> None:
        """Remember contents as (hash, number)."""
        self._sql.executemany("INSERT INTO contents VALUES (?, ?)", numbered)

    def _standings(self, where: str, given: Sequence[int]) -> list[StandingRow]:
        columns = "file, start, stop, content, member"
        rows = self._sql.execute(f"SELECT {columns} FROM standings WHERE {where}", given)
        return [StandingRow(*row) for row in rows]


def _file_row(row: Sequence[Any]) -> FileRow:
    number, path, device, inode, size, mtime, ctime, digest, session, cwd, problem, plain = row
    identity = device, inode, size, mtime, ctime
    state = None if digest is None else FileState(identity, digest)
    return FileRow(number, os.fsdecode(path), state, session, cwd, problem, bool(plain))


def _chunks(values: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(values), _MOST_VARIABLES):
        yield values[at : at + _MOST_VARIABLES]


def _marks(values: Sequence[int]) -> str:
    return ", ".join("?" * len(values))


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
