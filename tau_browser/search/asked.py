"""A query put to one snapshot of the index: terms and filters as one query of the index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import tantivy

from tau_browser.search.clauses import Boosts, Clauses, Widened, every, some, widenings
from tau_browser.search.documents import Part
from tau_browser.search.index.postings import PART, TIME
from tau_browser.search.index.selection import Selection
from tau_browser.search.query import Kind, Query
from tau_browser.search.vocabulary import Vocabulary
from tau_browser.search.words import Wanted, wanted, wanted_of

_MUST, _MUST_NOT, _SHOULD = tantivy.Occur.Must, tantivy.Occur.MustNot, tantivy.Occur.Should
_FEW_WORDS = 3
"""So many words are all meant; of more, a sentence, any may do."""
_MOST_WIDENED = 8  # words that are looked up one by one
# What it adds that the words stand in this part. A name or a question says more than a listing.
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

Scored = list[tuple[int, float]]
"""Keys of contents with their scores, the best first."""


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


def widened_words(
    query: Query, snapshots: Sequence[Snapshot], vocabulary: Vocabulary
) -> dict[str, Widened]:
    """Which words of a query are nowhere, and what is sought instead. A query of many words does
    without."""
    sought = [each for each in indexed(query) if not each.is_exact]
    if len(sought) > _MOST_WIDENED:
        return {}
    clauses = [clauses_for(each) for each in snapshots]
    found: dict[str, Widened] = {}
    for each in sought:
        if not any(some.exists(each) for some in clauses):
            for instead in widenings(each, vocabulary):
                if any(some.exists(each, instead) for some in clauses):
                    found[each.term.text] = instead
                    break
    return found


def clauses_for(snapshot: Snapshot) -> Clauses:
    """What builds queries for a snapshot. Parts that no entry has are left out."""
    having = snapshot.searcher.doc_freq
    boosts = {part: count for part, count in _COUNTS.items() if having(PART, part)}
    return Clauses(snapshot.searcher, boosts)


class Asked:
    """One query and one snapshot."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: Query,
        paths: Collection[str] | None,
        widened: Mapping[str, Widened],
    ) -> None:
        self._snapshot = snapshot
        clauses = clauses_for(snapshot)
        self._conditions: list[tuple[tantivy.Occur, tantivy.Query]] = []
        condition = snapshot.select(query, paths).condition
        if condition is not None:
            self._conditions.append((_MUST, condition))
        for term in query.terms:
            each = wanted_of(term)
            if term.negated and each.is_told_by_words:
                self._conditions.append((_MUST_NOT, clauses.of(each)))
        self._asked = [(each, widened.get(each.term.text)) for each in indexed(query)]
        self._clauses = clauses

    def hits(self, limit: int) -> tuple[Scored, int]:
        """The best entries, the newest where there are no words, and how many there are in all."""
        if not self._asked:
            return self._search(tantivy.Query.all_query(), limit, by_time=True)
        if 1 < len(self._asked) <= _FEW_WORDS:
            return self._whole_first(limit)
        return self._search(tantivy.Query.boolean_query(self._some_of_it()), limit)

    def _whole_first(self, limit: int) -> tuple[Scored, int]:
        """The entries that hold all the terms before those that hold some: to hold all counts more
        than anything else. It is shown as no more than the best score, which is enough."""
        whole = every(self._clauses.test_of(*each) for each in self._asked)
        beyond = sum(self._clauses.worth(each) for each, _ in self._asked)
        bonus = tantivy.Query.const_score_query(whole, beyond)
        hits, total = self._search(
            tantivy.Query.boolean_query([*self._some_of_it(), (_SHOULD, bonus)]), limit
        )
        own = [(key, score - beyond if score >= beyond else score) for key, score in hits]
        best = max((score for _, score in own), default=0.0)
        holding_all = sum(score >= beyond for _, score in hits)
        shown = [(key, score + best * (at < holding_all)) for at, (key, score) in enumerate(own)]
        return shown, total

    def _some_of_it(self) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """All phrases, and some of the words if there are no phrases."""
        clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for each, widened in self._asked:
            any_of = self._clauses.any_of(each, widened)
            if each.term.kind is Kind.PHRASE:
                clauses.append((_MUST, some(any_of)))
            else:
                clauses += [(_SHOULD, query) for query in any_of]
        return clauses

    def _search(
        self, query: tantivy.Query, limit: int, *, by_time: bool = False
    ) -> tuple[Scored, int]:
        filtered = query
        if self._conditions:
            filtered = tantivy.Query.boolean_query([(_MUST, query), *self._conditions])
        order = TIME if by_time else None
        found = self._snapshot.searcher.search(filtered, limit, order_by_field=order)
        keys = self._snapshot.keys([address for _, address in found.hits])
        scored = zip(keys, found.hits, strict=True)
        # the library's type stubs do not know of the count
        total = int(getattr(found, "count", 0) or 0)
        return [(key, float(score or 0)) for key, (score, _) in scored], total


def indexed(query: Query) -> list[Wanted]:
    """The terms of which an index holds anything."""
    return [each for each in wanted(query) if each.is_indexed]
