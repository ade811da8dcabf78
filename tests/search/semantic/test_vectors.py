"""Vectors on disk: what is found, what a crash leaves, who may read them."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.semantic import vectors as module
from tau_browser.search.semantic.int8 import Floats
from tau_browser.search.semantic.packed import packed, products
from tau_browser.search.semantic.table import DIMENSIONS, static_table
from tau_browser.search.semantic.vectors import (
    Coverage,
    Vectors,
    VectorsDamaged,
    VectorWriter,
    identities,
)

SIZES = {"vectors.packed": 132, "vectors.signs": 32, "vectors.keys": 4}


def unit(vectors: np.ndarray) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def random_vectors(count: int, seed: int = 1) -> Floats:
    """Vectors whose largest numbers differ much, as those of real texts do."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, DIMENSIONS))
    vectors[np.arange(count), rng.integers(0, DIMENSIONS, count)] *= rng.uniform(1, 12, count)
    return unit(vectors)


def clustered_vectors(count: int, seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(400, DIMENSIONS))
    around = centres[rng.integers(0, len(centres), count)]
    return unit(around + 0.8 * rng.normal(size=around.shape))


def stored(folder: Path, vectors: Floats, keys: Iterable[int] | None = None) -> Vectors:
    """These vectors in files; their keys are 0, 1, 2 and so on, if none are given."""
    with VectorWriter(folder, 0) as writer:
        writer.append(np.array(range(len(vectors)) if keys is None else keys), vectors)
    return Vectors(folder, len(vectors))


def nearest(found: Vectors, vector: Floats, count: int, **scope: Any) -> list[int]:
    return [key for key, _ in found.nearest(vector, count, **scope)]


def truth(vectors: Floats, vector: Floats, count: int) -> list[int]:
    return np.argsort(-(vectors @ vector), kind="stable")[:count].tolist()


def mean_recall(found: Vectors, vectors: Floats, asked: Floats, count: int = 50) -> float:
    shares = []
    for vector in asked:
        right = set(truth(vectors, vector, count))
        shares.append(len(right.intersection(nearest(found, vector, count))) / count)
    return float(np.mean(shares))


def test_half_bytes_find_what_floats_find(tmp_path: Path) -> None:
    vectors = clustered_vectors(5000)
    found = stored(tmp_path, vectors)
    keys, cosines = zip(*found.nearest(vectors[17], 5), strict=True)
    assert keys[0] == 17 and cosines[0] == pytest.approx(1, abs=0.02)
    assert list(cosines) == sorted(cosines, reverse=True)
    asked = clustered_vectors(20, seed=2)
    assert mean_recall(found, vectors, asked) > 0.85
    assert mean_recall(found, vectors, asked, count=10) > 0.93


def test_a_text_is_much_like_itself_when_packed() -> None:
    table = static_table()
    texts = ["retry", "the list is slow when there are many files", "é", "x" * 90, *sys.modules]
    vectors = table.encode(texts)
    rows, lengths = packed(vectors, table.spread)
    for row, length, vector in zip(rows, lengths, vectors, strict=True):
        if length:
            assert products(row[None], vector, table.spread)[0] / length > 0.95
    assert [bool(length) for length in lengths] == vectors.any(axis=1).tolist()


def test_signs_choose_nearly_all_of_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered_vectors(20_000)
    found = stored(tmp_path, vectors)
    monkeypatch.setattr(module, "EXACT_ROWS", 1000)
    monkeypatch.setattr(module, "SHORTLIST", 1000)
    assert mean_recall(found, vectors, clustered_vectors(20, seed=2)) > 0.9


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "by signs"])
def test_only_among_the_keys_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    vectors = clustered_vectors(3000)
    found = stored(tmp_path, vectors)
    if not exact:
        monkeypatch.setattr(module, "EXACT_ALLOWED_ROWS", 100)
        monkeypatch.setattr(module, "SHORTLIST", 900)
    among = np.flatnonzero(np.random.default_rng(3).random(3000) < 0.4).tolist()
    for vector in vectors[:20]:
        keys = nearest(found, vector, 50, among=[*among, 10**9])
        wanted = [key for key in truth(vectors, vector, 3000) if key in among][:10]
        assert set(keys) <= set(among)
        assert len(set(keys).intersection(wanted)) >= 9
    assert not found.nearest(vectors[0], 5, among=[])
    assert not found.nearest(vectors[0], 5, among=[3000])


def test_signs_never_let_in_what_was_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT_ALLOWED_ROWS", 1)
    monkeypatch.setattr(module, "SHORTLIST", 3)
    vector = np.ones((1, DIMENSIONS), np.float32) / 16
    far = -vector
    far[0, 0] = 1 / 16  # 255 of 256 signs differ
    found = stored(tmp_path, np.concatenate([vector, far, far, far, far]))
    assert not found.nearest(vector[0], 5, among=[1, 2, 3, 4])


def test_a_key_is_as_near_as_its_nearest_piece_and_named_once(tmp_path: Path) -> None:
    vectors = clustered_vectors(400)
    keys = [9] * 300 + [5] * 50 + list(range(100, 150))
    found = stored(tmp_path, vectors, keys)
    for vector in vectors[::40]:
        best: dict[int, float] = {}
        for key, cosine in zip(keys, vectors @ vector, strict=True):
            best[key] = max(best.get(key, 0.0), float(cosine))
        hits = found.nearest(vector, 10)
        assert len(hits) == len(dict(hits)) == 10
        floor = sorted(best.values(), reverse=True)[9]
        for key, cosine in hits:
            assert cosine == pytest.approx(best[key], abs=0.03) and cosine > floor - 0.03


def test_texts_without_words_are_like_nothing(tmp_path: Path) -> None:
    vectors = random_vectors(10)
    vectors[3] = 0
    found = stored(tmp_path, vectors)
    assert not found.nearest(vectors[3], 10)
    assert 3 not in nearest(found, vectors[4], 10)


def test_what_points_away_is_no_hit(tmp_path: Path) -> None:
    vectors = random_vectors(2)
    found = stored(tmp_path, np.concatenate([vectors, -vectors]))
    keys, cosines = zip(*found.nearest(vectors[0], 10), strict=True)
    assert keys[0] == 0 and 2 not in keys and min(cosines) > 0


def test_equal_ones_come_in_the_order_they_were_appended(tmp_path: Path) -> None:
    vector = random_vectors(1)
    found = stored(tmp_path, np.repeat(vector, 30, axis=0))
    assert nearest(found, vector[0], 4) == [0, 1, 2, 3]


def test_nothing_stored_yet(tmp_path: Path) -> None:
    found = Vectors(tmp_path, 0)
    assert len(found) == found.wasted == 0
    assert found.nearest(random_vectors(1)[0], 10) == []
    assert found.nearest(random_vectors(1)[0], 10, among=[1]) == []


def test_what_is_deleted_is_gone_for_those_who_read_already(tmp_path: Path) -> None:
    vectors = random_vectors(100)
    found = stored(tmp_path, vectors, [7] * 20 + list(range(20, 100)))
    with VectorWriter(tmp_path, 100) as writer:
        writer.delete({7, 99, 1234})
    for row in (5, 19, 99):
        assert not {7, 99}.intersection(nearest(found, vectors[row], 100))
    assert nearest(found, vectors[20], 1) == [20]
    assert found.wasted == 0.21


def test_a_copy_leaves_out_what_was_deleted(tmp_path: Path) -> None:
    vectors = random_vectors(9000)
    new = tmp_path / "new"
    new.mkdir()
    gone = np.flatnonzero(np.random.default_rng(5).random(9000) < 0.3)
    old = stored(tmp_path, vectors)
    with VectorWriter(tmp_path, 9000) as writer:
        writer.delete(gone.tolist())
    assert old.copy(new) == 9000 - len(gone)
    copied = Vectors(new, 9000 - len(gone))
    assert copied.wasted == 0
    for vector in vectors[::500]:
        assert copied.nearest(vector, 20) == old.nearest(vector, 20)


def test_rows_appended_later_are_seen_when_opened_again(tmp_path: Path) -> None:
    vectors = random_vectors(20)
    early = stored(tmp_path, vectors[:10])
    with VectorWriter(tmp_path, 10) as writer:
        writer.append(np.arange(10, 20), vectors[10:])
        writer.flush()
        assert len(writer) == 20
    assert len(early) == 10 and 15 not in nearest(early, vectors[15], 20)
    assert nearest(Vectors(tmp_path, 20), vectors[15], 1) == [15]


def test_who_reads_keeps_the_rows_while_all_are_made_anew(tmp_path: Path) -> None:
    vectors = random_vectors(20)
    early = stored(tmp_path, vectors)
    before = identities(tmp_path)
    late = stored(tmp_path, vectors[:3])
    assert nearest(early, vectors[15], 1) == [15] and nearest(late, vectors[2], 1) == [2]
    assert identities(tmp_path) != before


@given(st.integers(0, 6), st.tuples(*[st.integers(0, 900)] * 3))
def test_what_was_not_committed_is_cut_off(
    tmp_path_factory: pytest.TempPathFactory, count: int, torn: tuple[int, ...]
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    vectors = random_vectors(8)
    stored(folder, vectors[:6])
    for name, extra in zip(SIZES, torn, strict=True):
        with (folder / name).open("ab") as file:
            file.write(b"\x07" * extra)
    with VectorWriter(folder, count) as writer:
        writer.append(np.arange(count, 8), vectors[count:])
    assert {name: (folder / name).stat().st_size // 8 for name in SIZES} == SIZES
    found = Vectors(folder, 8)
    assert [nearest(found, vector, 1) for vector in vectors] == [[key] for key in range(8)]


@pytest.mark.parametrize("name", SIZES)
def test_missing_rows_are_said(tmp_path: Path, name: str) -> None:
    stored(tmp_path, random_vectors(10))
    os.truncate(tmp_path / name, 5 * SIZES[name] + 3)
    for open_again in (Vectors, VectorWriter):
        with pytest.raises(VectorsDamaged, match=f"{name} holds 5 rows, not 10"):
            open_again(tmp_path, 10)
    (tmp_path / name).unlink()
    with pytest.raises(VectorsDamaged, match=f"{name} is not there"):
        Vectors(tmp_path, 10)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_vectors(20)
    write, room = os.pwrite, 13 * SIZES["vectors.packed"]

    def pwrite(file: int, data: memoryview, at: int) -> int:
        if at >= room:
            raise OSError(28, "No space left on device")
        return write(file, data[: room - at], at)

    keys = np.arange(20)
    with VectorWriter(tmp_path, 0) as writer:
        writer.append(keys[:10], vectors[:10])
        monkeypatch.setattr(os, "pwrite", pwrite)
        with pytest.raises(OSError, match="No space left"):
            writer.append(keys[10:], vectors[10:])
        assert len(writer) == 10
        monkeypatch.undo()
        assert {name: (tmp_path / name).stat().st_size // 10 for name in SIZES} == SIZES
        writer.append(keys[10:], vectors[10:])
    assert nearest(Vectors(tmp_path, 20), vectors[15], 1) == [15]


KILLED = """
import sys
from pathlib import Path
import numpy as np
from tau_browser.search.semantic.vectors import VectorWriter
folder = Path(sys.argv[1])
vectors = np.load(folder / "vectors.npy")
with VectorWriter(folder, 0) as writer:
    while True:
        writer.append(np.arange(64), vectors)
        print(len(writer), flush=True)
"""


def test_a_killed_writer_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    vectors = random_vectors(64)
    np.save(tmp_path / "vectors.npy", vectors)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        committed = [int(process.stdout.readline()) for _ in range(20)][-1]
        process.send_signal(signal.SIGKILL)
    with VectorWriter(tmp_path, committed) as writer:
        writer.append(np.array([64]), random_vectors(1, seed=2))
    found = Vectors(tmp_path, committed + 1)
    assert [nearest(found, vector, 1) for vector in vectors] == [[key] for key in range(64)]
    assert nearest(found, random_vectors(1, seed=2)[0], 1) == [64]


def test_only_the_owner_may_read_them(tmp_path: Path) -> None:
    stored(tmp_path, random_vectors(1))
    for name in SIZES:
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_how_much_is_embedded_is_said() -> None:
    assert str(Coverage(1200, 50_000)) == "1,200 of 50,000 embedded"
