"""Vectors of texts from a static table: what MiniLM makes of each word piece by itself.

The table (`table.npz`, built by scripts/distil_table.py) comes with the package, so that search by
meaning works right after the install, offline, with numpy alone. A text is the mean of its pieces,
weighted by how rare they are. That knows no word order and no negation; it buys recall, not rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

from tau_browser.search.semantic.int8 import Floats
from tau_browser.search.semantic.wordpiece import PlainPieces, WordPiece, plain_words

DIMENSIONS = 256
TABLE = Path(__file__).with_name("table.npz")
TABLE_SHA256 = "b9ce679e72ba869b5101cc3ccb6e0ceee6113cf984f3f18c4be2a2c6fe0f9d7e"
"""Of the table that is shipped. Vectors made with another one cannot be compared with its."""

# Pieces of a text summed at a time: 4 MB of numbers.
_BATCH = 1 << 12


class StaticTable:
    """A vector for each word piece, and the pieces themselves."""

    def __init__(self, vectors: Floats, vocabulary: Sequence[str]) -> None:
        self._vectors = vectors
        self.spread: Floats = vectors.std(axis=0)
        """How far the numbers of each dimension lie from 0: (256)."""
        self.wordpiece = WordPiece(vocabulary)
        self._pieces = PlainPieces(self.wordpiece)

    def encode(self, texts: Iterable[str]) -> Floats:
        """One vector of length 1 per text: (n, 256). A text without a known word has the zero
        vector, which is like nothing."""
        return self.encode_pieces([self._pieces_of(text) for text in texts])

    def encode_pieces(self, texts: Sequence[Sequence[int]]) -> Floats:
        """The same for texts that are cut into pieces already."""
        sums = np.zeros((len(texts), self._vectors.shape[1]), np.float32)
        for pieces, total in zip(texts, sums, strict=True):
            for first in range(0, len(pieces), _BATCH):
                total += self._vectors.take(pieces[first : first + _BATCH], axis=0).sum(axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        lengths[lengths == 0] = 1
        sums /= lengths[:, None]
        return sums

    def _pieces_of(self, text: str) -> list[int]:
        return list(chain.from_iterable(map(self._pieces.__getitem__, plain_words(text))))


@cache
def static_table() -> StaticTable:
    """The table that is shipped. The first call takes some tenths of a second."""
    return read_table(TABLE)


def read_table(path: Path) -> StaticTable:
    """The table in a file."""
    with np.load(path, allow_pickle=False) as stored:
        vectors = stored["rows"].astype(np.float32)
        vectors *= stored["scales"][:, None]
        return StaticTable(vectors, stored["vocabulary"].tobytes().decode().split("\n"))
