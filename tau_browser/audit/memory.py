"""A memory that can be asked today, and what became of a document that it once gave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tau_browser.audit import hits as grammar
from tau_browser.audit.recall import Hit, Recall
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.store import StoreError


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is now. created: as written · session: the root of the conversation that it
    is an entry of, "" for a foreign one · entry: the document of that entry, for a piece too."""

    id: str
    title: str
    usetype: str
    text: str
    created: str
    session: str = ""
    entry: str = ""


Answer = Document | StoreError | None
"""What a memory says of a document: None where it surely is not there any more, an error where
nobody can tell."""


class Memory(Protocol):
    """A memory that can be asked again."""

    title: str

    def search(
        self, method: str, query: str, limit: int, top: str, usetype: str
    ) -> list[tuple[Document, float]]:
        """What a method finds, the best first, each with its score. top: the document below which
        to look, "" for everywhere. Raises StoreError."""
        ...

    def read(self, documents: Iterable[str]) -> dict[str, Answer]:
        """Some documents, by id. Raises nothing: what goes wrong is an answer."""
        ...

    def written_since(self, stamp: str) -> int | None:
        """How many documents were written since then; None if the memory cannot tell. Raises
        StoreError."""
        ...


class Now(StrEnum):
    """What became of a document that was recalled."""

    SAME = "the same"
    CHANGED = "changed since"
    DELETED = "deleted since"
    UNKNOWN = "cannot tell"


def became(hit: Hit, answer: Answer) -> Now:
    """What became of the document of a hit, by what the model was shown of it."""
    if isinstance(answer, StoreError):
        return Now.UNKNOWN
    if answer is None:
        return Now.DELETED
    # a title that could not be read back says nothing
    is_same = hit.title in ("", answer.title or grammar.UNTITLED) and _shows(hit, answer.text)
    return Now.SAME if is_same else Now.CHANGED


def is_newer(document: Document, recall: Recall) -> bool:
    """Whether a document was made after a recall."""
    created, asked = parse_time(document.created), parse_time(recall.time)
    return NO_TIME not in (created, asked) and created > asked


def _shows(hit: Hit, text: str) -> bool:
    """Whether a hit is what a search, or a read, prints of a text."""
    if hit.score is not None:
        return grammar.shown(text) == hit.text
    return (text or grammar.NO_CONTENT) in (hit.text, grammar.without_children(hit.text))
