"""Vectors on disk, a row for each piece of text, and the texts that are nearest to a vector.

Three files in a folder, rows in the same order. `vectors.packed`: the numbers in half a byte
each, and the length of what they stand for as float32; scores mean nothing until they are divided
by it. `vectors.signs`: the signs of the numbers, a bit each; they are enough to tell the nearest
tenth from the rest. `vectors.keys`: whose piece it is, as a number of the index (a content).

How many rows count is not written here: the index says it, and commits it after the rows are
flushed. So what a killed writer left behind the last committed row is cut off by the next writer.
One that begins with no row makes new files: who has mapped the old ones keeps them.
A row that was deleted has the length 0, like that of a text without words: it is like nothing.
Readers map the files; a writer never changes a number that they may read, but for that length.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tau_browser.model.columns import Bools, Int64s
from tau_browser.search.semantic.int8 import Floats
from tau_browser.search.semantic.packed import packed, products
from tau_browser.search.semantic.table import DIMENSIONS

Rows = npt.NDArray[np.intp]
"""Numbers of rows, from 0 in the order they were appended."""

EXACT_ROWS = 200_000
"""Up to so many rows all are scored: some 15 ms. Among more, signs choose which."""
EXACT_ALLOWED_ROWS = 50_000
"""The same where only some rows are allowed: rows that lie apart cost four times as much."""
SHORTLIST = 20_000
"""How many rows the signs choose. At a million rows they hold 99 % of the nearest 50."""

_ROW = np.dtype([("vector", np.uint8, DIMENSIONS // 2), ("length", "<f4")])
_LENGTH_AT = DIMENSIONS // 2
_SIGNS = np.dtype((np.uint64, DIMENSIONS // 64))
_KEY = np.dtype("<u4")
_COLUMNS = {"vectors.packed": _ROW, "vectors.signs": _SIGNS, "vectors.keys": _KEY}
_BLOCK = 1024  # rows scored at a time: as floats they fit into a processor's cache
_SIGN_BLOCK = 8192
_MOST_SIGNS = 255
_PRIVATE = 0o600
_EVEN = np.ones(DIMENSIONS, np.float32)


class VectorsDamaged(Exception):
    """The files hold fewer rows than they should. The message says which file, and how many."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much can be found by meaning, in entries."""

    embedded: int
    total: int

    def __str__(self) -> str:
        return f"{self.embedded:,} of {self.total:,} embedded"


class Vectors:
    """The first `count` rows in a folder, for reading. `spread`: as they were written with.

    Raises VectorsDamaged, OSError.
    """

    def __init__(self, folder: Path, count: int, spread: Floats = _EVEN) -> None:
        self._spread = spread
        columns = (_mapped(folder / name, count) for name in _COLUMNS)
        self._rows, self._signs, self._keys = columns

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def wasted(self) -> float:
        """The share of rows that are like nothing. Above a fifth, a copy is worth its while."""
        return float(np.mean(self._rows["length"] == 0)) if len(self) else 0.0

    def nearest(
        self, vector: Floats, count: int, among: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Up to `count` keys and the cosine of their nearest piece to a vector of length 1, the
        nearest first. Only those that point the same way at all (a cosine above 0), and only keys
        `among` these, if that is given."""
        rows, cosines = self._candidates(vector, None if among is None else self._allowed(among))
        most = count
        while True:
            best, scores = _best(rows, cosines, most)
            keys, first = np.unique(self._keys[best], return_index=True)
            if len(keys) >= count or len(best) < most:
                order = np.sort(first)[:count]
                return list(
                    zip(self._keys[best[order]].tolist(), scores[order].tolist(), strict=True)
                )
            most *= 4  # some keys have many pieces

    def copy(self, folder: Path) -> int:
        """Write the rows that are like anything as the rows of another folder, which is smaller
        then, and faster. Returns how many there are. Raises OSError."""
        rows = np.flatnonzero(self._rows["length"])
        with VectorWriter(folder, 0) as writer:
            for block in _blocks(rows, _BLOCK):
                writer.append_rows(self._rows[block], self._signs[block], self._keys[block])
            writer.flush()
        return len(rows)

    def _allowed(self, among: Collection[int]) -> Bools:
        keys = np.fromiter(among, np.int64, len(among))
        allowed = np.zeros(self._keys.max(initial=0) + 1, np.bool_)
        allowed[keys[keys < len(allowed)]] = True
        flags: Bools = allowed[self._keys]
        return flags

    def _candidates(self, vector: Floats, allowed: Bools | None) -> tuple[Rows, Floats]:
        """The rows among which the nearest are, ascending, and their cosines."""
        if allowed is None:
            every_row = len(self) <= EXACT_ROWS
            rows = np.arange(len(self)) if every_row else self._shortlist(vector)
        elif np.count_nonzero(allowed) <= EXACT_ALLOWED_ROWS:
            rows = np.flatnonzero(allowed)
        else:
            rows = self._shortlist(vector, allowed)
            rows = rows[allowed[rows]]
        return rows, self._cosines(rows, vector)

    def _cosines(self, rows: Rows, vector: Floats) -> Floats:
        cosines = np.zeros(len(rows), np.float32)
        at = 0
        for block in _blocks(rows, _BLOCK):
            where = _range_of(block)
            # of rows with fields, `take` collects some in a quarter of the time that an index needs
            stored = self._rows[where] if isinstance(where, slice) else self._rows.take(where)
            found = products(stored["vector"], vector, self._spread)
            lengths = stored["length"]
            part = cosines[at : at + len(block)]
            np.divide(found, lengths, out=part, where=lengths > 0)
            at += len(block)
        return cosines

    def _shortlist(self, vector: Floats, allowed: Bools | None = None) -> Rows:
        """The rows whose signs differ least from the vector's, in ascending order."""
        differing = self._differing_signs(_signs_of(vector[None])[0])
        if allowed is not None:
            differing = np.where(allowed, differing, np.uint8(_MOST_SIGNS))
        counts = np.cumsum(np.bincount(differing, minlength=_MOST_SIGNS + 1))
        limit = int(np.searchsorted(counts, SHORTLIST))
        nearer = np.flatnonzero(differing < limit)
        level = np.flatnonzero(differing == limit)[: SHORTLIST - len(nearer)]
        return np.sort(np.concatenate([nearer, level]))

    def _differing_signs(self, signs: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
        """How many signs of each row differ from these. All 256 are counted as 0: a row that
        points the very opposite way may take a place in the shortlist, and no harm is done."""
        differing = np.empty(len(self), np.uint8)
        # NumPy takes longer to spread four numbers over the rows than for all the rest.
        spread_out = np.tile(signs, (_SIGN_BLOCK, 1))
        for first in range(0, len(self), _SIGN_BLOCK):
            some = self._signs[first : first + _SIGN_BLOCK]
            counts = np.bitwise_count(some ^ spread_out[: len(some)])
            # Four bytes are added up by one multiplication: their sum is its highest byte.
            sums = counts.view(np.uint32)[:, 0] * np.uint32(0x01010101)
            differing[first : first + _SIGN_BLOCK] = sums >> np.uint32(24)
        return differing


class VectorWriter:
    """Appends to the rows in a folder, of which the first `count` are known to be good; what lies
    behind them is cut off. One writer at a time: the caller holds the lock of the index.

    spread: how far the numbers of each dimension lie from 0, about. Raises VectorsDamaged if there
    are fewer rows, and OSError.
    """

    def __init__(self, folder: Path, count: int, spread: Floats = _EVEN) -> None:
        self._count = count
        self._spread = spread
        self._files: list[tuple[int, np.dtype[Any]]] = []
        try:
            for name, row in _COLUMNS.items():
                if not count:
                    (folder / name).unlink(missing_ok=True)
                self._files.append((_open_for_writing(folder / name), row))
                _require(folder / name, os.fstat(self._files[-1][0]).st_size, count, row)
            self._cut()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> VectorWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._count

    def append(self, keys: Int64s, vectors: Floats) -> None:
        """Add the vectors of length 1, or 0, of pieces of what the keys (0 to 4 billion) name: all
        of them, or none. Raises OSError."""
        rows = np.empty(len(vectors), _ROW)
        rows["vector"], rows["length"] = packed(vectors, self._spread)
        self.append_rows(rows, _signs_of(vectors), np.asarray(keys, _KEY))

    def append_rows(self, *columns: npt.NDArray[Any]) -> None:
        """Add rows as they are stored: the vectors, their signs, their keys."""
        try:
            for (file, row), values in zip(self._files, columns, strict=True):
                _write_all(file, values.tobytes(), self._count * row.itemsize)
        except OSError:
            with contextlib.suppress(OSError):
                self._cut()
            raise
        self._count += len(columns[0])

    def delete(self, keys: Collection[int]) -> None:
        """Let all rows of these keys be like nothing from now on: to be done after the index has
        forgotten them, since it cannot be undone. Raises OSError."""
        (vectors, row), *_, (stored, key) = self._files
        data = os.pread(stored, self._count * key.itemsize, 0)
        gone = np.isin(np.frombuffer(data, key), np.fromiter(keys, np.int64, len(keys)))
        for number in np.flatnonzero(gone).tolist():
            _write_all(vectors, bytes(4), number * row.itemsize + _LENGTH_AT)

    def flush(self) -> None:
        """Return when the rows are on the disk. Raises OSError."""
        for file, _ in self._files:
            os.fsync(file)

    def close(self) -> None:
        """Close the files. What was not flushed may be lost if the machine stops."""
        while self._files:
            os.close(self._files.pop()[0])

    def _cut(self) -> None:
        for file, row in self._files:
            os.ftruncate(file, self._count * row.itemsize)


def identities(folder: Path) -> tuple[tuple[int, int], ...]:
    """Inode and size of each file in a folder of vectors. Raises OSError."""
    found = [os.stat(folder / name) for name in _COLUMNS]
    return tuple((status.st_ino, status.st_size) for status in found)


def _mapped(path: Path, count: int) -> npt.NDArray[Any]:
    row = _COLUMNS[path.name]
    if not count:
        return np.empty(0, row)
    try:
        with path.open("rb") as file:
            _require(path, os.fstat(file.fileno()).st_size, count, row)
            data = mmap.mmap(file.fileno(), count * row.itemsize, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise VectorsDamaged(f"{path} is not there, and should hold {count:,} rows") from None
    return np.frombuffer(data, row)


def _require(path: Path, size: int, count: int, row: np.dtype[Any]) -> None:
    if size < count * row.itemsize:
        raise VectorsDamaged(f"{path} holds {size // row.itemsize:,} rows, not {count:,}")


def _open_for_writing(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _PRIVATE)


def _write_all(file: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, at)
        view, at = view[written:], at + written


def _signs_of(vectors: Floats) -> npt.NDArray[np.uint64]:
    return np.packbits(vectors >= 0, axis=1).view(np.uint64)


def _blocks(rows: Rows, size: int) -> Iterator[Rows]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def _range_of(rows: Rows) -> Rows | slice:
    """Ascending rows as a slice if none is missing between them: nothing is copied then."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


def _best(rows: Rows, scores: Floats, count: int) -> tuple[Rows, Floats]:
    kept = np.flatnonzero(scores > 0)
    if len(kept) > count:
        floor = np.partition(scores[kept], -count)[-count]
        kept = kept[scores[kept] >= floor]
    order = kept[np.argsort(-scores[kept], kind="stable")][:count]
    return rows[order], scores[order]
