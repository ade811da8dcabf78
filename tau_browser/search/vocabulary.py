"""All words of an index in one string: which of them hold a few letters, which are one letter off.

It is written down beside the index, and may be a little older than it: words are looked up here
only when what was typed is nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import tantivy

from tau_browser.search.documents import Part

_SHORTEST = 3
_MOST_FOUND = 1000  # words; what so many hold says nothing
_END = "\n"


def words_of(searcher: tantivy.Searcher) -> str:
    """The words that an index holds, each once, in order, one a line."""
    found: set[str] = set()
    for part in Part:
        found.update(word for word, _ in searcher.terms_with_prefix(part, ""))
    return _END.join(["", *sorted(word for word in found if len(word) >= _SHORTEST), ""])


class Vocabulary:
    """The words as `words_of` gave them."""

    def __init__(self, words: str) -> None:
        self._words = words

    def holding(self, letters: str) -> list[str]:
        """Words that hold these letters; at most so many."""
        return list(islice(self._lines_with(letters), _MOST_FOUND))

    def one_off(self, word: str) -> list[str]:
        """Words that differ by one letter: another, missing, or swapped with the next."""
        half = len(word) // 2
        # One change leaves the first or the second half whole, but for a swap across the middle.
        swapped = word[: half - 1] + word[half] + word[half - 1] + word[half + 1 :]
        near = {
            *self._lines_with(_END + word[:half]),
            *self._lines_with(word[half:] + _END),
            *self._lines_with(_END + swapped + _END),
        }
        return sorted(each for each in near if each != word and is_one_off(each, word))

    def _lines_with(self, letters: str) -> Iterator[str]:
        at = self._words.find(letters)
        while at >= 0:
            start = self._words.rfind(_END, 0, at + 1) + 1
            stop = self._words.find(_END, max(start, at + 1))
            yield self._words[start:stop]
            at = self._words.find(letters, max(stop, at + 1))


def is_one_off(one: str, other: str) -> bool:
    """Whether two different words become the same when one letter of one is changed, left out or
    swapped with the next."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    if len(one) == len(other):
        return one[1:] == other[1:] or (one[:2] == other[1::-1] and one[2:] == other[2:])
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer[1:] == shorter
