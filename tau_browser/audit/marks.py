"""What stands beside the entries of a tree: what a call recalled, how often an entry was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tau_browser.audit.recall import Outcome, Recall, SessionAudit, Verdict
from tau_browser.audit.relations import OwnDocuments
from tau_browser.audit.tools import Action
from tau_browser.audit.totals import distinct, found_by
from tau_browser.model.session import Session
from tau_browser.model.text import counted

_SHOWN = 2  # calls of one entry


class Mark(NamedTuple):
    """Words beside an entry. covers: how many sessions recalled it, of how many that were looked
    at; "" where it is this one's alone."""

    text: str
    covers: str = ""


def marks_of(
    session: Session, audit: SessionAudit, others: Sequence[SessionAudit] | None = None
) -> dict[int, Mark]:
    """The marks by place, of calls of a memory and of entries that were recalled themselves.

    others: sessions of a store whose entries are documents, as they were last audited; None where
    no other session can have recalled an entry of this one.
    """
    marks = _on_entries(session, audit, others)
    calls: dict[int, list[Recall]] = {}
    for recall in audit.recalls:
        calls.setdefault(recall.place, []).append(recall)
    for place, recalls in calls.items():
        kind = "memory file: " if recalls[0].is_weak else ""
        words = "; ".join(on_call(recall) for recall in recalls[:_SHOWN])
        more = f"; {len(recalls) - _SHOWN} more" if len(recalls) > _SHOWN else ""
        recalled = marks.get(place, Mark(""))
        joined = filter(None, [f"{kind}{words}{more}", recalled.text])
        marks[place] = recalled._replace(text="; ".join(joined))
    return marks


def on_call(recall: Recall) -> str:
    """What a recall brought, in a few words."""
    if recall.outcome is not Outcome.OK:
        return recall.outcome.value
    match recall.action:
        case Action.WRITE:
            return f"wrote doc {recall.document}" if recall.document else "wrote"
        case Action.READ:
            return f"read doc {recall.document}" if recall.document else "read"
    if not recall.hits:
        return "hits not recorded"
    return f"{counted(len(recall.hits), 'hit')}, {_used([hit.verdict for hit in recall.hits])}"


def _on_entries(
    session: Session, audit: SessionAudit, others: Sequence[SessionAudit] | None
) -> dict[int, Mark]:
    """How often an entry was recalled, in how many sessions of how many that were looked at."""
    uses: dict[int, list[tuple[str, Verdict]]] = {}
    own = OwnDocuments(session, set(), {})
    for where, recall in distinct([audit, *(others or ())]):
        for hit in found_by(recall):
            place = hit.entry if where is audit else own.entry(hit.document)
            if place >= 0:
                uses.setdefault(place, []).append((where.path, hit.verdict))
    marks = {}
    for place, some in uses.items():
        covers = ""
        if others is not None:
            recalling = len({path for path, _ in some})
            covers = f"{recalling} of {counted(len(others) + 1, 'audited session')}"
        used = _used([verdict for _, verdict in some])
        marks[place] = Mark(f"recalled {len(some)}x, {used}", covers)
    return marks


def _used(verdicts: list[Verdict]) -> str:
    used = sum(verdict.is_used for verdict in verdicts)
    return f"used {used}x" if used else "not used" if _is_known(verdicts) else "use unknown"


def _is_known(verdicts: list[Verdict]) -> bool:
    return any(verdict is not Verdict.UNKNOWN for verdict in verdicts)
