"""What the model saw when it recalled, and whether what it found was in front of it already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tau_browser.audit.recall import Context, Hit, Judged, Recall, SessionAudit
from tau_browser.audit.session_audit import hits_of
from tau_browser.audit.tools import KNOWN_TOOLS, ToolTable
from tau_browser.model.context import fold_at
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE
from tau_browser.model.usage import estimate_tokens

_LEAST = 20  # characters of a hit that can be recognised
_COMPARED = 300


def with_context(
    session: Session, audit: SessionAudit, tools: ToolTable = KNOWN_TOOLS
) -> SessionAudit:
    """The audit, with the context at each recall and the entries that already showed a hit."""
    texts = _Texts(session)
    hits = hits_of(session, audit.recalls, tools)
    recalls = [_with_context(session, recall, hits, texts) for recall in audit.recalls]
    shown = {hit.in_context for recall in recalls for hit in recall.hits}
    new = [place for place in shown if place not in (None, NOWHERE, *audit.entry_ids)]
    places = {place for place in new if place is not None}
    return replace(
        audit,
        recalls=tuple(recalls),
        entry_ids=audit.entry_ids | {place: session.entry_id(place) for place in places},
        starts=audit.starts | {place: int(session.columns.start[place]) for place in places},
    )


class _Texts:
    """The texts of a session's entries in one spelling of blanks, each made once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[int, str] = {}

    def __getitem__(self, place: int) -> str:
        if place not in self._known:
            self._known[place] = _spelled(self._session.text(place))
        return self._known[place]


def _with_context(
    session: Session, recall: Recall, hits: Mapping[int, Sequence[Hit]], texts: _Texts
) -> Recall:
    if recall.call == NOWHERE:
        return recall
    fold = fold_at(session, recall.call)
    seen = [place for place in fold.context.tolist() if place != recall.call]
    tokens = estimate_tokens(sum(len(texts[place]) for place in seen))
    judged = [
        _looked_for(one, hit, seen, texts)
        for one, hit in zip(recall.hits, hits.get(recall.number, ()), strict=False)
    ]
    return replace(
        recall,
        context=Context(len(seen), tokens, fold.anchor),
        hits=tuple(judged) if len(judged) == len(recall.hits) else recall.hits,
    )


def _looked_for(judged: Judged, hit: Hit, seen: Sequence[int], texts: _Texts) -> Judged:
    wanted = _spelled(hit.text)[:_COMPARED]
    if judged.entry in seen:
        place = judged.entry
    elif len(wanted) < _LEAST:
        return judged
    else:
        place = next((at for at in seen if wanted in texts[at]), NOWHERE)
    return replace(judged, in_context=place)


def _spelled(text: str) -> str:
    return " ".join(text.split())
