"""Forking: a new session out of the path to an entry, of all entries, or of the marked ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tau_browser.actions.making import item, items, measure, unreadable
from tau_browser.actions.pairs import parted
from tau_browser.actions.plan import Plan, Refusal, Refused, Remedy, Verb, Way
from tau_browser.actions.programs.known import rules_of
from tau_browser.actions.programs.rules import Rules
from tau_browser.actions.reading import Reading
from tau_browser.actions.remains import remains_of
from tau_browser.actions.writer import Writer
from tau_browser.model.calls import call_of, is_result
from tau_browser.model.columns import Flag, Int32s
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE

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
    """The plan of a fork: its entries keep ids, times and order, and the source stays as it is.

    Raises Refused where there is nothing to plan.
    """
    session, rules = reading.session, rules_of(reading.session)
    if request.cwd and not rules.moves:
        raise Refused(f"a fork for {rules.program} goes on in the directory of its source")
    remarks: list[str] = []
    refusals = rules.unfit(reading) + reading.busy(copies=True, force=request.force)
    order, path = _order(session, request, rules, refusals, remarks)
    kept = np.zeros(len(session), np.bool_)
    kept[order] = True
    refusals += rules.unsound(session, kept)
    remarks += [*rules.left_behind(session, kept), *rules.remarks(reading)]
    if bad := unreadable(session):
        remarks.append(f"{counted(len(bad), 'unreadable stretch')} of the source not copied")

    remains = remains_of(session, kept, rules)
    if refusal := remains.refusal(session):
        refusals.append(Refusal(refusal.reason, None, refusal.entries))
    header = rules.header(reading, request.cwd)
    draft = rules.new_session(reading, header, order, remains.changed)
    if request.name.strip():
        draft.add(rules.name_line(rules.read(draft, header), request.name.strip()))
    result = rules.read(draft, header)
    cannot, notes = rules.continues(session, result)
    refusals += cannot
    refusals += _elsewhere(session, result, rules, order, path)
    gone = np.flatnonzero(~kept).tolist()
    return Plan(
        verb=Verb.FORK,
        store=writer.store,
        about=f"fork {_what(session, request, path)}",
        read=reading.read,
        way=Way.NEW,
        target=writer.place_for(header),
        content=draft,
        result=result,
        before=measure(session),
        after=measure(result, pieces=writer.keeps_pieces),
        leaf=item(result, result.leaf) if result.leaf != NOWHERE else None,
        leaving=items(session, gone),
        references=tuple(remains.loose),
        refusals=tuple(refusals),
        remarks=(*remarks, *notes, *writer.remarks(Way.NEW, result)),
    )


def nearest_legal(session: Session, place: int, rules: Rules) -> int:
    """The entry itself, or its nearest ancestor at which the program can go on; NOWHERE."""
    while place != NOWHERE and not rules.goes_on_at(session, place):
        place = int(session.tree.parent[place])
    return place


def _order(
    session: Session,
    request: ForkRequest,
    rules: Rules,
    refusals: list[Refusal],
    remarks: list[str],
) -> tuple[list[int], Int32s]:
    """The places of the entries to copy, in the order in which they are written; and the path to
    where a fork at an entry is to go on."""
    path = np.zeros(0, np.int32)
    places, end = np.arange(len(session), dtype=np.int32), None
    if request.only:
        places = rules.with_own(session, _only(session, request), None)
    elif request.at is not None:
        path = _path(session, request, request.at, rules, refusals, remarks)
        end = int(path[-1])
        places = rules.with_own(session, path, end)
    return rules.layout(session, places, end), path


def _path(
    session: Session,
    request: ForkRequest,
    asked: int,
    rules: Rules,
    refusals: list[Refusal],
    remarks: list[str],
) -> Int32s:
    """The path to where the fork is to go on."""
    at, program = nearest_legal(session, asked, rules), rules.program
    if at == NOWHERE:
        raise Refused(
            f"{program} cannot go on at {safe_line(session.entry_id(asked))}, nor above it: "
            "fork at another entry"
        )
    if at != asked:
        name, legal = (safe_line(session.entry_id(place)) for place in (asked, at))
        why = "was interrupted" if session.has(asked, Flag.INCOMPLETE) else "is no place"
        where = f"the fork ends at {legal}, above it"
        remarks.append(f"{name} {why} at which {program} can go on: {where}")
    path = session.tree.path(at)
    missing, ends = rules.unanswered(session, path), [at]
    while missing and request.pairs and max(missing) not in ends:
        ends.append(max(missing))
        path = session.tree.path(ends[-1])
        missing = rules.unanswered(session, path)
    if len(ends) > 1:
        remarks.append(f"the fork goes on to {safe_line(session.entry_id(ends[-1]))}, a result")
    if missing:
        names = tuple(session.ids(missing))
        reason = "the path ends between a tool call and its result"
        refusals.append(Refusal(reason, None if request.pairs else Remedy.PAIRS, names))
    return path


def _only(session: Session, request: ForkRequest) -> Int32s:
    """The marked turns with their tool calls and results, and what the program needs to go on: the
    system prompts and settings above them."""
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
    return np.flatnonzero(kept).astype(np.int32)


def _turn(session: Session, place: int) -> list[int]:
    """The entries of the turn that a user's message opens; of any other entry, only itself."""
    if not session.is_user[place]:
        return [place]
    tree, turn = session.tree, session.outline.turn
    start = int(tree.position[place])
    below = tree.order[start : start + int(tree.size[place])]
    own = below[turn[below] == place]
    return [place, *own.tolist()]


def _elsewhere(
    session: Session, result: Session, rules: Rules, order: list[int], path: Int32s
) -> list[Refusal]:
    """A fork at an entry must go on there, and nowhere else."""
    if result.leaf == NOWHERE or not len(path):
        return []
    needed = np.flatnonzero(np.isin(order, path))
    if np.isin(needed, result.tree.path(result.leaf)).all():
        return []
    leaf, wanted = result.entry_id(result.leaf), session.entry_id(int(path[-1]))
    reason = f"{rules.program} would go on at {safe_line(leaf)}, not at {safe_line(wanted)}"
    return [Refusal(reason)]


def _what(session: Session, request: ForkRequest, path: Int32s) -> str:
    source = safe_line(session.id[:8])
    if request.only:
        return f"{source}, only {counted(len(request.only), 'marked entry')} and what they need"
    if request.at is None:
        return f"{source}, all of it"
    return f"{source} at {safe_line(session.entry_id(int(path[-1])))}"
