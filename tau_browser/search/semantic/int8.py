"""Vectors in a quarter of their size: one byte per number, and one scale per vector."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Int8s = npt.NDArray[np.int8]

_LARGEST = 127


def quantised(vectors: Floats) -> tuple[Int8s, Floats]:
    """Rows (n, d) and scales (n): `rows * scales[:, None]` is about `vectors`."""
    scales = np.abs(vectors).max(axis=1) / np.float32(_LARGEST)
    divisors = np.where(scales > 0, scales, 1)
    return np.rint(vectors / divisors[:, None]).astype(np.int8), scales.astype(np.float32)
