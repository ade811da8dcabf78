"""Vectors in an eighth of their size: half a byte per number.

Which of 16 steps a number lies on is told in units of its dimension's spread and of the vector's
own size. So a packed vector has a direction, and its length must be known to be divided by.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tau_browser.search.semantic.int8 import Floats

Packed = npt.NDArray[np.uint8]
"""Rows (n, d / 2): number j in the low half of byte j, number j + d / 2 in the high half."""

_STEPS = 16
_MIDDLE = np.float32(7.5)
# Steps up to 3.5 standard deviations: the nearest 50 are much the same for 3 and for 4.
_PER_DEVIATION = _STEPS / 2 / 3.5


def packed(vectors: Floats, spread: Floats) -> tuple[Packed, Floats]:
    """Vectors (n, d) as rows, and the lengths (n) of what the rows stand for; 0 for the zero
    vector. `spread`: how far the numbers of each dimension lie from 0, about (d)."""
    even = vectors / spread
    deviations = even.std(axis=1)
    is_like_nothing = deviations == 0
    deviations[is_like_nothing] = 1
    steps = np.floor(even * (_PER_DEVIATION / deviations)[:, None]) + _STEPS / 2
    steps = np.clip(steps, 0, _STEPS - 1).astype(np.uint8)
    meant = (steps - _MIDDLE) * spread
    lengths = np.sqrt(np.einsum("ij,ij->i", meant, meant))
    lengths[is_like_nothing] = 0
    half = vectors.shape[1] // 2
    return steps[:, :half] | steps[:, half:] << 4, lengths.astype(np.float32)


def products(rows: Packed, vector: Floats, spread: Floats) -> Floats:
    """What the rows stand for, times a vector (d), each in full.

    A byte is its low half and 16 times its high one, which so need not be taken out. By np.einsum
    and not by `@`: BLAS would start threads that cost more than they bring.
    """
    weights = vector * spread
    low, high = np.split(weights, 2)
    sums = np.einsum("ij,j->i", rows.astype(np.float32), high / _STEPS)
    sums += np.einsum("ij,j->i", (rows & 15).astype(np.float32), low - high / _STEPS)
    found: Floats = sums - _MIDDLE * weights.sum()
    return found
