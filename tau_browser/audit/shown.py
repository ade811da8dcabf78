"""A hit as it was shown to the model, with what the rules ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tau_browser.audit.recall import Hit
from tau_browser.audit.said import words_of


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
