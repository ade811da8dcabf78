"""The same query again, now: what each method of the memory finds today beside what was recalled.

Nothing that is found now is ever taken for what was found then. Where the two differ, and the
memory itself has changed since, nobody can tell whether its search would have drifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tau_browser.audit.memory import Document, Memory, Now, became, is_newer
from tau_browser.audit.recall import Hit, Outcome, Recall
from tau_browser.audit.tools import JMFTS, Action
from tau_browser.model.text import counted
from tau_browser.stores.store import StoreError

METHODS = ("hybrid", "vector", "bm25", "fulltext", "maxsim")
"""The searches of a JMFTS server, each of which is asked by itself."""


class Drift(StrEnum):
    """Whether the same search finds the same."""

    MATCH = "MATCH"  # the same documents, in the same order, with the same texts
    DRIFT = "DRIFT"  # others, or in another order, although the memory is as it was
    CANNOT_TELL = "CANNOT TELL"


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
    answers = memory.read(hit.document for hit in hits)
    documents = {}
    for hit in hits:
        answer = answers[hit.document]
        if isinstance(answer, StoreError):
            return Replay(Drift.CANNOT_TELL, [str(answer)])
        documents[hit.document] = became(hit, answer), answer
    try:
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
        f"doc {place.document.id} was written since"
        for place in moved
        if is_newer(place.document, recall)
    ]
    if not told and since:
        told.append(f"{counted(since, 'document')} were written since: the index moved")
    if told:
        return Drift.CANNOT_TELL, told
    differences = [f"doc {place.document.id}: {place.word}" for place in moved]
    return Drift.DRIFT, differences
