"""A query put to one snapshot of the index: terms and filters as one query of the index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import tantivy

from tau_browser.search.clauses import Boosts, Widened, clause, every, widened
from tau_browser.search.documents import Part
from tau_browser.search.index.postings import PART, TIME
from tau_browser.search.index.selection import Selection
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


class Snapshot(Protocol):
    """An index at one moment, on disk or in memory."""

    searcher: tantivy.Searcher

    @property
    def count(self) -> int:
        """How many contents there are."""
        ...

    def having(self, stem: str) -> int:
        """How many contents hold a word of this stem."""
        ...

    def select(self, query: Query, paths: Collection[str] | None = None) -> Selection:
        """What a query's filters leave of some session files, or of all."""
        ...

    def keys(self, addresses: list[tantivy.DocAddress]) -> list[int]:
        """The keys of contents."""
        ...


def widened_words(query: Query, snapshots: Sequence[Snapshot]) -> dict[str, Widened]:
    """Which words of a query are nowhere, and how they are to be sought instead. A query of many
    words does without."""
    sought = _indexed(query)
    if len(sought) > _MOST_WIDENED:
        return {}
    boosts = dict.fromkeys(Part, 1.0)

    def is_anywhere(asked: tantivy.Query) -> bool:
        return any(each.searcher.search(asked, 1, count=False).hits for each in snapshots)

    found: dict[str, Widened] = {}
    for each in sought:
        if not is_anywhere(clause(each, boosts)):
            for how in Widened:
                asked = widened(each, how, boosts)
                if asked is not None and is_anywhere(asked):
                    found[each.term.text] = how
                    break
    return found


class Asked:
    """One query and one snapshot."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: Query,
        paths: Collection[str] | None,
        widenings: Mapping[str, Widened],
    ) -> None:
        self._snapshot = snapshot
        self._boosts = _boosts(snapshot)
        self._conditions: list[tuple[tantivy.Occur, tantivy.Query]] = []
        condition = snapshot.select(query, paths).condition
        if condition is not None:
            self._conditions.append((_MUST, condition))
        for term in query.terms:
            each = wanted_of(term)
            if term.negated and each.is_told_by_words:
                self._conditions.append((_MUST_NOT, clause(each, self._boosts)))
        self._wanted = _indexed(query)
        self._clauses = [self._clause(each, widenings) for each in self._wanted]
        self.whole = self._count(every(self._clauses)) if self._clauses else 0
        """How many entries hold all the terms."""

    @property
    def count(self) -> int:
        """More than there can be hits."""
        return self._snapshot.count + 1

    def hits(self, limit: int) -> tuple[list[tuple[int, float]], int]:
        """The best entries with their scores, and how many there are in all."""
        by_time = None if self._clauses else TIME
        query = self._filtered(self._ranked() if self._clauses else tantivy.Query.all_query())
        found = self._snapshot.searcher.search(query, limit, order_by_field=by_time)
        keys = self._snapshot.keys([address for _, address in found.hits])
        scored = zip(keys, found.hits, strict=True)
        return [(key, float(score or 0)) for key, (score, _) in scored], _count(found)

    def _clause(self, each: Wanted, widenings: Mapping[str, Widened]) -> tantivy.Query:
        how = widenings.get(each.term.text)
        instead = None if how is None else widened(each, how, self._boosts)
        return instead or clause(each, self._boosts)

    def _ranked(self) -> tantivy.Query:
        """The query that finds and ranks."""
        pairs = zip(self._wanted, self._clauses, strict=True)
        main = tantivy.Query.boolean_query(
            [(_MUST if each.term.kind is Kind.PHRASE else _SHOULD, query) for each, query in pairs]
        )
        if not self.whole or not 1 < len(self._clauses) <= _FEW_WORDS:
            return main
        # as much as the best score: so none that holds some comes before one that holds all
        best = self._snapshot.searcher.search(self._filtered(main), 1, count=False).hits[0][0]
        bonus = tantivy.Query.const_score_query(every(self._clauses), float(best))
        return tantivy.Query.boolean_query([(_MUST, main), (_SHOULD, bonus)])

    def _filtered(self, query: tantivy.Query) -> tantivy.Query:
        return tantivy.Query.boolean_query([(_MUST, query), *self._conditions])

    def _count(self, query: tantivy.Query) -> int:
        return _count(self._snapshot.searcher.search(self._filtered(query), 1))


def _indexed(query: Query) -> list[Wanted]:
    return [each for each in wanted(query) if each.is_indexed]


def _boosts(snapshot: Snapshot) -> Boosts:
    """What a word counts in the parts that there are.

    BM25 measures a text against the average of all entries, those without this part included, so
    that in a part that few have every text seems long. A text of the average length counts as
    much in each part once this is taken out.
    """
    boosts: Boosts = {}
    for part, count in _COUNTS.items():
        if having := snapshot.searcher.doc_freq(PART, part):
            share = max(having / snapshot.count, _RAREST)
            boosts[part] = count * (1 + _K1 * (1 - _B + _B / share)) / (1 + _K1)
    return boosts


def _count(found: tantivy.SearchResult) -> int:
    """How many match. The library's type stubs do not know of it."""
    return int(getattr(found, "count", 0) or 0)
