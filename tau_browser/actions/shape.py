"""A session of any format as one of τ's: a log of some of its entries in τ's shape.

Formats put each record into τ's words when it is looked at (model/format.py). What is left to do is
the envelope: ids and parents as the tree has them, times as text, and the flat results and
snake_case names of τ's SDK (tau-format 1.10).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

import numpy as np

from tau_browser.actions.draft import Draft, line_of
from tau_browser.actions.journal import now
from tau_browser.actions.making import is_strict
from tau_browser.actions.remains import nearest_kept, remains_of
from tau_browser.model.columns import Bools, Flag
from tau_browser.model.format import TAU
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.summary import stamp_text
from tau_browser.model.tree import NOWHERE

Edit = Callable[[Record], Record]
"""Changes a record before it is written; gives the very same one where nothing changes."""

_ENVELOPE = ("type", "id", "parentId", "parent_id", "timestamp", "session_id")
_FLAT = ("tool_call_id", "tool_name", "content", "is_error", "details")


def is_shaped(session: Session) -> bool:
    """Whether the session is in τ's shape as it is stored."""
    header = session.header
    return (
        session.format is TAU
        and isinstance(header.get("version"), int)
        and isinstance(header.get("timestamp"), str)
        and bool(session.id)
    )


def header_of(session: Session) -> Record:
    """The header of the session in τ's shape (tau-format 1.2)."""
    header = session.header
    if is_shaped(session):
        return header
    parent, cwd = header.get("parent"), header.get("cwd")
    return {
        "type": "session",
        "version": 1,
        "id": session.id or uuid.uuid4().hex,
        "timestamp": stamp_text(header.get("timestamp")) or _first_stamp(session) or now(),
        "cwd": cwd if isinstance(cwd, str) else "",
        "parent": parent if isinstance(parent, str) else None,
    }


def log_of(session: Session, kept: Bools, header: Record, edit: Edit = lambda same: same) -> Draft:
    """A log of its own with these entries, one line each in file order. Bytes are as they are
    stored wherever nothing must change."""
    remains, shaped = remains_of(session, kept), is_shaped(session)
    draft = Draft(session.source)
    draft.add(line_of(header))
    for place in np.flatnonzero(kept).tolist():
        stored = session.record(place)
        record = remains.changed.get(place, stored)
        if not shaped:
            record = _entry(session, place, record, kept)
        record = edit(record)
        if record is not stored or not _can_stay(session, place):
            draft.add(line_of(record))
        else:
            draft.keep(*session.columns.row(place))
            draft.add(b"\n")
    return draft


def _can_stay(session: Session, place: int) -> bool:
    return not session.has(place, Flag.NOTED) or is_strict(session.raw(place))


def _entry(session: Session, place: int, record: Record, kept: Bools) -> Record:
    """A record with τ's envelope."""
    above = nearest_kept(session, place, kept)
    kind = session.kind(place)
    payload = {name: value for name, value in record.items() if name not in _ENVELOPE}
    if kind == "toolResult":
        flat = {name: payload.pop(name) for name in _FLAT if name in payload}
        payload["message"] = {"role": "toolResult", **flat}
        kind = "message"
    if "first_kept_id" in payload:
        payload["firstKeptId"] = payload.pop("first_kept_id")
    envelope = {
        "type": kind,
        "id": session.entry_id(place),
        "parentId": session.entry_id(above) if above != NOWHERE else None,
        "timestamp": stamp_text(record.get("timestamp")),
    }
    return envelope | payload


def _first_stamp(session: Session) -> str:
    stamps = (stamp_text(session.record(at).get("timestamp")) for at in range(len(session)))
    return next(filter(None, stamps), "")
