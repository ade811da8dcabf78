"""Where a person wants to go from the audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tau_browser.audit.memory import Document


@dataclass(frozen=True, slots=True)
class Destination:
    """An entry: the path of its session, and the byte at which its record starts, or its id."""

    path: str
    start: int | None = None
    entry: str = ""


def destination_of(document: Document) -> Destination:
    """The entry of a conversation on a server that a document is, or is a piece of."""
    return Destination(document.session, entry=document.entry)


def elsewhere(document: Document) -> str:
    """How to get to the entry that a document is, from a store that does not hold it."""
    where = f"entry {document.entry} of the conversation {document.session}"
    return f"{where}: open it with --store jmfts"
