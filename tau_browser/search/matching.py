"""What only the text of an entry tells: its signs, and whether an expression matches it."""

from __future__ import annotations

from dataclasses import dataclass

from tau_browser.search.find import Literal, Pattern, pattern_of
from tau_browser.search.folding import fold_case
from tau_browser.search.query import Kind, Query, Term
from tau_browser.search.words import wanted_of


@dataclass(frozen=True, slots=True)
class Check:
    """Something that a text must hold, or must not."""

    pattern: Pattern
    negated: bool


def checks_of(query: Query) -> list[Check]:
    """What the words of a query do not tell: expressions, signs, phrases with signs in them."""
    return [
        Check(pattern_for(term), term.negated)
        for term in query.terms
        if not wanted_of(term).is_told_by_words
    ]


def pattern_for(term: Term) -> Pattern:
    """A term as what a text must hold, character by character. Case matters to expressions that
    have capitals, as everywhere; to nothing else."""
    if term.kind is Kind.REGEX:
        pattern = pattern_of(term.text, regex=True)
        assert pattern is not None, "a blank expression is no term"
        return pattern
    return Literal(term.text, fold_case, fold_case(term.text))
