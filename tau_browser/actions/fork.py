"""Forking: a new session out of the path to an entry, of all entries, or of the marked ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tau_browser.actions.draft import line_of, session_in
from tau_browser.actions.making import (
    continues,
    copied,
    foreign,
    fork_header,
    item,
    items,
    measure,
    new_entry,
    unreadable,
    unsound,
)
from tau_browser.actions.pairs import parted
from tau_browser.actions.plan import Plan, Refusal, Refused, Remedy, Verb, Way
from tau_browser.actions.reading import Reading
from tau_browser.actions.remains import remains_of
from tau_browser.actions.writer import Writer
from tau_browser.model.calls import call_of, is_result, results_of
from tau_browser.model.columns import Bools, Flag, Int32s
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.jmfts.records import FOREIGN

_SETTINGS = ("model_change", "thinking_change")


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """What to fork. at: the entry at whose end the fork goes on, by place; None: all entries ·
    only: if any, no other turns than these · pairs, force: see `Remedy`."""

    at: int | None = None
    only: tuple[int, ...] = ()
    cwd: str | None = None
    name: str = ""
    pairs: bool = False
    force: bool = False


def plan_fork(reading: Reading, request: ForkRequest, writer: Writer) -> Plan:
    """The plan of a fork: its entries keep ids, times and order, and the source stays as it is."""
    session = reading.session
    remarks: list[str] = []
    refusals = foreign(session) + reading.busy(copies=True, force=request.force)
    chosen = _order(session, request, refusals, remarks)
    order = [*chosen, *_beside(session, chosen)]
    kept = np.zeros(len(session), np.bool_)
    kept[order] = True
    refusals += unsound(session, kept)
    if bad := unreadable(session):
        remarks.append(f"{counted(len(bad), 'unreadable stretch')} of the source not copied")

    remains = remains_of(session, kept)
    if refusal := remains.refusal(session):
        refusals.append(Refusal(refusal.reason, None, refusal.entries))
    header = fork_header(session, request.cwd)
    draft = copied(session, header, order, remains.changed)
    if request.name.strip():
        draft.add(_name_line(session_in(draft), request.name.strip()))
    result = session_in(draft)
    cannot, notes = continues(session, result)
    refusals += cannot
    refusals += _elsewhere(session, result, request, chosen)
    gone = np.flatnonzero(~kept).tolist()
    return Plan(
        verb=Verb.FORK,
        store=writer.store,
        about=f"fork {_what(session, request, chosen)}",
        read=reading.read,
        way=Way.NEW,
        target=writer.place_for(header),
        content=draft,
        result=result,
        before=measure(session),
        after=measure(result),
        leaf=item(result, result.leaf) if result.leaf != NOWHERE else None,
        leaving=items(session, gone),
        references=tuple(remains.loose),
        refusals=tuple(refusals),
        remarks=(*remarks, *notes, *writer.remarks(Way.NEW, result)),
    )


def nearest_legal(session: Session, place: int) -> int:
    """The entry itself, or its nearest ancestor at which τ can go on (tau-format 2.3); NOWHERE."""
    while place != NOWHERE and not _is_legal(session, place):
        place = int(session.tree.parent[place])
    return place


def _is_legal(session: Session, place: int) -> bool:
    kind = session.kind(place)
    return (
        kind != "navigate"
        and ":" not in kind
        and not session.has(place, Flag.INCOMPLETE | Flag.NO_ID)
    )


def _order(
    session: Session, request: ForkRequest, refusals: list[Refusal], remarks: list[str]
) -> list[int]:
    """The places of the entries to copy, in the order in which they are written."""
    if request.only:
        return np.flatnonzero(_only(session, request)).tolist()
    if request.at is None:
        return list(range(len(session)))
    at = nearest_legal(session, request.at)
    if at == NOWHERE:
        raise Refused(
            f"τ cannot go on at {safe_line(session.entry_id(request.at))}, nor above it: "
            "fork at another entry"
        )
    if at != request.at:
        asked, legal = (safe_line(session.entry_id(place)) for place in (request.at, at))
        why = "was interrupted" if session.has(request.at, Flag.INCOMPLETE) else "is no place"
        remarks.append(f"{asked} {why} at which τ can go on: the fork ends at {legal}, above it")
    path = session.tree.path(at)
    missing = _unanswered(session, path)
    if missing and request.pairs:
        deepest = max(missing, key=lambda place: int(session.tree.depth[place]))
        path = session.tree.path(deepest)
        remarks.append(f"the fork goes on to {safe_line(session.entry_id(deepest))}, a result")
        missing = _unanswered(session, path)
    if missing:
        names = tuple(session.ids(missing))
        reason = "the path ends between a tool call and its result"
        refusals.append(Refusal(reason, None if request.pairs else Remedy.PAIRS, names))
    order: list[int] = path.tolist()
    return order


def _unanswered(session: Session, path: Int32s) -> list[int]:
    """The results that lie beyond the end of a path and answer calls on it."""
    assistants = path[session.roles.where(session.columns.role[path], "assistant")]
    if not len(assistants):
        return []
    last = int(assistants[-1])  # what came before it, the model went on from
    return [place for place in results_of(session, last).values() if place not in path]


def _only(session: Session, request: ForkRequest) -> Bools:
    """The marked turns with their tool calls and results, and what τ needs to go on: the system
    prompts and settings above them."""
    tree, columns = session.tree, session.columns
    kept = np.zeros(len(session), np.bool_)
    for place in request.only:
        kept[_turn(session, place)] = True
    for place in np.flatnonzero(kept).tolist():
        if is_result(session, place) and (found := call_of(session, place)):
            kept[found[0]] = True
    halves = parted(session, kept)
    kept[[result for results in halves.calls.values() for result in results]] = True
    needed = (columns.flags & Flag.CONFIG) != 0
    needed |= session.kinds.where(columns.kind, *_SETTINGS)
    needed |= session.kinds.where(columns.kind, "message") & session.roles.where(
        columns.role, "system"
    )
    for place in np.flatnonzero(kept).tolist():
        above = tree.path(place)
        kept[above[needed[above]]] = True
    return kept


def _beside(session: Session, chosen: list[int]) -> list[int]:
    """What others put below these entries, or beside all of the conversation: it goes along."""
    tree = session.tree
    here = {NOWHERE, *chosen}
    along = []
    foreign = np.asarray(session.places_of_kind(FOREIGN), np.intp)
    for place in foreign[np.argsort(tree.position[foreign])].tolist():
        if place not in here and int(tree.parent[place]) in here:
            here.add(place)
            along.append(place)
    return sorted(along)


def _turn(session: Session, place: int) -> list[int]:
    """The entries of the turn that a user's message opens; of any other entry, only itself."""
    if not session.is_user[place]:
        return [place]
    tree, turn = session.tree, session.outline.turn
    start = int(tree.position[place])
    below = tree.order[start : start + int(tree.size[place])]
    own = below[turn[below] == place]
    return [place, *own.tolist()]


def _name_line(result: Session, name: str) -> bytes:
    return line_of(new_entry(result, "session_info", result.leaf, name=name))


def _elsewhere(
    session: Session, result: Session, request: ForkRequest, order: list[int]
) -> list[Refusal]:
    """A fork at an entry must go on there, and nowhere else."""
    if request.at is None or request.only or result.leaf == NOWHERE or not order:
        return []
    path = set(result.ids(result.tree.path(result.leaf)))
    wanted = session.entry_id(order[-1])
    if wanted in path and len(path) >= len(order):
        return []
    leaf = safe_line(result.entry_id(result.leaf))
    return [Refusal(f"τ would go on at {leaf}, not at {safe_line(wanted)}")]


def _what(session: Session, request: ForkRequest, order: list[int]) -> str:
    source = safe_line(session.id[:8])
    if request.only:
        return f"{source}, only {counted(len(request.only), 'marked entry')} and what they need"
    if request.at is None:
        return f"{source}, all of it"
    return f"{source} at {safe_line(session.entry_id(order[-1]))}"
