"""Pruning: subtrees go, from a copy or from the session itself; or the context begins later.

Everything else keeps its bytes: lines are cut out, and only lines that refer to what goes are
written anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tau_browser.actions.draft import Draft, line_of
from tau_browser.actions.fold import plan_fold
from tau_browser.actions.making import (
    first_line_is_header,
    item,
    items,
    measure,
    unreadable,
    unsound,
)
from tau_browser.actions.pairs import parted
from tau_browser.actions.plan import Plan, Refusal, Refused, Remedy, Verb, Way
from tau_browser.actions.programs.known import rules_of
from tau_browser.actions.programs.rules import TAU_RULES, Rules
from tau_browser.actions.reading import Reading
from tau_browser.actions.remains import Remains, remains_of
from tau_browser.actions.writer import Writer
from tau_browser.model.columns import Bools
from tau_browser.model.diagnostic import Severity
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE


class How(StrEnum):
    """What pruning may mean."""

    COPY = "to a copy"
    IN_PLACE = "in place"
    FOLD = "fold instead"


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """The roots of the subtrees to prune, by place. pairs, force: see `Remedy`."""

    roots: tuple[int, ...]
    how: How = How.COPY
    cwd: str | None = None
    pairs: bool = False
    force: bool = False


def plan_prune(reading: Reading, request: PruneRequest, writer: Writer) -> Plan:
    """The plan of pruning. Raises Refused where there is nothing to plan."""
    if not request.roots:
        raise Refused("nothing to prune: name an entry")
    session, to_copy = reading.session, request.how is How.COPY
    rules = rules_of(session)
    if rules is not TAU_RULES and not to_copy:
        raise Refused(f"a session of {rules.program} is pruned in a copy only")
    if request.how is How.FOLD:
        return plan_fold(reading, request.roots[0], writer, pairs=request.pairs)
    refusals = _refusals(reading, request, rules)
    removed = _subtrees(session, request.roots)
    remarks = _take_along(session, removed, rules, refusals, pairs=request.pairs)
    order = rules.layout(session, np.flatnonzero(~removed).astype(np.int32), None)
    kept = np.zeros(len(session), np.bool_)
    kept[order] = True
    remains = remains_of(session, kept, rules)
    if refusal := remains.refusal(session):
        refusals.append(refusal)

    header = rules.header(reading, request.cwd) if to_copy else session.header
    if rules is TAU_RULES:
        refusals += unsound(session, removed)
        draft = _cut(reading, remains, line_of(header) if to_copy else b"")
    else:
        refusals += rules.unsound(session, kept)
        remarks += [*rules.left_behind(session, kept), *rules.remarks(reading)]
        if bad := unreadable(session):
            remarks.append(f"{counted(len(bad), 'unreadable stretch')} of the source not copied")
        draft = rules.new_session(reading, header, order, remains.changed)
    result = rules.read(draft, header)
    cannot, notes = rules.continues(session, result)
    if session.leaf != NOWHERE and removed[session.leaf] and result.leaf != NOWHERE:
        leaf = safe_line(result.entry_id(result.leaf))
        remarks.append(f"the leaf goes: {rules.program} reopens at {leaf}")
    pruned = counted(int(removed.sum()), "entry")
    way = Way.NEW if to_copy else Way.REPLACE
    return Plan(
        verb=Verb.PRUNE,
        store=writer.store,
        about=f"prune {pruned} of {safe_line(session.id[:8])} {request.how}",
        read=reading.read,
        way=way,
        target=writer.place_for(header) if to_copy else reading.read.path,
        content=draft,
        result=result,
        before=measure(session),
        after=measure(result, pieces=writer.keeps_pieces or not to_copy),
        leaf=item(result, result.leaf) if result.leaf != NOWHERE else None,
        leaving=items(session, session.tree.order[~kept[session.tree.order]].tolist()),
        references=tuple(remains.loose),
        refusals=(*refusals, *cannot),
        remarks=(*remarks, *writer.remarks(way, result), *notes),
    )


def _refusals(reading: Reading, request: PruneRequest, rules: Rules) -> list[Refusal]:
    """Why the session as a whole is not to be pruned. Raises Refused where nothing of it is."""
    session = reading.session
    to_copy = request.how is How.COPY
    holders = rules.holders(session)
    if asides := [root for root in request.roots if not holders[root]]:
        names = safe_line(", ".join(session.ids(asides)))
        raise Refused(f"{names}: nothing hangs under it: prune an entry of the conversation")
    refusals = rules.unfit(reading) + reading.busy(copies=to_copy, force=request.force)
    bad = unreadable(session)
    if bad and rules is TAU_RULES:
        reason = f"{', '.join(bad[:5])}: no entry, and τ opens no such session; fork it whole first"
        refusals.append(Refusal(f"{reason}: the copy leaves out what cannot be read"))
    elif to_copy and rules is TAU_RULES and not first_line_is_header(session):
        refusals.append(Refusal("the session's header is not its first line"))
    return refusals


def _subtrees(session: Session, roots: tuple[int, ...]) -> Bools:
    tree = session.tree
    removed = np.zeros(len(session), np.bool_)
    for root in roots:
        start = int(tree.position[root])
        removed[tree.order[start : start + int(tree.size[root])]] = True
    return removed


def _take_along(
    session: Session, removed: Bools, rules: Rules, refusals: list[Refusal], *, pairs: bool
) -> list[str]:
    """Refuse what would be parted or, where a person wants that, let it go too. Returns remarks."""
    along: list[int] = []
    while halves := parted(session, ~removed):
        alone = [*halves.calls, *halves.results]
        if not pairs:
            names = halves.names(session)
            reason = f"{counted(len(alone), 'entry')} would be left with half a tool call"
            refusals.append(Refusal(reason, Remedy.PAIRS, names))
            break
        along += alone
        removed |= _subtrees(session, tuple(alone))
    if pairs:
        while anchors := remains_of(session, ~removed, rules).anchors:
            along += anchors
            removed |= _subtrees(session, tuple(anchors))
    if not along:
        return []
    return [f"taken along: {', '.join(map(safe_line, session.ids(along)))} and what hangs below"]


def _cut(reading: Reading, remains: Remains, header: bytes) -> Draft:
    """The log without the lines that go. header: takes the place of the first line, if any."""
    session = reading.session
    draft = Draft(session.source)
    at = 0
    if header:
        draft.add(header)
        at = first_line_is_header(session)
    for start, stop, instead in _edits(reading, remains):
        draft.keep(at, start)
        draft.add(instead)
        at = stop
    end = _whole(session)
    draft.keep(at, end)
    if draft.size and draft.read(draft.size - 1, draft.size) != b"\n":
        draft.add(b"\n")
    return draft


def _edits(reading: Reading, remains: Remains) -> list[tuple[int, int, bytes]]:
    """The stretches of bytes that go or are written anew, in order."""
    session, records = reading.session, reading.records
    columns = session.columns
    keys = np.unique(columns.key[~remains.kept])
    edits = [
        (start, _line_end(session, start, stop), b"")
        for start, stop in zip(
            *(
                column[np.isin(records.key, keys)].tolist()
                for column in (records.start, records.stop)
            ),
            strict=True,
        )
    ]
    for place, record in remains.changed.items():
        edits.append((*columns.row(place), line_of(record).rstrip(b"\n")))
    return sorted(edits)


def _line_end(session: Session, start: int, stop: int) -> int:
    """Where the line of a record ends, its newline included; the record's own end where the line
    holds anything else."""
    if start and session.source.read(start - 1, start) != b"\n":
        return stop
    for newline in (b"\n", b"\r\n"):
        if session.source.read(stop, stop + len(newline)) == newline:
            return stop + len(newline)
    return stop


def _whole(session: Session) -> int:
    """Where what is whole of a log ends: before a last line that is still being written."""
    torn = [at.byte for at in session.diagnostics if at.severity is Severity.PENDING]
    return min([session.size, *(byte for byte in torn if byte is not None)])
