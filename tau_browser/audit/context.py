"""What the model saw when it recalled, and whether what it found was in front of it already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tau_browser.audit.recall import Context, Hit, Judged, Recall, SessionAudit
from tau_browser.model.context import fold_at, reaches_model
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE
from tau_browser.model.usage import estimate_tokens

_LEAST = 20  # characters of a hit that can be recognised


def with_context(
    session: Session, audit: SessionAudit, hits: Mapping[int, Sequence[Hit]]
) -> SessionAudit:
    """The audit, with the context at each recall and the entries that already showed a hit. hits:
    those of its recalls with their texts, by number."""
    texts = _Texts(session)
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
    """What the model was given of a session's entries, in one spelling of blanks, each made once:
    None for entries that only stand beside the conversation."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[int, str | None] = {}

    def __getitem__(self, place: int) -> str | None:
        if place not in self._known:
            record = self._session.record(place)
            given = reaches_model(record)
            self._known[place] = _spelled(text_of(record)) if given else None
        return self._known[place]


def _with_context(
    session: Session, recall: Recall, hits: Mapping[int, Sequence[Hit]], texts: _Texts
) -> Recall:
    if recall.call == NOWHERE:
        return recall
    fold = fold_at(session, recall.call)
    path = (place for place in fold.context.tolist() if place != recall.call)
    seen = {place: text for place in path if (text := texts[place]) is not None}
    tokens = estimate_tokens(sum(map(len, seen.values())))
    judged = [
        replace(one, in_context=_shown_by(one, hit, seen))
        for one, hit in zip(recall.hits, hits.get(recall.number, ()), strict=False)
    ]
    return replace(
        recall,
        context=Context(len(seen), tokens, fold.anchor),
        hits=tuple(judged) if len(judged) == len(recall.hits) else recall.hits,
    )


def _shown_by(judged: Judged, hit: Hit, seen: Mapping[int, str]) -> int | None:
    """The entry in the context that a hit is, or that holds its text; NOWHERE for none, None
    where its text is too short to be recognised."""
    if judged.entry in seen:
        return judged.entry
    wanted = _spelled(hit.text)
    if len(wanted) < _LEAST:
        return None
    return next((place for place, text in seen.items() if wanted in text), NOWHERE)


def _spelled(text: str) -> str:
    return " ".join(text.split())
