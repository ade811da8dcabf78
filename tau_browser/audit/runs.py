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

from tau_browser.audit.said import BYTE_WORDS, words_of
from tau_browser.model.columns import Bools, Int64s

SEED = 4
"""Words of the shortest run that is found."""

_MOST_PLACES = 64
"""A gram that occurs more often on one side is left out."""

_END = b"\xff"  # stands after each text; no text is spelled with it
_SIEVE = 1 << 16  # numbers that most of what is not sought falls through
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
    """Texts as words, one after the other, with an end after each. text: number of the text of
    each word · first: where each text starts · numbers: one per word, the same for the same."""

    words: Sequence[bytes]
    text: Int64s
    first: Int64s
    numbers: _UInt64s

    def of(self, text: int, at: int, count: int) -> list[str]:
        """Some words of a text."""
        start = int(self.first[text]) + at
        return [spell(word) for word in self.words[start : start + count]]

    def holders(self, text: int, at: int, count: int) -> list[set[int]]:
        """For each of `count` grams of a text, from word `at` on: the texts that hold it."""
        start = int(self.first[text]) + at
        grams = self.grams[start : start + count]
        return [set(self.text[np.flatnonzero(self.grams == gram)].tolist()) for gram in grams]

    def where(self, words: Sequence[str]) -> tuple[Int64s, Int64s]:
        """All places where some words stand: which of them, and in which text."""
        sought = np.array([_number(word) for word in words], np.uint64)
        order = np.argsort(sought)
        likely = np.flatnonzero(_sieve_of(_slots(sought))[self._slots])
        numbers = self.numbers[likely]
        at = np.searchsorted(sought, numbers, sorter=order)
        which = order[np.minimum(at, len(sought) - 1)]
        same = sought[which] == numbers
        return which[same], self.text[likely[same]]

    def may_hold(self, words: Sequence[str]) -> bool:
        """False where one of some words surely is in none of the texts."""
        return all(self._sieve[int(_number(word)) % _SIEVE] for word in words)

    @cached_property
    def grams(self) -> _UInt64s:
        """One number per word, of it and those after it."""
        return _grams(self.numbers)

    @cached_property
    def sorted_grams(self) -> tuple[Int64s, _UInt64s]:
        """The order of the grams by size, and the grams in this order."""
        order = np.argsort(self.grams, kind="stable")
        return order, self.grams[order]

    @cached_property
    def _slots(self) -> Int64s:
        return _slots(self.numbers)

    @cached_property
    def _sieve(self) -> Bools:
        return _sieve_of(self._slots)


def words_in(texts: Sequence[str], side: int) -> Words:
    """Texts made ready. side: 1 or 2, for what is to be compared with each other."""
    pieces = [
        text.encode("ascii") if text.isascii() else _joined(text)  # each its fastest way
        for text in texts
    ]
    end = b" " + _END + b" "
    words = end.join([*pieces, b""]).translate(BYTE_WORDS).split()
    numbers = np.fromiter(map(hash, words), np.int64, len(words)).view(np.uint64)
    ends = np.flatnonzero(numbers == _number(_END))
    ends = ends[[words[at] == _END for at in ends.tolist()]]
    first = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else np.empty(0, np.int64)
    lengths = ends - first + 1
    text = np.repeat(np.arange(len(ends), dtype=np.int64), lengths)
    numbers[ends] = np.arange(len(ends), dtype=np.uint64) * np.uint64(2) + np.uint64(side)
    return Words(words, text, first.astype(np.int64), numbers)


def spell(word: bytes) -> str:
    """A word as text."""
    return word.decode("utf-8", "surrogatepass")


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
    ones, others = one.text[at[heads]], other.text[start[heads]]
    found = zip(
        ones.tolist(),
        (at[heads] - one.first[ones]).tolist(),
        others.tolist(),
        (start[heads] - other.first[others]).tolist(),
        lengths.tolist(),
        at[heads].tolist(),
        start[heads].tolist(),
        strict=True,
    )
    return sorted(
        Run(*run)
        for *run, here, there in found
        # the words are the same, and not only their numbers
        if one.words[here : here + run[4]] == other.words[there : there + run[4]]
    )


def _joined(text: str) -> bytes:
    return " ".join(words_of(text)).encode("utf-8", "surrogatepass")


def _number(word: str | bytes) -> np.uint64:
    spelled = word if isinstance(word, bytes) else word.encode("utf-8", "surrogatepass")
    return np.int64(hash(spelled)).view(np.uint64)


def _grams(numbers: _UInt64s) -> _UInt64s:
    padded = np.concatenate([numbers, np.arange(SEED - 1, dtype=np.uint64)])
    grams = numbers.copy()
    with np.errstate(over="ignore"):
        for step in range(1, SEED):
            grams *= _BASE
            grams += padded[step : step + len(numbers)]
    return grams


def _slots(numbers: _UInt64s) -> Int64s:
    """Where each number falls in a sieve."""
    return (numbers & np.uint64(_SIEVE - 1)).astype(np.int64)


def _sieve_of(slots: Int64s) -> Bools:
    sieve = np.zeros(_SIEVE, np.bool_)
    sieve[slots] = True
    return sieve


def _pairs(one: _UInt64s, order: Int64s, ordered: _UInt64s) -> tuple[Int64s, Int64s]:
    """Where the same gram stands on both sides: all pairs of places."""
    likely = np.flatnonzero(_sieve_of(_slots(ordered))[_slots(one)])
    sought = one[likely]
    left, right = (np.searchsorted(ordered, sought, side) for side in ("left", "right"))
    count = right - left
    found = np.flatnonzero((count > 0) & (count <= _MOST_PLACES))
    if len(found):
        _, inverse, often = np.unique(sought[found], return_inverse=True, return_counts=True)
        found = found[often[inverse] <= _MOST_PLACES]
    count, left, places = count[found], left[found], likely[found]
    at = np.repeat(places, count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return at.astype(np.int64), order[np.repeat(left, count) + within].astype(np.int64)
