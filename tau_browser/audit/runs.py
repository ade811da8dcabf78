"""Runs of words that two sets of texts share, found for all of them at once.

Words become numbers; a gram of `SEED` of them becomes one number; grams that both sides hold are
joined where they follow each other on both sides. A gram that stands everywhere tells nothing and
is left out, which also bounds the work on hostile texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tau_browser.model.columns import Int64s

SEED = 4
"""Words of the shortest run that is found."""

_MOST_PLACES = 64
"""A gram that occurs more often on one side is left out."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_UInt64s = npt.NDArray[np.uint64]


class Run(NamedTuple):
    """`length` words from word `at` of text `one` are those from word `start` of text `other`."""

    one: int
    at: int
    other: int
    start: int
    length: int


@dataclass(frozen=True)
class Words:
    """Texts as words, one after the other. text: number of the text of each word · first: where
    each text starts · grams: one number per word, of it and those after it."""

    texts: Sequence[Sequence[str]]
    text: Int64s
    first: Int64s
    grams: _UInt64s

    def holders(self, text: int, at: int, count: int) -> list[set[int]]:
        """For each of `count` grams of a text, from word `at` on: the texts that hold it."""
        start = int(self.first[text]) + at
        order, ordered = self.sorted_grams
        grams = self.grams[start : start + count]
        bounds = (np.searchsorted(ordered, grams, side).tolist() for side in ("left", "right"))
        return [set(self.text[order[low:high]].tolist()) for low, high in zip(*bounds, strict=True)]

    @cached_property
    def sorted_grams(self) -> tuple[Int64s, _UInt64s]:
        """The order of the grams by size, and the grams in this order."""
        order = np.argsort(self.grams, kind="stable")
        return order, self.grams[order]


def words_in(texts: Sequence[Sequence[str]], side: int) -> Words:
    """Texts made ready. side: 1 or 2, for what is to be compared with each other."""
    lengths = np.array([len(text) + 1 for text in texts], np.int64)
    first = np.cumsum(lengths) - lengths
    text = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    return Words(texts, text, first, _grams(_numbers(texts, side)))


def shared_runs(one: Words, other: Words) -> list[Run]:
    """All longest runs of at least `SEED` words that a text of one side shares with a text of the
    other, in order of the first side."""
    at, start = _pairs(one.grams, *other.sorted_grams)
    if not len(at):
        return []
    diagonal = at - start
    order = np.lexsort((at, diagonal))
    at, start, diagonal = at[order], start[order], diagonal[order]
    breaks = np.flatnonzero((np.diff(at) != 1) | (np.diff(diagonal) != 0)) + 1
    heads = np.concatenate([[0], breaks])
    lengths = np.diff(np.concatenate([heads, [len(at)]])) + SEED - 1
    ones, others = one.text[at[heads]], other.text[start[heads]]
    found = zip(
        ones.tolist(),
        (at[heads] - one.first[ones]).tolist(),
        others.tolist(),
        (start[heads] - other.first[others]).tolist(),
        lengths.tolist(),
        strict=True,
    )
    return sorted(Run(*each) for each in found if _is_real(one, other, *each))


def _is_real(one: Words, other: Words, text: int, at: int, twin: int, start: int, n: int) -> bool:
    """Whether the words are the same, and not only their numbers."""
    return one.texts[text][at : at + n] == other.texts[twin][start : start + n]


def _numbers(texts: Sequence[Sequence[str]], side: int) -> _UInt64s:
    """The words of all texts as numbers; what stands after each text is a number of its own."""
    numbers: list[int] = []
    for at, text in enumerate(texts):
        numbers += map(hash, text)
        numbers.append(hash((side, at)))
    return np.array(numbers, np.int64).view(np.uint64)


def _grams(numbers: _UInt64s) -> _UInt64s:
    padded = np.concatenate([numbers, np.arange(SEED - 1, dtype=np.uint64)])
    grams = np.zeros(len(numbers), np.uint64)
    with np.errstate(over="ignore"):
        for step in range(SEED):
            grams = grams * _BASE + padded[step : step + len(numbers)]
    return grams


def _pairs(one: _UInt64s, order: Int64s, ordered: _UInt64s) -> tuple[Int64s, Int64s]:
    """Where the same gram stands on both sides: all pairs of places."""
    left, right = np.searchsorted(ordered, one, "left"), np.searchsorted(ordered, one, "right")
    count = right - left
    found = np.flatnonzero((count > 0) & (count <= _MOST_PLACES))
    if len(found):
        _, inverse, often = np.unique(one[found], return_inverse=True, return_counts=True)
        found = found[often[inverse] <= _MOST_PLACES]
    count, left = count[found], left[found]
    at = np.repeat(found, count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return at.astype(np.int64), order[np.repeat(left, count) + within].astype(np.int64)
