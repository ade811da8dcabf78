"""What plans have in common: new ids and headers, measures, and the checks before any change."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable

import numpy as np

from tau_browser.actions.draft import Draft
from tau_browser.actions.journal import now
from tau_browser.actions.plan import Item, Measure, Refusal
from tau_browser.model.columns import Bools, Flag
from tau_browser.model.context import config_at, fold_at
from tau_browser.model.diagnostic import Severity
from tau_browser.model.heads import decode_record
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.payload import Record, text_of
from tau_browser.model.session import Session
from tau_browser.model.summary import session_name
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE, is_foreign
from tau_browser.model.usage import estimate_tokens
from tau_browser.stores.jmfts.storing import is_piece

_IN_CONTEXT = ("message", "customMessage", "compaction", "branch_summary")
_NAMED = 5  # lines or entries that a refusal names


def fork_header(session: Session, cwd: str | None) -> Record:
    """The header of a new session made of this one (tau-format 1.2)."""
    old = session.header.get("cwd")
    return {
        "type": "session",
        "version": 1,
        "id": uuid.uuid4().hex,
        "timestamp": now(),
        "cwd": cwd or (old if isinstance(old, str) else ""),
        "parent": session.id,
    }


def new_entry(session: Session, kind: str, parent: int, **payload: object) -> Record:
    """A new entry of a session, in τ's spelling; its id is like no other there."""
    entry_id = uuid.uuid4().hex[:8]
    while session.find(entry_id):
        entry_id = uuid.uuid4().hex[:8]
    above = session.entry_id(parent) if parent != NOWHERE else None
    envelope = {"type": kind, "id": entry_id, "parentId": above, "timestamp": now()}
    return envelope | payload


def appended(session: Session, line: bytes) -> Draft:
    """The log of a session with one more line at its end."""
    draft = Draft(session.source)
    draft.keep(0, session.size)
    if session.size and session.source.read(session.size - 1, session.size) != b"\n":
        draft.add(b"\n")
    draft.add(line)
    return draft


def is_strict(raw: bytes) -> bool:
    """Whether τ, too, can read a record: it takes UTF-8 and JSON and nothing else."""
    try:
        return isinstance(json.loads(raw.decode()), dict)
    except (ValueError, RecursionError):
        return False


def measure(session: Session, *, pieces: bool = True) -> Measure:
    """How large a session is, its context as of the leaf. pieces: whether those count that a
    server cut entries into for its search."""
    entries = len(session) - (0 if pieces else _pieces_in(session))
    if session.leaf == NOWHERE:
        return Measure(entries, 0, 0)
    context = fold_at(session, session.leaf).context
    shown = context[session.kinds.where(session.columns.kind[context], *_IN_CONTEXT)]
    tokens = sum(estimate_tokens(len(text_of(session.record(at)))) for at in shown.tolist())
    return Measure(entries, len(context), tokens)


def _pieces_in(session: Session) -> int:
    foreign = np.flatnonzero(is_foreign(session.columns, session.kinds))
    return sum(is_piece(session.record(at)) for at in foreign.tolist())


def item(session: Session, place: int) -> Item:
    """An entry in one line."""
    record = session.record(place)
    said = label_of(session, place, record)
    speaker = speaker_of(record)
    return Item(session.entry_id(place), f"{speaker}: {said}" if said else speaker)


def items(session: Session, places: Iterable[int]) -> tuple[Item, ...]:
    """Entries in one line each."""
    return tuple(item(session, place) for place in places)


def foreign(session: Session) -> list[Refusal]:
    """Why a session cannot be changed as τ's, if it is not one."""
    header = session.header
    if header.get("version") == 1 and isinstance(header.get("timestamp"), str) and session.id:
        return []
    if not header:
        return [Refusal("the session has no header: its id and directory are unknown")]
    return [Refusal("not in the format of τ's sessions: import it, and change what that makes")]


def unsound(session: Session, kept: Bools) -> list[Refusal]:
    """What is wrong with the entries that would be written, so that τ would misread them."""
    return [*ambiguous(session, kept), *nameless(session, kept)]


def ambiguous(session: Session, kept: Bools, program: str = "τ") -> list[Refusal]:
    """Why not, if one id stands for several of the entries."""
    same = np.flatnonzero(kept & ((session.columns.flags & Flag.SAME_ID) != 0)).tolist()
    if not same:
        return []
    reason = f"one id stands for different entries (lines {line_numbers(session, same)})"
    return [Refusal(f"{reason}: {program} would drop some")]


def nameless(session: Session, kept: Bools, program: str = "τ") -> list[Refusal]:
    """Why not, if some of the entries have no id."""
    found = np.flatnonzero(kept & ((session.columns.flags & Flag.NO_ID) != 0)).tolist()
    if not found:
        return []
    reason = f"entries without an id (lines {line_numbers(session, found)})"
    return [Refusal(f"{reason}: {program} cannot open those")]


def line_numbers(session: Session, places: Iterable[int]) -> str:
    """The numbers of the lines of some entries, for a sentence."""
    return _some(str(session.columns.line[at]) for at in places)


def unreadable(session: Session) -> list[str]:
    """Where a session holds bytes that are no entry, for a sentence."""
    found = [at for at in session.diagnostics if at.severity is Severity.UNREADABLE]
    return [f"line {at.line}" if at.line is not None else at.reason for at in found]


def continues(source: Session, result: Session) -> tuple[list[Refusal], list[str]]:
    """Why τ could not go on in a session that is made of another, and what to know about how."""
    if result.leaf == NOWHERE:
        return [Refusal("nothing would be left at which τ could go on")], []
    refusals, remarks = [], name_goes(source, result)
    path = result.tree.path(result.leaf)
    cut_off = path[(result.columns.flags[path] & Flag.INCOMPLETE) != 0]
    if len(cut_off):
        names = _some(result.ids(cut_off))
        refusals.append(
            Refusal(f"{names} was interrupted, and τ goes on from nothing that hangs below it")
        )
    if "model" not in config_at(result, result.leaf):
        remarks.append("no model is set on the path to its leaf: τ will ask for one or refuse")
    return refusals, remarks


def name_goes(source: Session, result: Session) -> list[str]:
    """What to know, if a session that is made of another has not its name."""
    name = session_name(source)
    return [f"its name goes: {safe_line(name)}"] if name and not session_name(result) else []


def first_line_is_header(session: Session) -> int:
    """Where the line after the header begins, in bytes; 0 where the header is not the first."""
    at, found = 0, b""
    while b"\n" not in found and (more := session.source.read(at, at + 65536)):
        found, at = found + more, at + len(more)
    line, end, _ = found.partition(b"\n")
    return len(line + end) if decode_record(line) == session.header != {} else 0


def _some(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - _NAMED
    shown = ", ".join(safe_line(name) for name in names[:_NAMED])
    return f"{shown} and {counted(more, 'other')}" if more > 0 else shown
