"""One order out of several: what each ranker found, weighed and added up, with the sum shown.

Convex (the default): each ranker's scores are spread over 0 to 1, so that scores of unlike scales
can be added. 1 is its best candidate, or what it would give to a better one, where it knows: so a
ranker that found little of what was asked has less to say. 0 is what it did not name: the lowest
candidate if there may be more behind it, else a score of 0. (Bruch et al. 2022 compare such ways.)
Reciprocal rank fusion (RRF, Cormack et al. 2009) looks at ranks alone.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

CANDIDATES = 200
"""How many of a ranker's candidates count. What it names after them adds 0 to a score: so the first
hits stay as they are when more are asked for."""

DEFAULT_WEIGHTS: dict[str, float] = {"bm25": 1.0, "static": 0.4, "neural": 1.0}
"""Of the rankers. The vectors of the static table buy recall; weighing more, they cost rank."""

_RRF_K = 60


class Method(StrEnum):
    """How candidates are put into one order."""

    CONVEX = "convex"
    RRF = "rrf"


@dataclass(frozen=True, slots=True)
class Ranking(Generic[Key]):
    """The candidates of one ranker with their scores, the best first, each once.

    `complete`: these are all that it found, so that anything else would score 0 with it · `full`:
    the score of something that is all that was asked for; 0 if the ranker does not know.
    """

    ranker: str
    candidates: Sequence[tuple[Key, float]]
    complete: bool = False
    full: float = 0.0


@dataclass(frozen=True, slots=True)
class Part:
    """What one ranker says of a hit, and what that adds to its score.

    rank: from 1 · raw: in the ranker's own scale · norm: 0 to 1, 0 after the candidates that
    count · contribution: weight * norm
    """

    ranker: str
    rank: int
    raw: float
    norm: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Fused(Generic[Key]):
    """A hit: its parts in the order of the rankers; one per ranker that named it."""

    key: Key
    parts: tuple[Part, ...]

    @property
    def score(self) -> float:
        """The sum of what the parts contribute."""
        return math.fsum(part.contribution for part in self.parts)


def fuse(
    rankings: Iterable[Ranking[Key]],
    weights: Mapping[str, float] = DEFAULT_WEIGHTS,
    method: Method = Method.CONVEX,
) -> list[Fused[Key]]:
    """All candidates, the best first. Equal scores keep the order in which the rankings, one after
    the other, name them.

    A ranker that weighs nothing is left out. Raises ValueError for a weight or a score that is no
    finite number, a weight below zero or missing, and a candidate named twice by one ranker.
    """
    parts: dict[Key, list[Part]] = {}
    for ranking in rankings:
        weight = _weight(ranking.ranker, weights)
        if weight:
            for key, part in _parts(ranking, weight, method).items():
                parts.setdefault(key, []).append(part)
    fused = [Fused(key, tuple(named)) for key, named in parts.items()]
    return sorted(fused, key=lambda hit: hit.score, reverse=True)


def _weight(ranker: str, weights: Mapping[str, float]) -> float:
    weight = weights.get(ranker, math.nan)
    if not math.isfinite(weight) or weight < 0:
        raise ValueError(f"the ranker {ranker!r} needs a weight of 0 or more, not {weight}")
    return weight


def _parts(ranking: Ranking[Key], weight: float, method: Method) -> dict[Key, Part]:
    scores = [score for _, score in ranking.candidates]
    counting = min(len(scores), CANDIDATES)
    complete = ranking.complete and counting == len(scores)
    norms = _by_score(scores, counting, complete, ranking.full)
    if method is Method.RRF:
        norms = _by_rank(counting)
    norms += [0.0] * (len(scores) - counting)
    parts = {
        key: Part(ranking.ranker, rank, raw, norm, weight, weight * norm)
        for rank, ((key, raw), norm) in enumerate(zip(ranking.candidates, norms, strict=True), 1)
    }
    if len(parts) < len(scores):
        raise ValueError(f"the ranker {ranking.ranker!r} named a candidate twice")
    return parts


def _by_score(scores: Sequence[float], counting: int, complete: bool, full: float) -> list[float]:
    """The first scores spread over 0 to 1. Where all are equal, as one by itself is, they are
    spread from 0, as if complete; all are best where that tells nothing."""
    if not all(map(math.isfinite, [*scores, full])):
        raise ValueError("a score must be a finite number")
    scores = scores[:counting]
    low, best = min(scores, default=0.0), max(scores, default=0.0)
    high = max(best, full)
    if complete or low == best:
        low = min(low, 0.0)
    if low == high:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def _by_rank(count: int) -> list[float]:
    """RRF's 1 / (k + rank), as a share of what the first gets: that changes no order."""
    return [(_RRF_K + 1) / (_RRF_K + rank) for rank in range(1, count + 1)]
