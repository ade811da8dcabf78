"""A hit as it was shown to the model, with what the rules ask of it."""

from __future__ import annotations

from tau_browser.audit.recall import Hit
from tau_browser.audit.words import words_of
from tau_browser.search.words import STOPWORDS

_ENTRIES = "tau:"


class Shown:
    """A hit as it was shown. call, result: places · query: folded words of what was asked.

    words: those of its text · vocabulary: of its text and its title · subject: those of its text
    that say what it is about · names: those of its title that are no numbers, but for entries,
    whose titles say nothing.
    """

    def __init__(
        self, recall: int, call: int, result: int, hit: Hit, query: frozenset[str]
    ) -> None:
        self.recall = recall
        self.call = call
        self.result = result
        self.hit = hit
        self.query = query
        self.words = words_of(hit.text)
        title, words = words_of(hit.title), frozenset(self.words)
        self.vocabulary = words.union(title)
        self.subject = words - STOPWORDS
        is_entry = hit.usetype.startswith(_ENTRIES)
        self.names = frozenset(() if is_entry else [word for word in title if not word.isdigit()])

    @property
    def document(self) -> object:
        """What tells one document from another."""
        return self.hit.document or (self.recall, self.hit.rank)

    @property
    def values(self) -> frozenset[str]:
        """The words of its text with digits in them."""
        return frozenset(word for word in self.subject if any(map(str.isdigit, word)))
