"""The first hits of a search, scored again by the model that reads sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from tau_browser.search.semantic.int8 import Floats
from tau_browser.search.semantic.minilm import MiniLM
from tau_browser.search.semantic.table import StaticTable
from tau_browser.search.semantic.vector_cache import VectorCache
from tau_browser.search.semantic.wordpiece import bert_words

WINDOW = 192
"""Pieces that the model reads at a time, its two marks counted: it was trained on 128, and knows
how to read 512."""
WINDOWS = 2
"""Windows read of a text: those that the static table finds nearest to the query."""

# What comes later in a text is not looked at: a window for each thousand characters is enough to
# choose from.
_LONGEST_TEXT = 64_000


class Reranker:
    """Scores texts by the cosine of their vectors with the query's, as MiniLM makes them."""

    def __init__(self, model: MiniLM, table: StaticTable, cache: VectorCache) -> None:
        self._model = model
        self._table = table
        self._cache = cache

    def scores(self, query: str, texts: Iterable[str]) -> Iterator[float]:
        """The score of each text in turn, -1 to 1: that of its nearest window.

        For a thread of its own: each takes tens of milliseconds, unless it is in the cache. To
        cancel, stop asking; nothing runs on. A text without words scores 0, and so do all texts
        if the query has no word in the Latin script: the model was trained on English.
        """
        hint = self._table.encode([query])[0]
        if not hint.any():
            yield from (0.0 for _ in texts)
            return
        vector = self._model.encode(self._pieces(query, WINDOW - 2))
        for text in texts:
            yield self._score(vector, self._nearest_windows(hint, text))

    def _score(self, vector: Floats, windows: list[Sequence[int]]) -> float:
        cosines = (np.einsum("i,i", vector, self._vector(window)) for window in windows)
        return max(map(float, cosines), default=0.0)

    def _nearest_windows(self, hint: Floats, text: str) -> list[Sequence[int]]:
        pieces = self._pieces(text[:_LONGEST_TEXT])
        size = WINDOW - 2
        windows: list[Sequence[int]] = [
            pieces[first : first + size] for first in range(0, len(pieces), size)
        ]
        if len(windows) <= WINDOWS:
            return windows
        cosines = np.einsum("ij,j->i", self._table.encode_pieces(windows), hint)
        return [windows[at] for at in np.argsort(-cosines, kind="stable")[:WINDOWS]]

    def _vector(self, pieces: Sequence[int]) -> Floats:
        key = hashlib.sha256(np.array(pieces, "<u2").tobytes()).digest()[:16]
        vector = self._cache.get(key)
        if vector is None:
            vector = self._model.encode(pieces)
            self._cache.put(key, vector)
        return vector

    def _pieces(self, text: str, most: int | None = None) -> list[int]:
        cut = self._table.wordpiece.pieces
        return list(islice(chain.from_iterable(map(cut, bert_words(text))), most))
