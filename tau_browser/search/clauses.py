"""Terms as queries of the index."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum

import tantivy

from tau_browser.search.analysis import FIRST, pairs, stem
from tau_browser.search.documents import Part
from tau_browser.search.index.postings import EXTRA, STEM, schema
from tau_browser.search.words import Wanted

_SHORTEST_PREFIX = 2
_SHORTEST_INSIDE = 3
_SHORTEST_MISTYPED = 4
_EXACT, _EXTRA, _PAIR = 0.4, 0.2, 0.3
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_ESCAPED = re.compile(r"([^\w])")

Boosts = dict[Part, float]
"""What a word counts in a part."""


class Widened(StrEnum):
    """What was sought instead of a word that is nowhere."""

    INSIDE = "inside words"
    TYPO = "one letter off"


def every(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """All of them must match."""
    return tantivy.Query.boolean_query([(_MUST, query) for query in queries])


def some(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """One of them must match; each that does adds to the score."""
    return tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])


def clause(wanted: Wanted, boosts: Boosts) -> tantivy.Query:
    """What a term asks of the index; nothing if the index holds nothing of it."""
    if wanted.signed and not wanted.term.text[:1].isdigit():  # c++ is not c
        return some(_terms(wanted.signed))
    asked = [_run(run, wanted.is_exact) for run in wanted.runs]
    if wanted.tokens:
        asked.append(some(_of_tokens(wanted, boosts)))
    return every(asked) if asked else tantivy.Query.empty_query()


def widened(wanted: Wanted, how: Widened, boosts: Boosts) -> tantivy.Query | None:
    """What could have been meant by words that are nowhere; None if nothing can be told."""
    tokens = wanted.tokens
    if wanted.is_exact or wanted.runs or not tokens:
        return None
    if how is Widened.INSIDE:
        if sum(map(len, tokens)) < _SHORTEST_INSIDE:
            return None
        if len(tokens) == 1:
            return _in_parts(boosts, lambda part: _matching(part, f".*{_spelled(tokens[0])}.*"))
        around = [f".*{_spelled(tokens[0])}", *map(_spelled, tokens[1:-1])]
        return _phrase_of_patterns([*around, f"{_spelled(tokens[-1])}.*"], boosts)
    if len(tokens) > 1 or len(tokens[0]) < _SHORTEST_MISTYPED:
        return None
    return _in_parts(
        boosts, lambda part: tantivy.Query.fuzzy_term_query(schema(), part, tokens[0], 1)
    )


def _of_tokens(wanted: Wanted, boosts: Boosts) -> list[tantivy.Query]:
    tokens = wanted.tokens
    found = [_in_parts(boosts, lambda part: _phrase(part, tokens))]
    if not wanted.is_exact:
        if len(tokens) == 1 and (stemmed := stem(tokens[0])):
            found.append(_term(STEM, stemmed))
        found += _boosted(_EXTRA, _extras(wanted))
        if wanted.parts and wanted.parts != tokens:
            found.append(_in_parts(boosts, lambda part: _phrase(part, wanted.parts)))
    if wanted.is_prefix and len(tokens[-1]) >= _SHORTEST_PREFIX:
        found.append(_prefix(tokens, boosts))
    return found


def _extras(wanted: Wanted) -> list[tantivy.Query]:
    """A word as a part of identifiers, an identifier by its parts, a version."""
    if wanted.parts:
        first, *rest = wanted.parts
        phrases = [_phrase(EXTRA, [FIRST + first, *rest]), _phrase(EXTRA, wanted.parts)]
        return phrases + _terms(wanted.signed)
    if len(wanted.tokens) == 1:
        return _terms([wanted.tokens[0], FIRST + wanted.tokens[0]])
    return _terms(wanted.signed)


def _run(run: str, is_exact: bool) -> tantivy.Query:
    """A stretch without spaces: as it stands, or else by its pairs."""
    whole = _phrase(EXTRA, list(run))
    if is_exact or len(run) < 3:
        return whole
    return some([whole, *_boosted(_PAIR, _terms(pairs(run)))])


def _prefix(tokens: list[str], boosts: Boosts) -> tantivy.Query:
    last = f"{_spelled(tokens[-1])}.*"
    if len(tokens) > 1:
        return _phrase_of_patterns([*map(_spelled, tokens[:-1]), last], boosts)
    in_extras = _matching(EXTRA, rf"\{FIRST}?{last}")
    return some([_in_parts(boosts, lambda part: _matching(part, last)), in_extras])


def _in_parts(boosts: Boosts, query: Callable[[Part], tantivy.Query]) -> tantivy.Query:
    return some(
        tantivy.Query.boost_query(query(part), _EXACT * boost) for part, boost in boosts.items()
    )


def _phrase_of_patterns(patterns: list[str], boosts: Boosts) -> tantivy.Query:
    return _in_parts(
        boosts, lambda part: tantivy.Query.regex_phrase_query(schema(), part, [*patterns])
    )


def _phrase(field: str, tokens: list[str]) -> tantivy.Query:
    if len(tokens) == 1:
        return _term(field, tokens[0])
    return tantivy.Query.phrase_query(schema(), field, [*tokens])


def _terms(tokens: Iterable[str]) -> list[tantivy.Query]:
    return [_term(EXTRA, token) for token in tokens]


def _term(field: str, token: str) -> tantivy.Query:
    return tantivy.Query.term_query(schema(), field, token)


def _matching(field: str, pattern: str) -> tantivy.Query:
    return tantivy.Query.regex_query(schema(), field, pattern)


def _boosted(boost: float, queries: Iterable[tantivy.Query]) -> list[tantivy.Query]:
    return [tantivy.Query.boost_query(query, boost) for query in queries]


def _spelled(token: str) -> str:
    """A token as a pattern that matches it alone."""
    return _ESCAPED.sub(r"\\\1", token)
