"""A session in one row of a list: its name, what it is about, how large and how sound it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tau_browser.model.diagnostic import Severity
from tau_browser.model.payload import Record, Text, blocks_of
from tau_browser.model.times import format_time, parse_time

if TYPE_CHECKING:  # lists of known sessions do without the model and its numpy
    from tau_browser.model.session import Session

_TITLE_LENGTH = 50


class Summary(msgspec.Struct, frozen=True):
    """What a list tells about one session. Times as written; "" where unknown."""

    id: str
    title: str
    named: bool
    cwd: str
    parent: str | None  # id of the session it was forked from
    created: str
    modified: str
    entries: int
    messages: int  # of user and assistant on the path to the leaf; of a hierarchy, all entries
    forks: int
    unreadable: int  # stretches of bytes that hold no entry
    damage: int  # entries that are harmed, or linked to nothing
    notes: int  # other findings
    pending: bool  # the last line is still being written
    partial: bool = False  # only what a list of a far store tells; entries: 0, or their number


def summary_of(session: Session) -> Summary:
    """The row of a session."""
    header = session.header
    path = session.tree.order if session.is_nested else session.tree.path(session.leaf)
    said = path[session.kinds.where(session.columns.kind[path], "message")]
    roles = session.columns.role[said]
    prompts = said[session.roles.where(roles, "user")]
    name = session_name(session)
    severities = [finding.severity for finding in session.diagnostics]
    created = stamp_text(header.get("timestamp"))
    parent = header.get("parent", header.get("parentSession"))
    return Summary(
        id=session.id,
        title=name or _first_words(session, prompts) or placeholder_title(session.id),
        named=bool(name),
        cwd=header["cwd"] if isinstance(header.get("cwd"), str) else "",
        parent=parent if isinstance(parent, str) else None,
        created=created,
        modified=_last_stamp(session) or created,
        entries=len(session),
        messages=len(session)
        if session.is_nested
        else int(session.roles.where(roles, "user", "assistant").sum()),
        forks=len(session.forks),
        unreadable=severities.count(Severity.UNREADABLE),
        damage=severities.count(Severity.DAMAGE),
        notes=severities.count(Severity.NOTE),
        pending=Severity.PENDING in severities,
    )


def session_name(session: Session) -> str:
    """The newest name in file order, on any branch; "" if there is none (tau-format 2.5)."""
    named = session.places_of_kind("session_info")
    name = session.record(named[-1]).get("name") if named else None
    if name is None and isinstance(session.header.get("session_name"), str):
        name = session.header["session_name"]
    return name.strip() if isinstance(name, str) else ""


def user_text(record: Record) -> str:
    """The text blocks of a message, joined with a space, as τ's list does it."""
    return " ".join(block.text for block in blocks_of(record) if isinstance(block, Text)).strip()


def stamp_text(value: Any) -> str:
    """A timestamp as text: as written, or in τ's spelling if it was written as a number."""
    if isinstance(value, str):
        return value
    return format_time(parse_time(value)) or ""


def placeholder_title(session_id: str) -> str:
    """What stands for the title of a session in which nothing was said."""
    return f"Session ({session_id[:8]})" if session_id else "(no session id)"


def _first_words(session: Session, prompts: Any) -> str:
    for place in prompts:
        if text := user_text(session.record(int(place))):
            return text[:_TITLE_LENGTH] + ("..." if len(text) > _TITLE_LENGTH else "")
    return ""


def _last_stamp(session: Session) -> str:
    for place in reversed(range(len(session))):
        if text := stamp_text(session.record(place).get("timestamp")):
            return text
    return ""
