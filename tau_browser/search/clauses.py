"""Terms as queries of the index."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import tantivy

from tau_browser.search.analysis import FIRST, pairs, stem
from tau_browser.search.documents import Part
from tau_browser.search.index.postings import EXTRA, STEM, schema
from tau_browser.search.vocabulary import Vocabulary
from tau_browser.search.words import Wanted

_SHORTEST_PREFIX = 2
_SHORTEST_INSIDE = 3
_SHORTEST_MISTYPED = 4
# Tried on the labelled queries (tests/eval).
_EXACT, _EXTRA, _PAIR = 0.4, 0.2, 0.3
# Times the rarity of a word: BM25 gives 2.2 at most, and all that is added for it some 4 more.
_MOST_WORTH = 8.0
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_ESCAPED = re.compile(r"([^\w])")
_SCHEMA = schema()

# Where it counts that the very word is there, and not just one of its stem. To go through all
# that tools printed once more would take longer than the rest, and changes little.
_SAID = (Part.TITLE, Part.USER, Part.ASSISTANT)

Boosts = dict[Part, float]
"""What a word counts in a part."""


class How(StrEnum):
    """How something else is sought instead of a word that is nowhere."""

    INSIDE = "inside words"
    TYPO = "one letter off"


@dataclass(frozen=True, slots=True)
class Widened:
    """What is sought instead. `words`: in place of the one; () for several words in a row, of
    which the first may begin and the last may end inside a word."""

    how: How
    words: tuple[str, ...]


def widenings(wanted: Wanted, vocabulary: Vocabulary) -> Iterable[Widened]:
    """What could have been meant by words that are nowhere, the likelier first."""
    tokens = wanted.tokens
    if wanted.is_exact or wanted.runs or not tokens:
        return
    if len(tokens) > 1:
        yield Widened(How.INSIDE, ())
        return
    if len(tokens[0]) >= _SHORTEST_INSIDE and (found := vocabulary.holding(tokens[0])):
        yield Widened(How.INSIDE, tuple(found))
    if len(tokens[0]) >= _SHORTEST_MISTYPED and (found := vocabulary.one_off(tokens[0])):
        yield Widened(How.TYPO, tuple(found))


class Clauses:
    """Builds queries for one snapshot of the index."""

    def __init__(self, searcher: tantivy.Searcher, boosts: Boosts) -> None:
        self._searcher = searcher
        self._boosts = boosts
        self._said = [part for part in boosts if part in _SAID]

    def of(self, wanted: Wanted, widened: Widened | None = None) -> tantivy.Query:
        """What a term asks of the index; nothing if the index holds nothing of it."""
        return some(self.any_of(wanted, widened))

    def any_of(self, wanted: Wanted, widened: Widened | None = None) -> list[tantivy.Query]:
        """The same as queries of which one must match: a flat list is faster to go through."""
        if widened is not None:
            return self._instead(wanted, widened)
        if wanted.is_signed:
            return _terms(wanted.signed)
        if not wanted.runs:
            return self._tokens(wanted) if wanted.tokens else []
        runs = [_run(run, wanted.is_exact) for run in wanted.runs]
        return [every([*runs, *map(self._word, wanted.tokens)])]

    def test_of(self, wanted: Wanted, widened: Widened | None = None) -> tantivy.Query:
        """What matches the same entries as `of`, with scores that mean nothing, but faster."""
        if widened is None and _is_told_by_stem(wanted):
            return _term(STEM, stem(wanted.tokens[0]))
        return self.of(wanted, widened)

    def exists(self, wanted: Wanted, widened: Widened | None = None) -> bool:
        """Whether anything matches."""
        if widened is None and _is_told_by_stem(wanted):
            return self._searcher.doc_freq(STEM, stem(wanted.tokens[0])) > 0
        return bool(self._searcher.search(self.of(wanted, widened), 1, count=False).hits)

    def worth(self, wanted: Wanted) -> float:
        """More than any entry can score for this term."""
        pieces = 1 + len(wanted.tokens) + 2 * sum(map(len, wanted.runs))
        return _MOST_WORTH * pieces * math.log(2 + self._searcher.num_docs)

    def _instead(self, wanted: Wanted, widened: Widened) -> list[tantivy.Query]:
        if widened.words:
            return self._in_parts(lambda part: _any_of(part, widened.words))
        first, *middle, last = map(_spelled, wanted.tokens)
        return self._phrase_of_patterns([f".*{first}", *middle, f"{last}.*"])

    def _word(self, token: str) -> tantivy.Query:
        """A word between stretches without spaces."""
        return some(self._in_parts(lambda part: _term(part, token)))

    def _tokens(self, wanted: Wanted) -> list[tantivy.Query]:
        """The ranking is that of the stems, over all that an entry says. That the very word is
        there, or the words in a row, adds to it, by the part and by how rare the word is: BM25 of
        a single part would measure how many entries have that part more than anything else."""
        tokens = wanted.tokens
        stems = [_term(STEM, stemmed) for stemmed in map(stem, tokens) if stemmed]
        rarity = sum(map(self._rarity, map(stem, tokens)))
        is_stem = len(tokens) == 1 and not wanted.is_exact
        parts = self._said if is_stem else self._boosts
        found = self._in_parts(lambda part: _phrase(part, tokens), rarity, parts)
        if not wanted.is_exact:
            found += _scored(_EXTRA * rarity, _extras(wanted))
            if wanted.parts and wanted.parts != tokens:
                found += self._in_parts(lambda part: _phrase(part, wanted.parts), rarity)
        if wanted.is_prefix and len(tokens[-1]) >= _SHORTEST_PREFIX:
            found += self._prefix(tokens)
        if is_stem:
            return [*stems, *found]
        return [
            tantivy.Query.boolean_query([(_MUST, some(found)), *((_SHOULD, it) for it in stems)])
        ]

    def _rarity(self, stemmed: str) -> float:
        """The inverse document frequency of a stem, as in BM25."""
        count, having = self._searcher.num_docs, self._searcher.doc_freq(STEM, stemmed)
        return math.log(1 + (count - having + 0.5) / (having + 0.5))

    def _prefix(self, tokens: list[str]) -> list[tantivy.Query]:
        *before, last = tokens
        if before:
            patterns = [*map(_spelled, before), f"{_spelled(last)}.*"]
            return self._phrase_of_patterns(patterns)
        in_extras = [*self._beginning(EXTRA, last), *self._beginning(EXTRA, FIRST + last)]
        in_parts = self._in_parts(lambda part: _any_of(part, self._beginning(part, last)))
        return [*in_parts, *_scored(_EXTRA, [_any_of(EXTRA, in_extras)])]

    def _beginning(self, field: str, letters: str) -> list[str]:
        return [word for word, _ in self._searcher.terms_with_prefix(field, letters)]

    def _in_parts(
        self,
        query: Callable[[Part], tantivy.Query],
        rarity: float = 1.0,
        parts: Iterable[Part] | None = None,
    ) -> list[tantivy.Query]:
        return [
            tantivy.Query.const_score_query(query(part), _EXACT * self._boosts[part] * rarity)
            for part in (self._boosts if parts is None else parts)
        ]

    def _phrase_of_patterns(self, patterns: list[str]) -> list[tantivy.Query]:
        return self._in_parts(
            lambda part: tantivy.Query.regex_phrase_query(_SCHEMA, part, [*patterns])
        )


def every(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """All of them must match."""
    return tantivy.Query.boolean_query([(_MUST, query) for query in queries])


def some(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """One of them must match; each that does adds to the score."""
    return tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])


def _is_told_by_stem(wanted: Wanted) -> bool:
    """Whether all that is sought is a word, and its stem alone tells which entries hold it."""
    is_word = len(wanted.tokens) == 1 and not (wanted.runs or wanted.is_signed or wanted.parts)
    return is_word and not (wanted.is_exact or wanted.is_prefix)


def _extras(wanted: Wanted) -> list[tantivy.Query]:
    """An identifier by its parts, a version."""
    if not wanted.parts:
        return _terms(wanted.signed)
    first, *rest = wanted.parts
    phrases = [_phrase(EXTRA, [FIRST + first, *rest]), _phrase(EXTRA, wanted.parts)]
    return phrases + _terms(wanted.signed)


def _run(run: str, is_exact: bool) -> tantivy.Query:
    """A stretch without spaces: as it stands, or else by its pairs."""
    whole = _phrase(EXTRA, list(run))
    if is_exact or len(run) < 3:
        return whole
    return some([whole, *_boosted(_PAIR, _terms(pairs(run)))])


def _phrase(field: str, tokens: list[str]) -> tantivy.Query:
    if len(tokens) == 1:
        return _term(field, tokens[0])
    return tantivy.Query.phrase_query(_SCHEMA, field, [*tokens])


def _any_of(field: str, words: Iterable[str]) -> tantivy.Query:
    return tantivy.Query.term_set_query(_SCHEMA, field, [*words])


def _terms(tokens: Iterable[str]) -> list[tantivy.Query]:
    return [_term(EXTRA, token) for token in tokens]


def _term(field: str, token: str) -> tantivy.Query:
    return tantivy.Query.term_query(_SCHEMA, field, token)


def _boosted(boost: float, queries: Iterable[tantivy.Query]) -> list[tantivy.Query]:
    return [tantivy.Query.boost_query(query, boost) for query in queries]


def _scored(score: float, queries: Iterable[tantivy.Query]) -> list[tantivy.Query]:
    return [tantivy.Query.const_score_query(query, score) for query in queries]


def _spelled(token: str) -> str:
    """A token as a pattern that matches it alone."""
    return _ESCAPED.sub(r"\\\1", token)
