"""The same query again, now: what each method of the memory finds today beside what was recalled.

Nothing that is found now is ever taken for what was found then. Where the two differ, and the
memory itself has changed since, nobody can tell whether its search would have drifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from tau_browser.audit.hits import SHOWN
from tau_browser.audit.recall import Hit, Outcome, Recall
from tau_browser.audit.tools import JMFTS, Action
from tau_browser.model.text import counted
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.store import StoreError

METHODS = ("hybrid", "vector", "bm25", "fulltext", "maxsim")
"""The searches of a JMFTS server, each of which is asked by itself."""


class Drift(StrEnum):
    """Whether the same search finds the same."""

    MATCH = "MATCH"  # the same documents, in the same order, with the same texts
    DRIFT = "DRIFT"  # others, or in another order, although the memory is as it was
    CANNOT_TELL = "CANNOT TELL"


class Now(StrEnum):
    """What became of a document that was recalled."""

    SAME = "the same"
    CHANGED = "changed since"
    DELETED = "gone since"


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


class Memory(Protocol):
    """A memory that can be asked again. Every method raises StoreError where it does not answer."""

    title: str

    def search(
        self, method: str, query: str, limit: int, top: str, usetype: str
    ) -> list[tuple[Document, float]]:
        """What a method finds, the best first, each with its score. top: the document below which
        to look, "" for everywhere."""
        ...

    def read(self, document: str) -> Document | None:
        """A document, or None if it is not there."""
        ...

    def written_since(self, stamp: str) -> int | None:
        """How many documents were written since then; None if the memory cannot tell."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A document and its ranks, 0 where it is not among the hits. score: that of now."""

    document: Document
    then: int
    now: int
    score: float | None = None

    @property
    def word(self) -> str:
        """What happened to it, in a word."""
        if not self.then:
            return "new"
        if not self.now:
            return "not found"
        return "kept" if self.then == self.now else "moved"


@dataclass(frozen=True, slots=True)
class MethodNow:
    """What one method finds now; `problem` where it does not answer."""

    method: str
    places: list[Place] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """A recall then and now. documents: by id, what became of those that were recalled ·
    methods: the recall's own first."""

    verdict: Drift
    reasons: list[str]
    documents: dict[str, tuple[Now, Document | None]] = field(default_factory=dict)
    methods: list[MethodNow] = field(default_factory=list)


def replay(recall: Recall, hits: Sequence[Hit], memory: Memory) -> Replay:
    """Ask the same again. hits: those of the recall, with their texts."""
    if reason := _why_not(recall):
        return Replay(Drift.CANNOT_TELL, [reason])
    try:
        documents = {hit.document: _now(hit, memory) for hit in hits}
        since = memory.written_since(recall.time)
    except StoreError as error:
        return Replay(Drift.CANNOT_TELL, [str(error)])
    own = str(recall.method.value)
    order = [own, *(method for method in METHODS if method != own)]
    methods = [_method(method, recall, hits, memory) for method in order]
    verdict, reasons = _verdict(recall, hits, methods[0], documents, since)
    return Replay(verdict, reasons, documents, methods)


def _why_not(recall: Recall) -> str:
    """Why a recall cannot be made again; "" if it can."""
    if recall.system != JMFTS or recall.action is not Action.SEARCH:
        return "only searches of a JMFTS server can be run again"
    if not recall.query.strip():
        return "its query is not recorded"
    if recall.outcome not in (Outcome.OK, Outcome.EMPTY):
        return "it did not succeed then, so there is nothing to compare with"
    if recall.scope.value != "all" and not recall.document:
        return f"where it searched is not recorded (scope {recall.scope.value})"
    return ""


def _now(hit: Hit, memory: Memory) -> tuple[Now, Document | None]:
    document = memory.read(hit.document)
    if document is None:
        return Now.DELETED, None
    return (Now.SAME if _shown(document.text) == hit.text else Now.CHANGED), document


def _shown(text: str) -> str:
    """A text as the tool prints it."""
    return text.strip().replace("\n", " ")[:SHOWN]


def _method(method: str, recall: Recall, hits: Sequence[Hit], memory: Memory) -> MethodNow:
    limit = recall.limit.value if isinstance(recall.limit.value, int) else len(hits)
    top = "" if recall.scope.value == "all" else recall.document
    try:
        found = memory.search(method, recall.query, max(1, limit), top, recall.usetype)
    except StoreError as error:
        return MethodNow(method, problem=str(error))
    then = {hit.document: hit.rank for hit in hits}
    places = [
        Place(document, then.get(document.id, 0), rank, score)
        for rank, (document, score) in enumerate(found, 1)
    ]
    seen = {place.document.id for place in places}
    lost = [
        Place(Document(hit.document, hit.title, hit.usetype, hit.text, ""), hit.rank, 0)
        for hit in hits
        if hit.document not in seen
    ]
    return MethodNow(method, [*places, *lost])


def _verdict(
    recall: Recall,
    hits: Sequence[Hit],
    own: MethodNow,
    documents: dict[str, tuple[Now, Document | None]],
    since: int | None,
) -> tuple[Drift, list[str]]:
    if own.problem:
        return Drift.CANNOT_TELL, [own.problem]
    told = [
        f"doc {document} is {now.value}"
        for document, (now, _) in documents.items()
        if now is not Now.SAME
    ]
    moved = [place for place in own.places if place.word != "kept"]
    if not moved and not told:
        return Drift.MATCH, [f"{counted(len(hits), 'hit')}, as then"]
    told += [
        f"doc {place.document.id} was written since" for place in moved if _is_newer(place, recall)
    ]
    if not told and since:
        told.append(f"{counted(since, 'document')} were written since: the index moved")
    if told:
        return Drift.CANNOT_TELL, told
    differences = [f"doc {place.document.id}: {place.word}" for place in moved]
    return Drift.DRIFT, differences


def _is_newer(place: Place, recall: Recall) -> bool:
    created, asked = parse_time(place.document.created), parse_time(recall.time)
    return NO_TIME not in (created, asked) and created > asked
