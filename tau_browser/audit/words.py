"""Texts as words: those of one text, and those of many as numbers that can be compared at once.

A word is a run of letters and digits in one case and form. A character of a script without spaces
is a word of its own, so that runs of them are compared as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tau_browser.model.columns import Bools, Int64s
from tau_browser.search.folding import fold_case

UInt64s = npt.NDArray[np.uint64]

SEED = 4
"""Words of a gram."""

_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
# what is not of a word in ASCII becomes blank, the rest lower case
_BYTE_WORDS = bytes(ord(_ASCII_WORDS.get(code, chr(code))) for code in range(256))
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]|[^\W_]+")
_BLANK = ord(" ")
_END = 0xFF  # stands after each text; no text is spelled with it
_WINDOW = 8  # bytes that are compared as one number
_MASKS = np.array([(1 << 8 * count) - 1 for count in range(_WINDOW + 1)], np.uint64)  # by length
_BASE = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_SLOT = np.uint64(16)  # bits of a number by which most of what is not sought is told apart


def words_of(text: str) -> list[str]:
    """The words of a text, in one case and form."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    return _WORD.findall(fold_case(text))


def word_spans(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The words of a text and where each stands in it. Folding moves characters: each word is
    folded by itself here, which for all but a few signs gives the same words."""
    found = list(_WORD.finditer(text))
    return [fold_case(each[0]) for each in found], [each.span() for each in found]


class Words:
    """The words of some texts, one after the other, with an end after each text.

    side: 1 or 2, for texts that are to be compared with each other: an end is like no other.
    """

    def __init__(self, texts: Sequence[str], side: int) -> None:
        end = bytes((_BLANK, _END, _BLANK))
        pieces = [
            text.encode("ascii") if text.isascii() else _joined(text)  # each its fastest way
            for text in texts
        ]
        self._spelled = end.join([*pieces, b""]).translate(_BYTE_WORDS) + bytes(_WINDOW)
        self._side = side

    @cached_property
    def numbers(self) -> UInt64s:
        """One number per word, the same for the same."""
        numbers, ends = _numbers(self._spelled, *self._bounds), self._last
        numbers[ends] = np.arange(len(ends), dtype=np.uint64) * np.uint64(2) + np.uint64(self._side)
        return numbers

    @cached_property
    def grams(self) -> UInt64s:
        """One number per word, of it and those after it."""
        padded = np.concatenate([self.numbers, np.arange(SEED - 1, dtype=np.uint64)])
        grams = self.numbers.copy()
        for step in range(1, SEED):
            grams *= _BASE
            grams += padded[step : step + len(grams)]
        return grams

    @cached_property
    def sorted_grams(self) -> tuple[Int64s, UInt64s]:
        """The order of the grams by size, and the grams in this order."""
        order = np.argsort(self.grams)
        return order, self.grams[order]

    @cached_property
    def text(self) -> Int64s:
        """The number of the text of each word."""
        return np.repeat(np.arange(len(self._last)), np.diff(self._last, prepend=-1))

    @cached_property
    def first(self) -> Int64s:
        """The first word of each text."""
        return np.concatenate([[0], self._last + 1])[:-1]

    def spelled(self, at: int, count: int) -> list[bytes]:
        """Some words, from the one at a place on, as UTF-8."""
        start, stop = self._bounds
        words = zip(start[at : at + count].tolist(), stop[at : at + count].tolist(), strict=True)
        return [self._spelled[begin:end] for begin, end in words]

    def of(self, text: int, at: int, count: int) -> list[str]:
        """Some words of a text."""
        words = self.spelled(int(self.first[text]) + at, count)
        return [word.decode("utf-8", "surrogatepass") for word in words]

    def holders(self, text: int, at: int, count: int) -> list[set[int]]:
        """For each of `count` grams of a text, from word `at` on: the texts that hold it."""
        start = int(self.first[text]) + at
        sought = self.grams[start : start + count]
        places = likely(self.grams, sought)
        grams, texts = self.grams[places], self.text[places]
        return [set(texts[grams == gram].tolist()) for gram in sought]

    def where(self, words: Sequence[str]) -> tuple[Int64s, Int64s]:
        """All places where some words stand: which of them, and in which text."""
        sought = _numbers_of(words)
        order = np.argsort(sought)
        places = likely(self.numbers, sought)
        numbers = self.numbers[places]
        at = np.searchsorted(sought, numbers, sorter=order)
        which = order[np.minimum(at, len(sought) - 1)]
        same = sought[which] == numbers
        return which[same], self.text[places[same]]

    def texts_with(self, letters: bytes) -> list[int]:
        """The texts in which some letters of ASCII stand, within one word."""
        places, at = [], self._spelled.find(letters)
        while at >= 0:
            places.append(at)
            at = self._spelled.find(letters, at + 1)
        return sorted(set(np.searchsorted(self._bounds[0][self._last], places).tolist()))

    @cached_property
    def _signs(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._spelled, np.uint8)

    @cached_property
    def _bounds(self) -> tuple[Int64s, Int64s]:
        """Where each word starts and stops."""
        is_blank = np.concatenate([[True], self._signs[:-_WINDOW] == _BLANK, [True]])
        changes = np.flatnonzero(is_blank[1:] != is_blank[:-1])
        return changes[::2], changes[1::2]

    @cached_property
    def _last(self) -> Int64s:
        """The end of each text, which counts as its last word."""
        return np.flatnonzero(self._signs.take(self._bounds[0]) == _END)


def likely(numbers: UInt64s, sought: UInt64s) -> Int64s:
    """The places of numbers that may be among those sought: hardly any others."""
    places = np.flatnonzero(_sieved(numbers, sought))
    rest = _sieved(numbers[places] >> _SLOT, sought >> _SLOT)
    return places[rest]


def _sieved(numbers: UInt64s, sought: UInt64s) -> Bools:
    """Whether the low bits of each number are those of one that is sought."""
    sieve = np.zeros(1 << 16, np.bool_)
    sieve[sought.astype(np.uint16)] = True
    return sieve.take(numbers.astype(np.uint16))


def _joined(text: str) -> bytes:
    return " ".join(words_of(text)).encode("utf-8", "surrogatepass")


def _numbers_of(words: Sequence[str]) -> UInt64s:
    spelled = [word.encode("utf-8", "surrogatepass") for word in words]
    length = np.array([len(word) for word in spelled], np.int64)
    stop = np.cumsum(length)
    return _numbers(b"".join([*spelled, bytes(_WINDOW)]), stop - length, stop)


def _numbers(spelled: bytes, start: Int64s, stop: Int64s) -> UInt64s:
    """A number for each of some words: what its bytes make, or its hash if it is long."""
    windows = np.ndarray(len(spelled) - _WINDOW + 1, "<u8", spelled, strides=(1,))
    length = stop - start
    numbers = _mixed(windows[start] & _MASKS.take(length, mode="clip"))
    more = np.flatnonzero(length > _WINDOW)
    rest = length[more] - _WINDOW
    numbers[more] += windows[start[more] + _WINDOW] & _MASKS.take(rest, mode="clip")
    numbers[more] = _mixed(numbers[more])
    long = more[rest > _WINDOW]
    bounds = zip(start[long].tolist(), stop[long].tolist(), strict=True)
    hashes = [hash(spelled[begin:end]) for begin, end in bounds]
    numbers[long] = np.array(hashes, np.int64).view(np.uint64)
    return numbers


def _mixed(numbers: UInt64s) -> UInt64s:
    """Other numbers, one for each, of which any part tells them apart."""
    numbers = numbers * _BASE
    return numbers ^ numbers >> _HALF
