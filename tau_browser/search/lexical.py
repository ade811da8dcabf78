"""BM25 over the index: which entries hold the words of a query, the best first.

Phrases must be there. Of words, entries that hold all come before those that hold some, as long
as the words are few; of a sentence any will do. A word that is nowhere is sought inside others,
then one letter off, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import tantivy

from tau_browser.search.clauses import Boosts, Widened, clause, every, widened
from tau_browser.search.documents import Part
from tau_browser.search.index.postings import PART, TIME
from tau_browser.search.index.reader import Reader
from tau_browser.search.matching import Check, checks_of
from tau_browser.search.query import Kind, Query
from tau_browser.search.words import Wanted, wanted, wanted_of

_MUST, _MUST_NOT, _SHOULD = tantivy.Occur.Must, tantivy.Occur.MustNot, tantivy.Occur.Should
_FEW_WORDS = 3
"""So many words are all meant; of more, a sentence, any may do."""
_MOST_WIDENED = 8  # words that are looked up one by one
_K1, _B = 1.2, 0.75  # of BM25 in tantivy
_RAREST = 0.01
_COUNTS: Boosts = {
    Part.TITLE: 2.0,
    Part.USER: 1.2,
    Part.ASSISTANT: 1.1,
    Part.TOOL: 1.0,
    Part.NOTE: 0.9,
    Part.ARGUMENTS: 0.9,
    Part.THINKING: 0.8,
    Part.OUTPUT: 0.8,
}

TextOf = Callable[[int], str]
"""The text of a content, for what words alone do not tell."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What holds the words of a query. `hits`: (content, score), the best first, of `total` ·
    `whole`: how many of the total hold all the words · `widened`: what was sought instead of a
    word that is nowhere, by term as typed"""

    hits: list[tuple[int, float]]
    total: int
    whole: int
    widened: dict[str, Widened] = field(default_factory=dict)


def can_rank(query: Query) -> bool:
    """Whether the index can answer: there is a word, or nothing but filters. Signs and
    expressions alone can only be found by a scan of the texts."""
    return not query.sought or any(each.is_indexed for each in wanted(query))


def search(
    reader: Reader,
    query: Query,
    *,
    limit: int,
    offset: int = 0,
    paths: Collection[str] | None = None,
    text_of: TextOf | None = None,
) -> Matches:
    """The entries that match, of these session files or of all. `text_of` is needed for queries
    with expressions or signs. Raises NoIndex, and QueryError if an expression takes too long."""
    asked = _Asked(reader, query, paths)
    with reader.guarded():
        if checks := checks_of(query):
            assert text_of is not None, "this query cannot be answered without the texts"
            return asked.checked(checks, text_of, limit, offset)
        return asked.matches(limit, offset)


class _Asked:
    """A query put to one snapshot of the index."""

    def __init__(self, reader: Reader, query: Query, paths: Collection[str] | None) -> None:
        self._reader = reader
        self._searcher = reader.searcher
        self._boosts = _boosts(self._searcher)
        self._widened: dict[str, Widened] = {}
        condition = reader.select(query, paths).condition
        self._conditions = [] if condition is None else [(_MUST, condition)]
        excluded = (wanted_of(term) for term in query.terms if term.negated)
        for each in excluded:
            if each.is_indexed and not each.needs_text and each.term.kind is not Kind.REGEX:
                self._conditions.append((_MUST_NOT, clause(each, self._boosts)))
        self._wanted = [each for each in wanted(query) if each.is_indexed] if query.sought else []
        self._clauses = self._clauses_of(self._wanted)

    def matches(self, limit: int, offset: int) -> Matches:
        if not self._wanted:
            return self._newest(limit, offset)
        query, whole = self._ranked()
        found = self._searcher.search(query, limit, offset=offset)
        return Matches(self._hits(found), _count(found), whole, self._widened)

    def checked(self, checks: Sequence[Check], text_of: TextOf, limit: int, offset: int) -> Matches:
        """The matches whose texts pass all checks."""
        most = max(1, self._searcher.num_docs)
        found = self.matches(most, 0)
        hits = [hit for hit in found.hits if all(map(_Passes(text_of(hit[0])), checks))]
        return Matches(hits[offset : offset + limit], len(hits), len(hits), self._widened)

    def _newest(self, limit: int, offset: int) -> Matches:
        """All that passes the filters, by time: there is nothing to rank it by."""
        found = self._searcher.search(
            self._filtered([(_MUST, tantivy.Query.all_query())]),
            limit,
            offset=offset,
            order_by_field=TIME,
        )
        keys = self._reader.keys([address for _, address in found.hits])
        return Matches([(key, 0.0) for key in keys], _count(found), _count(found))

    def _clauses_of(self, all_wanted: Sequence[Wanted]) -> list[tantivy.Query]:
        clauses = [clause(each, self._boosts) for each in all_wanted]
        if len(clauses) > _MOST_WIDENED:
            return clauses
        for at, each in enumerate(all_wanted):
            if not self._exists(clauses[at]):
                clauses[at] = self._widen(each) or clauses[at]
        return clauses

    def _widen(self, each: Wanted) -> tantivy.Query | None:
        for how in Widened:
            query = widened(each, how, self._boosts)
            if query is not None and self._exists(query):
                self._widened[each.term.text] = how
                return query
        return None

    def _ranked(self) -> tuple[tantivy.Query, int]:
        """The query that ranks, and how many entries hold all of it."""
        pairs = list(zip(self._wanted, self._clauses, strict=True))
        required = [(_MUST, query) for each, query in pairs if each.term.kind is Kind.PHRASE]
        loose = [(_SHOULD, query) for each, query in pairs if each.term.kind is not Kind.PHRASE]
        main = tantivy.Query.boolean_query([*required, *loose])
        if len(loose) + bool(required) < 2:
            query = self._filtered([(_MUST, main)])
            return query, _count(self._searcher.search(query, 1))
        every_one = every(self._clauses)
        whole = _count(self._searcher.search(self._filtered([(_MUST, every_one)]), 1))
        if whole and len(self._clauses) <= _FEW_WORDS:
            # as much as the best score: so none that holds some comes before one that holds all
            best = self._searcher.search(self._filtered([(_MUST, main)]), 1, count=False)
            bonus = tantivy.Query.const_score_query(every_one, best.hits[0][0])
            main = tantivy.Query.boolean_query([(_MUST, main), (_SHOULD, bonus)])
        return self._filtered([(_MUST, main)]), whole

    def _filtered(self, clauses: list[tuple[tantivy.Occur, tantivy.Query]]) -> tantivy.Query:
        return tantivy.Query.boolean_query([*clauses, *self._conditions])

    def _exists(self, query: tantivy.Query) -> bool:
        return bool(self._searcher.search(query, 1, count=False).hits)

    def _hits(self, found: tantivy.SearchResult) -> list[tuple[int, float]]:
        keys = self._reader.keys([address for _, address in found.hits])
        return [(key, score) for key, (score, _) in zip(keys, found.hits, strict=True)]


def _boosts(searcher: tantivy.Searcher) -> Boosts:
    """What a word counts in the parts that there are.

    BM25 measures a text against the average of all entries, those without this part included, so
    that in a part that few have every text seems long. A text of the average length counts as
    much in each part once this is taken out.
    """
    boosts: Boosts = {}
    for part, count in _COUNTS.items():
        if having := searcher.doc_freq(PART, part):
            share = max(having / searcher.num_docs, _RAREST)
            boosts[part] = count * (1 + _K1 * (1 - _B + _B / share)) / (1 + _K1)
    return boosts


def _count(found: tantivy.SearchResult) -> int:
    """How many match. The library's type stubs do not know of it."""
    return int(getattr(found, "count", 0) or 0)


class _Passes:
    """Whether a text passes a check."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, check: Check) -> bool:
        return check.pattern.matches(self._text) != check.negated
