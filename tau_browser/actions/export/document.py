"""A session as one JSON document: each entry as read, with its record as stored."""

from __future__ import annotations

import json
import math
from typing import Any

from tau_browser.model.context import fold_at, states
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import session_name, stamp_text
from tau_browser.model.tree import NOWHERE


def document_of(session: Session) -> str:
    """The document: {"header", "name", "leaf", "path", "context", "entries": [entry]}; entries in
    tree order, one per line."""
    tree, leaf = session.tree, session.leaf
    reached = leaf != NOWHERE
    about = {
        "header": session.header,
        "name": session_name(session) or None,
        "leaf": session.entry_id(leaf) if reached else None,
        "path": session.ids(tree.path(leaf)) if reached else [],
        "context": session.ids(fold_at(session, leaf).context) if reached else [],
    }
    state = states(session, leaf)
    entries = [_entry(session, place, State(int(state[place]))) for place in tree.order.tolist()]
    head = ",\n".join(f"{json.dumps(name)}: {_json(value)}" for name, value in about.items())
    return f'{{{head},\n"entries": [\n' + ",\n".join(map(_json, entries)) + "\n]}\n"


def _entry(session: Session, place: int, state: State) -> dict[str, Any]:
    record, parent = session.record(place), int(session.tree.parent[place])
    return {
        "id": session.entry_id(place),
        "parent": session.entry_id(parent) if parent != NOWHERE else None,
        "kind": session.kind(place),
        "role": session.role(place) or None,
        "time": stamp_text(record.get("timestamp")) or None,
        "state": state.word,
        "text": text_of(record),
        "record": record,
    }


def _json(value: Any) -> str:
    """ASCII JSON that every parser takes: null for what JSON has no number for."""
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return json.dumps(_finite(value, 0))


def _finite(value: Any, depth: int) -> Any:
    if depth > 100:
        return "nested too deeply to be written"
    if isinstance(value, dict):
        return {name: _finite(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item, depth + 1) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
