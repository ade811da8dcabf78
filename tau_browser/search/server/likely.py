"""Which words of an entry late interaction probably matched.

A server does not say. What it tells are the tokens that it compared with the query's; how near
they are to the words of the query is told here by the static table, whose vectors are not those
of the server's model: an approximation, and shown as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tau_browser.search.query import Query
from tau_browser.search.results import Likely
from tau_browser.search.snippets import Encode
from tau_browser.search.words import wanted
from tau_browser.stores.jmfts.documents import Token

_NEAR = 0.4
"""Cosine from which two words are near; of a hundred pairs of any words, one is as near."""
_SHORTEST = 3  # letters of a word that says anything
_MARKS = "Ġ▁"  # where some tokenizers say that a word begins


def likely(query: Query, tokens: Sequence[Token], text: str, encode: Encode) -> list[Likely]:
    """For each word of a query the nearest of the words that an entry's tokens make, where one is
    near at all; what is nearest first."""
    sought = list(dict.fromkeys(word for each in wanted(query) for word in each.tokens))
    places = {word: _places(word, text) for word in _words(tokens)}
    words = [word for word, spans in places.items() if spans]
    if not sought or not words:
        return []
    found: list[Likely] = []
    for word, row in zip(sought, encode(sought) @ encode(words).T, strict=True):
        at = int(row.argmax())
        if row[at] >= _NEAR:
            near = min(1.0, round(float(row[at]), 2))
            found.append(Likely(words[at], word, near, places[words[at]]))
    return sorted(found, key=lambda each: -each.nearness)


def _words(tokens: Sequence[Token]) -> list[str]:
    """The words that tokens make: pieces of one word follow each other."""
    words: list[str] = []
    last = -2
    for token in sorted(tokens, key=lambda each: each.token_idx):
        piece = token.token_text.lower().lstrip(_MARKS)
        if not piece.startswith("##"):
            words.append(piece)
        elif words and token.token_idx == last + 1:
            words[-1] += piece[2:]
        last = token.token_idx
    return [word for word in dict.fromkeys(words) if len(word) >= _SHORTEST]


def _places(word: str, text: str) -> list[tuple[int, int]]:
    """Where a word stands by itself in a text."""
    found = re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return [match.span() for match in found]
