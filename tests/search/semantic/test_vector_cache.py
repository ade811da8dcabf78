"""The cache of vectors: a help where it works, no hindrance where it does not."""

from __future__ import annotations

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tau_browser.search.semantic.vector_cache import VectorCache

VECTOR = np.array([0.25, -0.5, 1], np.float32)


def test_what_is_put_in_is_got_out(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    assert cache.get(b"one") is None
    cache.put(b"one", VECTOR)
    cache.close()
    found = VectorCache(tmp_path / "vectors.sqlite").get(b"one")
    assert found is not None and found.dtype == np.float32
    assert found.tolist() == VECTOR.tolist()


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    cache.put(b"one", VECTOR)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {0o600}


def test_the_oldest_make_room(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = VectorCache(path, kept=3)
    for number in range(5):
        cache.put(bytes([number]), VECTOR)
    cache.close()
    cache = VectorCache(path, kept=3)
    assert [cache.get(bytes([number])) is not None for number in range(5)] == [False] * 2 + [
        True
    ] * 3


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"no database " * 1000)
    cache = VectorCache(path)
    cache.put(b"one", VECTOR)
    cache.close()
    assert VectorCache(path).get(b"one") is not None


@pytest.mark.parametrize("place", ["missing/vectors.sqlite", "folder"])
def test_without_a_file_it_works_in_memory(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    cache = VectorCache(tmp_path / place)
    cache.put(b"one", VECTOR)
    assert cache.get(b"one") is not None


def test_a_file_that_cannot_be_used_any_more_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = VectorCache(path)
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE vectors")
    cache.put(b"one", VECTOR)
    assert cache.get(b"one") is None


def test_another_schema_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE vectors (something)")
    cache = VectorCache(path)
    cache.put(b"one", VECTOR)
    assert cache.get(b"one") is not None


def test_threads_and_processes_share_it(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    caches = [VectorCache(path), VectorCache(path)]

    def use(number: int) -> bool:
        cache, key = caches[number % 2], os.urandom(4)
        cache.put(key, VECTOR)
        return cache.get(key) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(100)))
