"""How hits relate to the session and to each other: echoes, what is superseded, what is a ghost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tau_browser.audit.citations import bracketed_ids
from tau_browser.audit.following import Following
from tau_browser.audit.hits import imitates
from tau_browser.audit.recall import Echo, Ghost
from tau_browser.audit.shown import Shown
from tau_browser.audit.spoken import Spoken
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE

CHUNK = "jmfts:chunk"
_ENTRY_ID = re.compile(r"\d{1,18}")
_ALIKE = 0.6
"""Share of the smaller hit's words that two hits on one subject have in common."""
_FEWEST_WORDS = 4
_CHANGE_WORDS = """now longer instead changed replaced replaces supersedes superseded updated
deprecated revised reverted moved dropped corrected obsolete"""
_CHANGES = frozenset(_CHANGE_WORDS.split())
_FOREIGN = "jmfts:document"


@dataclass(frozen=True, slots=True)
class Own:
    """A hit that comes from the session itself: its entry (NOWHERE for a document it wrote)."""

    entry: int
    echo: Echo


class OwnDocuments:
    """The documents that are entries of a session, or that it wrote.

    In a session of a JMFTS server the id of an entry is that of its document (tau-format 4.1).
    results: places of the results of memory calls · written: document -> place of its result.
    """

    def __init__(self, session: Session, results: set[int], written: Mapping[str, int]) -> None:
        self._session = session
        self._results = results
        self._written = written
        self._has_documents = isinstance(session.header.get("hostname"), str)

    def of(self, document: str, call: int, following: Following) -> Own | None:
        """What a document is to the session at a call; None if it comes from elsewhere."""
        entry = self.entry(document)
        if entry != NOWHERE:
            echo = Echo.RECALL if entry in self._results else Echo.ENTRY
            return Own(entry, echo)
        made = self._written.get(document)
        if made is not None and following.is_below(call, made):
            return Own(NOWHERE, Echo.WRITTEN)
        return None

    def entry(self, document: str) -> int:
        """The entry that a document is, or that it is a chunk of; NOWHERE for others."""
        if not self._has_documents or not _ENTRY_ID.fullmatch(document):
            return NOWHERE
        session = self._session
        found = session.find(document)
        if not found:
            return NOWHERE
        if session.kind(found[0]) == _FOREIGN:
            is_chunk = session.record(found[0]).get("usetype") == CHUNK
            return int(session.tree.parent[found[0]]) if is_chunk else NOWHERE
        return found[0]


def superseded(shown: Sequence[Shown]) -> dict[int, int]:
    """Hits of one recall that a newer one on the same subject says otherwise: rank -> its rank.

    Ids of documents grow, so the larger is the newer. Chunks are parts of one text and earlier
    results repeat others: neither is a version of anything.
    """
    dated = [(int(each.hit.document), each) for each in shown if _is_dated(each)]
    newest_first = sorted(dated, key=lambda one: -one[0])
    found: dict[int, int] = {}
    for number, old in dated:
        newer = (new for other, new in newest_first if other > number)
        if latest := next((new for new in newer if _is_on_same_subject(old, new)), None):
            found[old.hit.rank] = latest.hit.rank
    return found


def ghosts(
    spoken: Spoken, following: Following, known: Sequence[tuple[int, str]]
) -> Iterator[Ghost]:
    """Citations of documents that nothing on the path had shown. known: place and document of
    what was returned, read or written."""
    places: dict[str, list[int]] = {}
    for place, document in known:
        places.setdefault(document, []).append(place)
    for said in map(spoken.passages.__getitem__, spoken.naming_documents):
        for document in bracketed_ids(said.text):
            above = places.get(document, ())
            if not any(following.is_below(said.place, place) for place in above):
                yield Ghost(said.place, document)


def _is_dated(shown: Shown) -> bool:
    hit = shown.hit
    is_version = hit.usetype != CHUNK and not imitates(hit.text)
    return is_version and bool(_ENTRY_ID.fullmatch(hit.document))


def _is_on_same_subject(old: Shown, new: Shown) -> bool:
    """Whether two hits speak of the same, and the newer gives another value or says that
    something changed. A likeness of words, so a hint and no more."""
    one_names_the_other = old.names <= new.names or new.names <= old.names
    if not one_names_the_other or old.words == new.words:
        return False
    smaller = min(len(old.subject), len(new.subject))
    if smaller < _FEWEST_WORDS or len(old.subject & new.subject) / smaller < _ALIKE:
        return False
    values_differ = bool(old.values) and bool(new.values) and old.values != new.values
    return values_differ or not _CHANGES.isdisjoint(new.vocabulary - old.vocabulary)
