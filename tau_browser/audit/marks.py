"""What stands beside the entries of a tree: what a call recalled, how often an entry was."""

from __future__ import annotations

from collections.abc import Iterable

from tau_browser.audit.recall import Outcome, Recall, SessionAudit, Verdict
from tau_browser.audit.tools import Action
from tau_browser.audit.totals import found_by
from tau_browser.model.text import counted

_SHOWN = 2  # calls of one entry


def marks_of(audit: SessionAudit) -> dict[int, str]:
    """Words by place, for calls of a memory and for entries that were recalled themselves."""
    marks = _on_entries(audit.recalls)
    calls: dict[int, list[Recall]] = {}
    for recall in audit.recalls:
        calls.setdefault(recall.place, []).append(recall)
    for place, recalls in calls.items():
        kind = "memory file: " if recalls[0].is_weak else ""
        words = "; ".join(on_call(recall) for recall in recalls[:_SHOWN])
        more = f"; {len(recalls) - _SHOWN} more" if len(recalls) > _SHOWN else ""
        marks[place] = f"{kind}{words}{more}"
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


def _on_entries(recalls: Iterable[Recall]) -> dict[int, str]:
    verdicts: dict[int, list[Verdict]] = {}
    for recall in recalls:
        for hit in found_by(recall):
            if hit.entry >= 0:
                verdicts.setdefault(hit.entry, []).append(hit.verdict)
    return {place: f"recalled {len(some)}x, {_used(some)}" for place, some in verdicts.items()}


def _used(verdicts: list[Verdict]) -> str:
    used = sum(verdict.is_used for verdict in verdicts)
    return f"used {used}x" if used else "not used" if _is_known(verdicts) else "use unknown"


def _is_known(verdicts: list[Verdict]) -> bool:
    return any(verdict is not Verdict.UNKNOWN for verdict in verdicts)
