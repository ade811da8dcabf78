"""How good a ranking is, and how sure we can be of it."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over queries and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ±{self.error:.3f}"


def mean(values: Sequence[float]) -> Mean:
    """The mean of one value per query; of one query alone the error is unknown: not a number."""
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Mean(fmean(values), error)


def reciprocal_rank(ranked: Sequence[str], right: Set[str], depth: int = 10) -> float:
    """1 over the rank of the first right entry; 0 if none is among the first `depth`."""
    ranks = (rank for rank, key in enumerate(ranked[:depth], 1) if key in right)
    return 1 / next(ranks, math.inf)


def recall(ranked: Sequence[str], right: Set[str], depth: int) -> float:
    """The share of the right entries, or of `depth` if there are more, among the first `depth`."""
    return len(right.intersection(ranked[:depth])) / min(len(right), depth)
