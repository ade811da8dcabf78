"""Text as it is compared, and the way back from there to the text as it is stored.

Unicode spells one thing in many ways. Both sides of a comparison are folded: to one normal form
(é is é however it was typed, fullwidth is plain), and, where case does not matter, to one case in
any script (ß is ss, Σ and ς are σ, İ is i). Folding changes lengths, so `Folded` keeps the map.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

import regex

Fold = Callable[[str], str]

# Nothing is ever composed across the start of an ASCII character, so text may be folded in pieces
# that start there: stretches of ASCII, and stretches of the rest with the one ASCII character
# before them, to which their first mark may belong.
_PIECE = re.compile(r"[\x00-\x7f]+(?![^\x00-\x7f])|[\x00-\x7f]?[^\x00-\x7f]+")
_CLUSTER = regex.compile(r"\X")
_DOTTED_I = "i\u0307"  # what casefold makes of İ


def fold_form(text: str) -> str:
    """Text in one normal form (NFKC); case stays."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def fold_case(text: str) -> str:
    """Text in one normal form and one case."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold().replace(_DOTTED_I, "i")
    return unicodedata.normalize("NFC", folded)


class Folded:
    """A text as it is compared (`text`, the same as `fold(stored)`), and where it came from."""

    def __init__(self, stored: str, fold: Fold) -> None:
        self._fold = fold
        self._pieces: list[str] = _PIECE.findall(stored)
        self._folded = [fold(piece) for piece in self._pieces]
        self._starts = [0, *accumulate(map(len, self._pieces))]
        self._folded_starts = [0, *accumulate(map(len, self._folded))]
        self._clusters: dict[int, tuple[list[int], list[int]]] = {}
        self.text = "".join(self._folded)

    def stored(self, start: int, stop: int) -> tuple[int, int]:
        """The whole characters, as people count them, that the range start < stop came from."""
        return self._origin(start)[0], self._origin(stop - 1)[1]

    def _origin(self, at: int) -> tuple[int, int]:
        """The range of the character, as people count them, that is folded to what is at `at`."""
        piece = bisect_right(self._folded_starts, at) - 1
        base, at = self._starts[piece], at - self._folded_starts[piece]
        if self._pieces[piece].isascii():
            return base + at, base + at + 1
        if piece not in self._clusters:
            self._clusters[piece] = self._align(piece)
        starts, folded_starts = self._clusters[piece]
        cluster = bisect_right(folded_starts, at) - 1
        return base + starts[cluster], base + starts[cluster + 1]

    def _align(self, piece: int) -> tuple[list[int], list[int]]:
        """Where each cluster of a piece starts, stored and folded; the ends of the piece last."""
        clusters: list[str] = _CLUSTER.findall(self._pieces[piece])
        if "".join(map(self._fold, clusters)) != self._folded[piece]:
            clusters = self._join_dependent(clusters)
        folded = map(len, map(self._fold, clusters))
        return [0, *accumulate(map(len, clusters))], [0, *accumulate(folded)]

    def _join_dependent(self, clusters: list[str]) -> list[str]:
        """Clusters with those joined that fold to something else together than one by one.

        Letters of the Hangul compatibility block are such: apart by themselves, composed by NFKC.
        """
        joined = clusters[:1]
        for cluster in clusters[1:]:
            together = joined[-1] + cluster
            if self._fold(together) == self._fold(joined[-1]) + self._fold(cluster):
                joined.append(cluster)
            else:
                joined[-1] = together
        return joined
