"""Runs of words that two sets of texts share, found for all of them at once.

Words are numbers; a gram of `SEED` of them is one number; grams that both sides hold are joined
where they follow each other on both sides. A gram that stands everywhere tells nothing and is left
out, which also bounds the work on hostile texts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tau_browser.audit.words import SEED, UInt64s, Words, likely
from tau_browser.model.columns import Int64s

_MOST_PLACES = 64
"""A gram that occurs more often on one side is left out."""


class Run(NamedTuple):
    """`length` words from word `at` of text `one` are those from word `start` of text `other`."""

    one: int
    at: int
    other: int
    start: int
    length: int


def shared_runs(one: Words, other: Words, least: int = SEED) -> list[Run]:
    """All longest runs of at least `least` words (not less than `SEED`) that a text of one side
    shares with a text of the other, in order of the first side."""
    at, start = _pairs(one.grams, *other.sorted_grams)
    if not len(at):
        return []
    diagonal = at - start
    order = np.lexsort((at, diagonal))
    at, start, diagonal = at[order], start[order], diagonal[order]
    breaks = np.flatnonzero((np.diff(at) != 1) | (np.diff(diagonal) != 0)) + 1
    heads = np.concatenate([[0], breaks])
    lengths = np.diff(np.concatenate([heads, [len(at)]])) + SEED - 1
    long = np.flatnonzero(lengths >= least)
    heads, lengths = heads[long], lengths[long]
    at, start = at[heads], start[heads]
    ones, others = one.text[at], other.text[start]
    columns = ones, at - one.first[ones], others, start - other.first[others], lengths, at, start
    found = zip(*(column.tolist() for column in columns), strict=True)
    return sorted(
        Run(*run)
        for *run, here, there in found
        # the words are the same, and not only their numbers
        if one.spelled(here, run[4]) == other.spelled(there, run[4])
    )


def _pairs(one: UInt64s, order: Int64s, ordered: UInt64s) -> tuple[Int64s, Int64s]:
    """Where the same gram stands on both sides: all pairs of places."""
    places = likely(one, ordered)
    sought = one[places]
    left, right = (np.searchsorted(ordered, sought, side) for side in ("left", "right"))
    count = right - left
    found = np.flatnonzero((count > 0) & (count <= _MOST_PLACES))
    often = np.bincount(left[found])  # where a gram stands in order tells it from others
    found = found[often[left[found]] <= _MOST_PLACES]
    count, left, places = count[found], left[found], places[found]
    at = np.repeat(places, count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return at, order[np.repeat(left, count) + within]
