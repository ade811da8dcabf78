"""A hit as it was shown to the model, with what the rules ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tau_browser.audit.recall import Hit
from tau_browser.audit.said import words_of
from tau_browser.search.words import STOPWORDS


@dataclass(frozen=True)
class Shown:
    """A hit as it was shown. call, result: places · query: folded words of what was asked."""

    recall: int
    call: int
    result: int
    hit: Hit
    query: frozenset[str]

    @property
    def document(self) -> object:
        """What tells one document from another."""
        return self.hit.document or (self.recall, self.hit.rank)

    @cached_property
    def words(self) -> list[str]:
        """The words of its text."""
        return words_of(self.hit.text)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words of its text and its title."""
        return frozenset(self.words).union(words_of(self.hit.title))

    @cached_property
    def subject(self) -> frozenset[str]:
        """The words of its text that say what it is about."""
        return frozenset(self.words) - STOPWORDS

    @cached_property
    def values(self) -> frozenset[str]:
        """The words of its text with digits in them."""
        return frozenset(word for word in set(self.words) if any(map(str.isdigit, word)))

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of its title that are no numbers."""
        return frozenset(word for word in words_of(self.hit.title) if not word.isdigit())
