"""Importing: a session of any store as a conversation on a server, with nothing lost."""

from __future__ import annotations

import numpy as np

from tau_browser.actions.draft import Draft
from tau_browser.actions.making import continues, foreign, item, measure, unreadable, unsound
from tau_browser.actions.plan import Plan, Refusal, Verb, Way
from tau_browser.actions.reading import Reading
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.model.columns import Flag
from tau_browser.model.session import Session
from tau_browser.model.summary import summary_of
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.jmfts.storing import obstacle

_NAMED = 5  # entries that a refusal names


def plan_import(reading: Reading, writer: ServerWriter) -> Plan:
    """The plan of an import: entries keep their times, order and payload; ids become the numbers
    of documents, in what refers to them, too."""
    session = reading.session
    everything = np.ones(len(session), np.bool_)
    refusals = foreign(session) + reading.busy(copies=True) + unsound(session, everything)
    refusals += _unstorable(session) + _out_of_order(session)
    cannot, notes = continues(session, session)
    content = Draft(session.source)
    content.keep(0, session.size)
    return Plan(
        verb=Verb.IMPORT,
        store=writer.store,
        about=f"import {safe_line(session.id[:8])}: {safe_line(summary_of(session).title)}",
        read=reading.read,
        way=Way.NEW,
        target=writer.place_for(session.header),
        content=content,
        result=session,
        before=measure(session),
        after=measure(session),
        leaf=item(session, session.leaf) if session.leaf != NOWHERE else None,
        refusals=(*refusals, *cannot),
        remarks=(*_remarks(session, writer), *notes),
    )


def _unstorable(session: Session) -> list[Refusal]:
    """What a server cannot hold."""
    found: dict[str, list[str]] = {}
    for at in range(len(session)):
        if reason := obstacle(session.record(at)):
            found.setdefault(reason, []).append(session.entry_id(at))
    return [
        Refusal(
            f"{safe_line(', '.join(ids[:_NAMED]))}: {reason}, and the server takes no such entry",
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
    names = session.ids(late)
    said = safe_line(", ".join(names[:_NAMED]))
    return [Refusal(f"{said}: written before the entry it hangs under", entries=tuple(names))]


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
