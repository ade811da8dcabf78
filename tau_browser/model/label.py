"""What stands in an entry's row: who speaks, and the first line of what is said.

Agrees in meaning with τ's own previews (tau-format 2.7); where those are empty, or spell a call as
Python code, the row says more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tau_browser.model.context import ANCHORS, fold_at
from tau_browser.model.format import TAU
from tau_browser.model.payload import (
    Call,
    Image,
    Other,
    Record,
    Text,
    Thinking,
    blocks_of,
    lines_of,
    message_of,
    text_of,
)
from tau_browser.model.session import Session
from tau_browser.model.text import first_line, safe_line
from tau_browser.model.tree import NOWHERE

_SHOWN_FIELDS = 4

SEALED = "(sealed thinking)"
"""What stands for thoughts of which only a signature, or their cipher, is stored."""


def speaker_of(record: Record) -> str:
    """Who or what an entry is, in one safe word or two: a role, a tool, a kind."""
    message = message_of(record)
    role = message.get("role")
    if role == "toolResult":
        return safe_line(
            f"tool {message.get('tool_name') or message.get('toolName') or ''}"
        ).strip()
    custom = record.get("customType")
    if isinstance(custom, str) and custom:
        return safe_line(custom)
    if isinstance(role, str) and role and record.get("type") == "message":
        return safe_line(role)
    return safe_line(str(record.get("type") or "(no type)"))


def label_of(session: Session, place: int, record: Record) -> str:
    """What an entry says, in one safe line."""
    if record.get("type") in ANCHORS:
        return _anchor_label(session, place, record)
    if "origin" in record and isinstance(title := record.get("title"), str):  # a translation's
        return first_line(title)
    if message_of(record):
        return _message_label(record)
    if record.get("type") == "customEntry" and record.get("customType") not in _SPELLED_OUT:
        return first_line(", ".join(lines_of(record.get("data"))[:_SHOWN_FIELDS]))
    return first_line(text_of(record))


_SPELLED_OUT = ("config", "agent_spec")


def call_label(call: Call) -> str:
    """A tool call in one safe line: its name and its first argument that says something."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}
    said = (value for value in arguments.values() if isinstance(value, str) and value.strip())
    return first_line(f"{call.name} {next(said, '').strip()}")


def covered_by(session: Session, anchor: int) -> int:
    """How many entries a compaction or elide drops from the context of the one before it."""
    before = fold_at(session, int(session.tree.parent[anchor])).context
    kept = fold_at(session, anchor).context
    return len(np.setdiff1d(before, kept))


def _message_label(record: Record) -> str:
    blocks = blocks_of(record)
    said = [first_line(b.text) for b in blocks if isinstance(b, Text) and b.text.strip()][:1]
    calls = [f"→ {call_label(block)}" for block in blocks if isinstance(block, Call)]
    rest = [first_line(block.text) for block in blocks if isinstance(block, Image | Other)]
    is_result = message_of(record).get("role") == "toolResult"  # which may hold its own call
    order = (*calls, *said, *rest) if is_result else (*said, *calls, *rest)
    parts = [part for part in order if part]
    if not parts:
        thoughts = [block.text for block in blocks if isinstance(block, Thinking)]
        said = [first_line(text) for text in thoughts if text.strip()]
        parts = said[:1] or [SEALED for _ in thoughts[:1]]
    return "  ".join(parts)


def _anchor_label(session: Session, place: int, record: Record) -> str:
    resumes = record.get("firstKeptId")
    if session.tree.parent[place] == NOWHERE:
        span = "folds nothing"
    else:
        count = covered_by(session, place)
        verb = "folds" if record["type"] == "compaction" else "hides"
        span = f"{verb} {count} {'entry' if count == 1 else 'entries'}"
    if resumes is not None or session.format is TAU:  # others may keep nothing
        span += f", resumes at {resumes}"
        if session.tree.parent[place] != NOWHERE and fold_at(session, place).resumes == NOWHERE:
            span += " (not on this path)"
    summary: Any = record.get("summary")
    said = first_line(summary) if isinstance(summary, str) else ""
    return safe_line(span) + (f" — {said}" if said else "")
