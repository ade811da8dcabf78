"""Vectors on disk: what is found, what a crash leaves, who may read them."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.semantic import vectors as module
from tau_browser.search.semantic.int8 import Floats
from tau_browser.search.semantic.table import DIMENSIONS
from tau_browser.search.semantic.vectors import Coverage, Vectors, VectorsDamaged, VectorWriter

SIZES = {"vectors.i8": 260, "vectors.signs": 32}


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


def stored(folder: Path, vectors: Floats) -> Vectors:
    with VectorWriter(folder, 0) as writer:
        writer.append(vectors)
    return Vectors(folder, len(vectors))


def truth(vectors: Floats, vector: Floats, count: int) -> list[int]:
    return np.argsort(-(vectors @ vector), kind="stable")[:count].tolist()


def mean_recall(found: Vectors, vectors: Floats, asked: Floats, count: int = 50) -> float:
    shares = []
    for vector in asked:
        rows, _ = found.nearest(vector, count)
        shares.append(len(set(rows.tolist()) & set(truth(vectors, vector, count))) / count)
    return float(np.mean(shares))


def test_int8_finds_what_floats_find(tmp_path: Path) -> None:
    vectors = random_vectors(5000)
    found = stored(tmp_path, vectors)
    rows, cosines = found.nearest(vectors[17], 5)
    assert rows[0] == 17 and cosines[0] == pytest.approx(1, abs=1e-3)
    assert cosines.tolist() == sorted(cosines, reverse=True)
    assert mean_recall(found, vectors, random_vectors(20, seed=2)) > 0.95


def test_rows_are_compared_by_direction_not_by_how_they_were_scaled(tmp_path: Path) -> None:
    """Each row has a scale of its own: without its length, recall is next to nothing."""
    vectors, asked = random_vectors(5000), random_vectors(20, seed=2)
    found = stored(tmp_path, vectors)
    numbers = found._rows["vector"].astype(np.float32)
    without = [
        len(set(np.argsort(-(numbers @ vector))[:50].tolist()) & set(truth(vectors, vector, 50)))
        for vector in asked
    ]
    assert np.mean(without) / 50 < 0.6 < 0.95 < mean_recall(found, vectors, asked)


def test_signs_choose_nearly_all_of_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered_vectors(20_000)
    found = stored(tmp_path, vectors)
    monkeypatch.setattr(module, "EXACT_ROWS", 1000)
    monkeypatch.setattr(module, "SHORTLIST", 1000)
    assert mean_recall(found, vectors, clustered_vectors(20, seed=2)) > 0.9


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "by signs"])
def test_only_allowed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact: bool) -> None:
    vectors = clustered_vectors(3000)
    found = stored(tmp_path, vectors)
    if not exact:
        monkeypatch.setattr(module, "EXACT_ALLOWED_ROWS", 100)
        monkeypatch.setattr(module, "SHORTLIST", 900)
    allowed = np.random.default_rng(3).random(3000) < 0.4
    for vector in vectors[:20]:
        rows, _ = found.nearest(vector, 50, allowed)
        wanted = [row for row in truth(vectors, vector, 3000) if allowed[row]][:50]
        assert allowed[rows].all()
        assert len(set(rows.tolist()) & set(wanted)) >= 47
    assert not len(found.nearest(vectors[0], 5, np.zeros(3000, np.bool_))[0])


def test_signs_never_let_in_what_is_not_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT_ALLOWED_ROWS", 1)
    monkeypatch.setattr(module, "SHORTLIST", 3)
    vector = np.ones((1, DIMENSIONS), np.float32) / 16
    far = -vector
    far[0, 0] = 1 / 16  # 255 of 256 signs differ
    found = stored(tmp_path, np.concatenate([vector, far, far, far, far]))
    rows, _ = found.nearest(vector[0], 5, np.array([False, True, True, True, True]))
    assert not len(rows)


def test_texts_without_words_are_like_nothing(tmp_path: Path) -> None:
    vectors = random_vectors(10)
    vectors[3] = 0
    found = stored(tmp_path, vectors)
    assert not len(found.nearest(vectors[3], 10)[0])
    assert 3 not in found.nearest(vectors[4], 10)[0]


def test_what_points_away_is_no_hit(tmp_path: Path) -> None:
    vectors = random_vectors(2)
    found = stored(tmp_path, np.concatenate([vectors, -vectors]))
    rows, cosines = found.nearest(vectors[0], 10)
    assert rows[0] == 0 and 2 not in rows and (cosines > 0).all()


def test_equal_ones_come_in_the_order_they_were_appended(tmp_path: Path) -> None:
    vector = random_vectors(1)
    found = stored(tmp_path, np.repeat(vector, 30, axis=0))
    assert found.nearest(vector[0], 4)[0].tolist() == [0, 1, 2, 3]


def test_nothing_stored_yet(tmp_path: Path) -> None:
    found = Vectors(tmp_path, 0)
    rows, cosines = found.nearest(random_vectors(1)[0], 10)
    assert len(found) == len(rows) == len(cosines) == 0


def test_deleted_rows_are_gone_for_those_who_read_already(tmp_path: Path) -> None:
    vectors = random_vectors(100)
    found = stored(tmp_path, vectors)
    with VectorWriter(tmp_path, 100) as writer:
        writer.delete(np.array([5, 99]))
        with pytest.raises(IndexError, match="no row 100 among 100"):
            writer.delete(np.array([100]))
    for row in (5, 99):
        assert row not in found.nearest(vectors[row], 100)[0]
    assert found.nearest(vectors[6], 1)[0].tolist() == [6]


def test_a_copy_holds_the_rows_that_are_left(tmp_path: Path) -> None:
    vectors = random_vectors(9000)
    left = np.flatnonzero(np.random.default_rng(5).random(9000) < 0.7)
    new = tmp_path / "new"
    new.mkdir()
    stored(tmp_path, vectors).copy(left, new)
    copied = Vectors(new, len(left))
    for row in (0, len(left) // 2, len(left) - 1):
        assert copied.nearest(vectors[left[row]], 1)[0].tolist() == [row]
    assert np.array_equal(copied._signs, stored(tmp_path / "new", vectors[left])._signs)


def test_rows_appended_later_are_seen_when_opened_again(tmp_path: Path) -> None:
    vectors = random_vectors(20)
    early = stored(tmp_path, vectors[:10])
    with VectorWriter(tmp_path, 10) as writer:
        writer.append(vectors[10:])
        writer.flush()
        assert len(writer) == 20
    assert len(early) == 10 and 15 not in early.nearest(vectors[15], 20)[0]
    assert Vectors(tmp_path, 20).nearest(vectors[15], 1)[0].tolist() == [15]


@given(st.integers(0, 6), st.integers(0, 900), st.integers(0, 200))
def test_what_was_not_committed_is_cut_off(
    tmp_path_factory: pytest.TempPathFactory, count: int, torn: int, torn_signs: int
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    vectors = random_vectors(8)
    stored(folder, vectors[:6])
    for extra, (name, size) in zip((torn, torn_signs), SIZES.items(), strict=True):
        with (folder / name).open("ab") as file:
            file.write(b"\x07" * extra)
        assert (folder / name).stat().st_size == 6 * size + extra
    with VectorWriter(folder, count) as writer:
        writer.append(vectors[count:])
    assert {name: (folder / name).stat().st_size // 8 for name in SIZES} == SIZES
    found = Vectors(folder, 8)
    assert [found.nearest(vector, 1)[0].tolist() for vector in vectors] == [[n] for n in range(8)]


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
    write, room = os.pwrite, 3000

    def pwrite(file: int, data: memoryview, at: int) -> int:
        if at >= room:
            raise OSError(28, "No space left on device")
        return write(file, data[: room - at], at)

    with VectorWriter(tmp_path, 0) as writer:
        writer.append(vectors[:10])
        monkeypatch.setattr(os, "pwrite", pwrite)
        with pytest.raises(OSError, match="No space left"):
            writer.append(vectors[10:])
        assert len(writer) == 10
        monkeypatch.undo()
        assert {name: (tmp_path / name).stat().st_size // 10 for name in SIZES} == SIZES
        writer.append(vectors[10:])
    assert Vectors(tmp_path, 20).nearest(vectors[15], 1)[0].tolist() == [15]


KILLED = """
import sys
from pathlib import Path
import numpy as np
from tau_browser.search.semantic.vectors import VectorWriter
folder = Path(sys.argv[1])
vectors = np.load(folder / "vectors.npy")
with VectorWriter(folder, 0) as writer:
    while True:
        writer.append(vectors)
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
        writer.append(vectors[:1])
    found = Vectors(tmp_path, committed + 1)
    for row in (0, committed // 2, committed):
        assert found._rows[row] == found._rows[row % 64]
        assert (found._signs[row] == found._signs[row % 64]).all()


def test_only_the_owner_may_read_them(tmp_path: Path) -> None:
    stored(tmp_path, random_vectors(1))
    for name in SIZES:
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_how_much_is_embedded_is_said() -> None:
    assert str(Coverage(1200, 50_000)) == "1,200 of 50,000 embedded"
