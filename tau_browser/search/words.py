"""What a term of a query asks for, taken apart the way the index took the texts apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tau_browser.search.analysis import (
    MOST_PARTS,
    fold_form,
    fold_words,
    parts,
    signed,
    unspaced,
    words,
)
from tau_browser.search.query import Kind, Query, Term

_WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[\w\s]*")

# Words that say nothing beside others: function words alone, as "find" may be the point.
_FUNCTION_WORDS = """
a about after again all also am an and any are as at be because been before being both but by can
could did do does doing for from had has have having he her here him his how i if in into is it its
itself just me more most my no nor not of off on once only or other our out over own she should so
some such than that the their them then there these they this those through to too under until up
was we were what when where which while who whom why will with would you your
"""
STOPWORDS = frozenset(_FUNCTION_WORDS.split())

_REMEMBERED = 16
"""Queries and terms that stay taken apart: a search asks for its own several times."""


@dataclass(frozen=True)
class Wanted:
    """A term as words. Parts of it in scripts without spaces are `runs`, all else `tokens`.

    is_prefix: the last token may be the beginning of a word · is_exact: nothing but these very
    words will do, not others of one stem
    """

    term: Term
    is_prefix: bool
    is_exact: bool

    @cached_property
    def tokens(self) -> list[str]:
        """The words, in order."""
        return [word for word in words(self.term.text) if not unspaced(word)]

    @cached_property
    def runs(self) -> list[str]:
        """The stretches written without spaces."""
        return unspaced(fold_words(self.term.text))

    @cached_property
    def parts(self) -> list[str]:
        """The parts of the identifier that this is; [] if it has one or too many."""
        found = [part for word in _WORD.findall(fold_form(self.term.text)) for part in parts(word)]
        return found if 1 < len(found) <= MOST_PARTS and not self.runs else []

    @cached_property
    def signed(self) -> list[str]:
        """Names with signs and versions in it, which are found whole."""
        return signed(self.term.text)

    @property
    def is_signed(self) -> bool:
        """Whether it is a name with a sign and nothing else: c++ is not c."""
        return bool(self.signed) and not self.term.text[:1].isdigit()

    @property
    def needs_text(self) -> bool:
        """Whether the words alone do not tell: its signs must be looked for in the text."""
        return self.term.kind is Kind.PHRASE and not _PLAIN.fullmatch(self.term.text)

    @property
    def is_told_by_words(self) -> bool:
        """Whether its words alone tell that a text holds it."""
        return self.term.kind is not Kind.REGEX and self.is_indexed and not self.needs_text

    @property
    def is_indexed(self) -> bool:
        """Whether the index holds anything of it."""
        return bool(self.tokens or self.runs)


@lru_cache(maxsize=_REMEMBERED)
def wanted(query: Query) -> tuple[Wanted, ...]:
    """The terms that are words, each once, without words that say nothing beside others."""
    found: dict[tuple[Kind, str], Wanted] = {}
    for term in query.sought:
        if term.kind is not Kind.REGEX:
            found.setdefault((term.kind, fold_words(term.text)), wanted_of(term))
    useful = [each for each in found.values() if not _says_nothing(each)]
    return tuple(useful or found.values())


@lru_cache(maxsize=_REMEMBERED)
def wanted_of(term: Term) -> Wanted:
    """A term as words."""
    return Wanted(term, term.kind is Kind.PREFIX, term.kind is Kind.PHRASE or term.negated)


def _says_nothing(each: Wanted) -> bool:
    return each.term.kind is Kind.WORD and fold_words(each.term.text) in STOPWORDS
