"""What a session is called: by its own lines, or by a summary in another session's file."""

from __future__ import annotations

import os
from functools import lru_cache

from tau_browser.model.session import Session
from tau_browser.stores.peek import first_records

_TITLES = {"ai-title": "aiTitle", "agent-name": "agentName"}
"""Lines that name their own session, and in which field. `custom-title` is a name like τ's."""


def title_of(session: Session, path: str) -> str:
    """The title that the program gave to a session; "" if it gave none."""
    for kind, field in _TITLES.items():
        for place in reversed(session.places_of_kind(kind)):
            title = session.record(place).get(field)
            if isinstance(title, str) and title.strip():
                return title
    own = [session.record(place) for place in session.places_of_kind("summary")]
    return _matching(session, own) or _matching(session, _summaries_beside(path))


def _matching(session: Session, summaries: list[dict[str, object]]) -> str:
    """The last summary of a conversation whose end is in this session."""
    for record in reversed(summaries):
        leaf, summary = record.get("leafUuid"), record.get("summary")
        if isinstance(leaf, str) and isinstance(summary, str) and session.find(leaf):
            return summary
    return ""


def _summaries_beside(path: str) -> list[dict[str, object]]:
    """The summaries at the start of the files of a folder: that is where older versions of the
    program wrote what earlier sessions were about."""
    folder = os.path.dirname(path)
    try:
        return _summaries_in(folder, os.stat(folder).st_mtime_ns)
    except OSError:
        return []


@lru_cache(maxsize=64)
def _summaries_in(folder: str, changed: int) -> list[dict[str, object]]:
    """`changed`: the time of the folder."""
    return [
        record
        for name in sorted(os.listdir(folder))
        if name.endswith(".jsonl") and not name.startswith("agent-")
        for record in first_records(os.path.join(folder, name))
        if record.get("type") == "summary"
    ]
