"""What a query asks of an entry beyond what a server can be asked: filters, phrases, exclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tau_browser.search.filtering import Filtering, SessionFacts, Unjudged
from tau_browser.search.highlight import Highlighter, Mark
from tau_browser.search.query import Kind, Query
from tau_browser.search.server.entries import Entry

_EXACT = (Kind.PHRASE, Kind.REGEX)


class Wanted:
    """Asks it of entry after entry. unjudged: of those, how many could not be judged."""

    def __init__(self, query: Query, store: str, facts_of: Callable[[str], SessionFacts]) -> None:
        self.unjudged = 0
        self._sought = set(query.sought)
        self._filtering = Filtering(query, store, facts_of)
        self._highlighter = Highlighter(query)
        negated = tuple(replace(term, negated=False) for term in query.terms if term.negated)
        self._unwanted = Highlighter(Query("", negated)) if negated else None
        self._exact = {term for term in query.sought if term.kind in _EXACT}

    def marks(self, entry: Entry) -> list[Mark] | None:
        """What matched in an entry; None if it does not answer the query. Raises QueryError if an
        expression takes too long."""
        text = entry.text
        if self._unwanted is not None and self._unwanted.marks(text):
            return None
        marks = self._highlighter.marks(text)
        if not self._exact <= {mark.term for mark in marks}:
            return None
        try:
            return marks if self._filtering.passes(entry.scanned) else None
        except Unjudged:
            self.unjudged += 1
            return None

    def holds_all(self, marks: Iterable[Mark]) -> bool:
        """Whether every term is among what matched."""
        return self._sought <= {mark.term for mark in marks}


def is_asked_in_full(query: Query) -> bool:
    """Whether a server can be asked all of a query, so that nothing is left to ask of its hits."""
    return not query.filters and not any(
        term.negated or term.kind in _EXACT for term in query.terms
    )
