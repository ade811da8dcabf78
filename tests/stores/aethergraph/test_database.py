"""Databases are read as they truly stand, and nothing appears beside them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tau_browser.stores.aethergraph.database import opened
from tau_browser.stores.store import StoreError
from tests.stores.aethergraph.workspace import event, write_events
from tests.stores.aethergraph.workspace import opened as opened_session


def made(path: Path, *statements: str, wal: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL" if wal else "PRAGMA journal_mode = DELETE")
    for statement in ("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)", *statements):
        connection.execute(statement)
    connection.commit()
    return connection


def values(path: Path) -> list[int]:
    with opened(path) as connection:
        return [x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("wal", [False, True])
def test_nothing_appears_and_nothing_changes(tmp_path: Path, wal: bool) -> None:
    made(tmp_path / "a.db", wal=wal).close()
    before = files(tmp_path)
    assert list(before) == ["a.db"]
    assert values(tmp_path / "a.db") == [1]
    assert files(tmp_path) == before


def test_a_log_that_is_live_is_read_truly(tmp_path: Path) -> None:
    writer = made(tmp_path / "a.db", wal=True)
    writer.execute("INSERT INTO t VALUES (2)")
    writer.commit()
    before = files(tmp_path)
    assert (tmp_path / "a.db-wal").stat().st_size > 0
    assert values(tmp_path / "a.db") == [1, 2]
    assert files(tmp_path) == before
    writer.close()


def test_a_log_left_by_a_crash_is_read_truly(tmp_path: Path) -> None:
    writer = made(tmp_path / "a.db", wal=True)
    left = tmp_path / "left"
    left.mkdir()
    for name in ("a.db", "a.db-wal"):  # without -shm, as after a copy
        (left / name).write_bytes((tmp_path / name).read_bytes())
    writer.close()
    before = files(left)
    assert values(left / "a.db") == [1]
    assert files(left) == before


def test_what_a_writer_has_not_committed_is_not_read(tmp_path: Path) -> None:
    writer = made(tmp_path / "a.db", wal=True)
    writer.execute("INSERT INTO t VALUES (2)")
    assert values(tmp_path / "a.db") == [1]
    writer.rollback()
    writer.close()


def test_a_read_only_folder_is_no_hindrance(tmp_path: Path) -> None:
    made(tmp_path / "a.db", wal=True).close()
    os.chmod(tmp_path / "a.db", 0o400)
    os.chmod(tmp_path, 0o500)
    try:
        assert values(tmp_path / "a.db") == [1]
    finally:
        os.chmod(tmp_path, 0o700)


def test_nothing_can_be_written(tmp_path: Path) -> None:
    made(tmp_path / "a.db").close()
    with (
        pytest.raises(StoreError, match="attempt to write a readonly database"),
        opened(tmp_path / "a.db") as connection,
    ):
        connection.execute("INSERT INTO t VALUES (3)")


@pytest.mark.parametrize("name", ["a?b#c%41.db", "ä ö.db"])
def test_any_name_is_a_name(tmp_path: Path, name: str) -> None:
    made(tmp_path / name).close()
    assert values(tmp_path / name) == [1]


@pytest.mark.parametrize("data", [b"", b"not a database at all, but long enough for a header" * 9])
def test_what_is_no_database_is_said(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.db").write_bytes(data)
    with pytest.raises(StoreError, match=r"a\.db: not a readable SQLite database"):
        values(tmp_path / "a.db")
    with pytest.raises(StoreError, match="no such file"):
        values(tmp_path / "none.db")


def test_events_in_a_live_log_are_in_the_session(tmp_path: Path) -> None:
    writer = write_events(tmp_path, event(1, version=2, session_id="s1"), wal=True)
    write_events(tmp_path, event(2, version=2, session_id="s1"), wal=True)
    assert (tmp_path / "memory_events/events.db-wal").stat().st_size > 0
    before = sorted(path.name for path in (tmp_path / "memory_events").iterdir())
    session = opened_session(tmp_path, "s1")
    assert session.find(f"{2:024x}")
    assert sorted(path.name for path in (tmp_path / "memory_events").iterdir()) == before
    writer.close()
