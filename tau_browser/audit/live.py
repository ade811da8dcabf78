"""The documents behind the hits as they are today: whose entries they are, and what became of them.

Two facts, which are told apart: an entry of another session may have changed since, and a foreign
document may be as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tau_browser.audit.memory import Answer, Document, Now, became, is_newer
from tau_browser.audit.recall import Hit, Judged, Recall, SessionAudit
from tau_browser.audit.tools import JMFTS
from tau_browser.stores.store import StoreError


class Whose(StrEnum):
    """Whose entry a document is."""

    OWN = "this session"
    OTHER = "another session"
    NOBODY = "foreign"  # it belongs to no conversation


@dataclass(frozen=True, slots=True)
class Live:
    """A hit's document today. whose: None where nobody can tell · document: as it is, if it is
    there · reason: why nobody can tell what became of it, "" if that is told."""

    now: Now
    whose: Whose | None = None
    document: Document | None = None
    reason: str = ""


def server_documents(recalls: Iterable[Recall]) -> list[str]:
    """The documents behind the hits of some recalls that a server can be asked for, each once."""
    found = (hit.document for recall in recalls if recall.system == JMFTS for hit in recall.hits)
    return list(dict.fromkeys(filter(None, found)))


def live_of(
    audit: SessionAudit, recall: Recall, hits: Sequence[Hit], answers: Mapping[str, Answer]
) -> dict[int, Live]:
    """The documents of a recall's hits, by rank. hits: the same with their texts. Of what was not
    looked up, nothing is said."""
    texts = {hit.rank: hit for hit in hits}
    return {
        judged.rank: _live(audit, recall, judged, texts[judged.rank], answers[judged.document])
        for judged in recall.hits
        if recall.system == JMFTS and judged.document in answers and judged.rank in texts
    }


def in_words(live: Live) -> str:
    """What is known of a document today."""
    if live.now is Now.UNKNOWN:
        return f"{live.now.value}: {live.reason}"
    return ", ".join(filter(None, [_where(live), live.now.value]))


def _where(live: Live) -> str:
    document = live.document
    match live.whose:
        case Whose.OWN:
            return "an entry of this session"
        case Whose.OTHER if document is not None:
            return f"entry {document.entry} of the conversation {document.session}"
        case Whose.NOBODY:
            return "foreign"
    return ""


def _live(audit: SessionAudit, recall: Recall, judged: Judged, hit: Hit, answer: Answer) -> Live:
    now = became(hit, answer)
    if isinstance(answer, StoreError):
        return Live(now, _recorded(judged), None, str(answer))
    if answer is None:
        return Live(now, _recorded(judged))
    if now is Now.CHANGED and is_newer(answer, recall):
        reason = f"doc {answer.id} of this server was made after the recall: is it another server?"
        return Live(Now.UNKNOWN, None, answer, reason)
    return Live(now, _whose(audit, judged, answer), answer)


def _whose(audit: SessionAudit, judged: Judged, document: Document) -> Whose:
    if judged.entry >= 0 or document.session == audit.path:
        return Whose.OWN
    return Whose.OTHER if document.session else Whose.NOBODY


def _recorded(judged: Judged) -> Whose | None:
    """What the session itself tells of a document that cannot be looked at."""
    return Whose.OWN if judged.entry >= 0 else None
