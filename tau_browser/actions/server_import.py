"""Importing: a session of any store as a conversation on a server, with nothing lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tau_browser.actions.draft import Draft, session_in
from tau_browser.actions.making import continues, foreign, item, measure, unreadable, unsound
from tau_browser.actions.plan import Loose, Plan, Refusal, Verb, Way
from tau_browser.actions.programs.rules import TAU_RULES
from tau_browser.actions.reading import Reading
from tau_browser.actions.references import references_of, referrers, with_reference
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.model.columns import Flag
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.summary import summary_of
from tau_browser.model.text import counted, safe_line
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.jmfts.records import FOREIGN, REQUIRED
from tau_browser.stores.jmfts.storing import obstacle

_NAMED = 5  # entries that a refusal names
_LISTS_NOTHING = "τ could list no conversation of the server any more"
_INSTEAD = "prune it to a copy, and import that"


def plan_import(reading: Reading, writer: ServerWriter) -> Plan:
    """The plan of an import: entries keep their times, order and payload; ids become the numbers
    of documents, in what refers to them, too."""
    session = reading.session
    everything = np.ones(len(session), np.bool_)
    refusals = foreign(session) + reading.busy(copies=True) + unsound(session, everything)
    refusals += _header(session) + _unstorable(session) + _timeless(session)
    refusals += _out_of_order(session)
    changed, loose = _dangling(session)
    content, result = Draft(session.source), session
    content.keep(0, session.size)
    if changed:
        content = TAU_RULES.copy(session, session.header, range(len(session)), changed)
        result = session_in(content)
    cannot, notes = continues(session, session)
    return Plan(
        verb=Verb.IMPORT,
        store=writer.store,
        about=f"import {safe_line(session.id[:8])}: {safe_line(summary_of(session).title)}",
        read=reading.read,
        way=Way.NEW,
        target=writer.place_for(session.header),
        content=content,
        result=result,
        before=measure(session),
        after=measure(result, pieces=writer.keeps_pieces),
        leaf=item(result, result.leaf) if result.leaf != NOWHERE else None,
        references=tuple(loose),
        refusals=(*refusals, *cannot),
        remarks=(*_remarks(session, writer), *notes),
    )


def _header(session: Session) -> list[Refusal]:
    """Why no conversation can begin with the session's header. Where it was written, and that it is
    no fork, is added."""
    header = {"hostname": "", "parent": None} | session.header
    if missing := [name for name in REQUIRED if name not in header]:
        return [Refusal(f"its header lacks {', '.join(missing)}, and τ opens no such conversation")]
    if why := obstacle(header):
        return [Refusal(f"its header: {why}, and the server takes no such document")]
    if not _is_time(header["timestamp"]):
        return [Refusal(f"its header has no time: {_LISTS_NOTHING}")]
    return []


def _timeless(session: Session) -> list[Refusal]:
    """Entries of τ's without a time."""
    found = [
        session.entry_id(at)
        for at in range(len(session))
        if session.kind(at) != FOREIGN and not _is_time(session.record(at).get("timestamp"))
    ]
    if not found:
        return []
    return [Refusal(f"{_some(found)}: without a time: {_LISTS_NOTHING}", entries=tuple(found))]


def _is_time(value: object) -> bool:
    return isinstance(value, str) and parse_time(value) != NO_TIME


def _dangling(session: Session) -> tuple[dict[int, Record], list[Loose]]:
    """Entries that refer to the number of a document which is not among them: here, that number may
    be another's. They refer to nothing, then."""
    changed: dict[int, Record] = {}
    loose = []
    for place in referrers(session):
        for field, target in references_of(session.record(place)).items():
            if target.isdecimal() and not session.find(target):
                record = changed.get(place) or session.record(place)
                changed[place] = with_reference(record, field, None)
                loose.append(Loose(session.entry_id(place), field, target, None))
    return changed, loose


def _unstorable(session: Session) -> list[Refusal]:
    """What a server cannot hold."""
    found: dict[str, list[str]] = {}
    for at in range(len(session)):
        if reason := obstacle(session.record(at)):
            found.setdefault(reason, []).append(session.entry_id(at))
    return [
        Refusal(
            f"{_some(ids)}: {reason}, and the server takes no such entry: {_INSTEAD}",
            entries=tuple(ids),
        )
        for reason, ids in found.items()
    ]


def _out_of_order(session: Session) -> list[Refusal]:
    """Entries that stand before their parents: documents are numbered as they are made, and a
    parent is made first."""
    parent = session.tree.parent
    late = np.flatnonzero(parent >= np.arange(len(parent))).tolist()
    if not late:
        return []
    names = tuple(session.ids(late))
    return [Refusal(f"{_some(names)}: written before the entry it hangs under", entries=names)]


def _some(ids: Sequence[str]) -> str:
    return safe_line(", ".join(ids[:_NAMED]))


def _remarks(session: Session, writer: ServerWriter) -> list[str]:
    remarks = []
    if there := writer.conversations_of(session.id):
        numbers = ", ".join(f"document {number}" for number in there)
        remarks.append(f"a conversation of this id is there already: {numbers}; this adds another")
    if bad := unreadable(session):
        remarks.append(f"{counted(len(bad), 'unreadable stretch')} of the source not imported")
    lost = np.flatnonzero(session.columns.flags & (Flag.ORPHAN | Flag.CYCLE)).tolist()
    if lost:
        remarks.append(f"{counted(len(lost), 'entry')} without a parent will hang under the root")
    return [*remarks, *writer.remarks(Way.NEW, session)]
