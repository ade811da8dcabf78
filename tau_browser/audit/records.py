"""Audits as JSON values, under names that do not change.

Where OpenTelemetry has an attribute for a thing (gen_ai.memory.*, gen_ai.tool.*), it goes by that
name; all that has none has a plain name of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from tau_browser.audit.live import Live
from tau_browser.audit.recall import Ghost, Hit, Judged, Outcome, Recall, SessionAudit, Setting
from tau_browser.audit.replay import Replay
from tau_browser.audit.tools import Action
from tau_browser.audit.totals import DocumentUse, Totals, totals_of

_OPERATIONS = {Action.SEARCH: "search_memory", Action.WRITE: "create_memory"}
_TOOL = "execute_tool"  # no operation is called reading
_FAILED = (Outcome.FAILED, Outcome.BLOCKED, Outcome.MISSING)


def recall_record(
    audit: SessionAudit,
    recall: Recall,
    hits: Sequence[Hit] | None = None,
    lives: Mapping[int, Live] = MappingProxyType({}),
) -> dict[str, Any]:
    """A recall. hits: the same with their texts, where these are wanted · lives: their documents
    as they are now, by rank, where these were looked up."""
    texts = {hit.rank: hit.text for hit in hits or ()}
    ids = audit.entry_ids
    records = [_hit(hit, texts.get(hit.rank), ids, lives.get(hit.rank)) for hit in recall.hits]
    return {
        "gen_ai.operation.name": _OPERATIONS.get(recall.action, _TOOL),
        "gen_ai.conversation.id": audit.session or None,
        "gen_ai.tool.name": recall.name,
        "gen_ai.tool.call.id": recall.call_id or None,
        "gen_ai.memory.query.text": recall.query or None,
        "gen_ai.memory.record.count": recall.recorded,
        "gen_ai.memory.records": records,
        "error.type": _error_type(recall),
        "number": recall.number + 1,
        "path": audit.path,
        "entry": ids.get(recall.call),
        "result": ids.get(recall.result),
        "time": recall.time or None,
        "state": recall.state or None,
        "system": recall.system,
        "action": recall.action.value,
        "weak": recall.is_weak,
        "via": recall.via or None,
        "nested": recall.nested or None,
        "document": recall.document or None,
        "scope": _setting(recall.scope),
        "method": _setting(recall.method),
        "limit": _setting(recall.limit),
        "usetype": recall.usetype or None,
        "score_scale": recall.scale or None,
        "latency_ms": recall.latency,
        "latency_measured": recall.measured,
        "outcome": recall.outcome.value,
        "error": recall.error or None,
        "copied": recall.copied,
        "repeat_of": recall.repeat_of + 1 or None,
        "context": asdict(recall.context) | {"anchor": ids.get(recall.context.anchor)}
        if recall.context
        else None,
        "findings": [
            {"trouble": finding.trouble.value, "text": finding.text} for finding in recall.findings
        ],
    }


def replay_record(replay: Replay) -> dict[str, Any]:
    """What the same search finds now."""
    return {
        "verdict": replay.verdict.value,
        "reasons": replay.reasons,
        "documents": [
            {
                "document": document,
                "now": now.value,
                "session": found.session or None if found else None,
                "entry": found.entry or None if found else None,
            }
            for document, (now, found) in replay.documents.items()
        ],
        "methods": [
            {
                "method": each.method,
                "problem": each.problem or None,
                "now": [
                    {
                        "document": place.document.id,
                        "title": place.document.title or None,
                        "rank_then": place.then or None,
                        "rank_now": place.now or None,
                        "score_now": place.score,
                        "change": place.word,
                    }
                    for place in each.places
                ],
            }
            for each in replay.methods
        ],
    }


def ghost_record(audit: SessionAudit, ghost: Ghost) -> dict[str, Any]:
    """A citation of something that was never shown."""
    return {
        "path": audit.path,
        "entry": audit.entry_ids.get(ghost.place),
        "document": ghost.document,
    }


def session_record(audit: SessionAudit) -> dict[str, Any]:
    """A session with its sums."""
    named = {
        "path": audit.path,
        "session": audit.session or None,
        "title": audit.title or None,
        "cwd": audit.cwd or None,
        "modified": audit.modified or None,
    }
    return named | totals_record(totals_of([audit]))


def totals_record(totals: Totals) -> dict[str, Any]:
    """Sums."""
    return asdict(totals) | {"used": totals.used}


def document_records(documents: Sequence[DocumentUse]) -> Iterator[dict[str, Any]]:
    """Documents with how often they were recalled and used."""
    return map(asdict, documents)


def _hit(
    hit: Judged, text: str | None, ids: Mapping[int, str], live: Live | None
) -> dict[str, Any]:
    return {
        "id": hit.document or None,
        "content": text,
        "score": hit.score,
        "metadata": {
            "rank": hit.rank,
            "title": hit.title or None,
            "usetype": hit.usetype or None,
            "truncated": hit.truncated,
            "characters": hit.size,
            "verdict": hit.verdict.value,
            "evidence": [
                {
                    "verdict": one.verdict.value,
                    "entry": ids.get(one.place),
                    "part": one.part,
                    "shared": one.shared,
                }
                for one in hit.evidence
            ],
            "entry": ids.get(hit.entry),
            "echo": hit.echo.value if hit.echo else None,
            "superseded_by": hit.superseded_by or None,
            "gone": hit.gone,
            "returned_before": hit.returned_before,
            "in_context": None if hit.in_context is None else hit.in_context >= 0,
            "in_context_entry": ids.get(hit.in_context) if hit.in_context is not None else None,
            "live": _live(live),
        },
    }


def _live(live: Live | None) -> dict[str, Any] | None:
    if live is None:
        return None
    found = live.document
    return {
        "now": live.now.value,
        "whose": live.whose.value if live.whose else None,
        "session": found.session or None if found else None,
        "entry": found.entry or None if found else None,
        "title": found.title or None if found else None,
        "reason": live.reason or None,
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {"value": setting.value, "assumed": setting.assumed}


def _error_type(recall: Recall) -> str | None:
    """The kind of an error, as τ writes it before the message; else the outcome."""
    if recall.outcome not in _FAILED:
        return None
    kind = recall.error.partition(":")[0]
    return kind if kind.isidentifier() and kind != recall.error else recall.outcome.value
