"""Importing: a session of any readable format becomes one of the target store."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tau_browser.actions.draft import session_in
from tau_browser.actions.making import continues, item, measure, unreadable, unsound
from tau_browser.actions.plan import Plan, Read, Refusal, Refused, Verb, Way
from tau_browser.actions.shape import header_of, is_shaped, log_of
from tau_browser.actions.writer import Writer
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """cwd: the directory that the session is to go on in; None: that of its header."""

    cwd: str | None = None


def plan_import(
    session: Session,
    read: Read | None,
    request: ImportRequest,
    writer: Writer,
    taken: Callable[[str], bool],
) -> Plan:
    """The plan of an import. read: the state of the file, if it is one · taken: whether the target
    store has a session of an id already. Raises Refused where there is nothing to import."""
    kept = np.ones(len(session), np.bool_)
    if not len(session):
        raise Refused("nothing to import: no entry could be read")
    header, remarks = header_of(session), []
    if taken(header["id"]):
        remarks.append(f"a session {safe_line(header['id'])} is there already: this gets a new id")
        header = header | {"id": uuid.uuid4().hex}
    if request.cwd is not None:
        header = header | {"cwd": request.cwd}
    if not is_shaped(session):
        remarks.append(f"from the format of {_format(session)}, put into τ's shape")
    if bad := unreadable(session):
        remarks.append(f"{counted(len(bad), 'unreadable stretch')} of the source not imported")
    draft = log_of(session, kept, header)
    result = session_in(draft)
    cannot, notes = continues(session, result)
    leaf = result.leaf
    return Plan(
        verb=Verb.IMPORT,
        store=writer.store,
        about=f"import {safe_line(session.id[:8])} into the store of {writer.store}",
        read=read,
        way=Way.NEW,
        target=writer.place_for(header),
        content=draft,
        result=result,
        before=measure(session),
        after=measure(result),
        leaf=item(result, leaf) if leaf != NOWHERE else None,
        refusals=(
            *unsound(result, np.ones(len(result), np.bool_)),
            *_losses(session, result),
            *cannot,
        ),
        remarks=(*remarks, *notes),
    )


def _format(session: Session) -> str:
    return "τ's SDK" if session.format.name == "tau" else session.format.name


def _losses(session: Session, result: Session) -> list[Refusal]:
    """An import that would say less than its source is none."""
    if len(result) != len(session):
        return [Refusal(f"{len(session):,} entries would become {len(result):,}")]
    lost = [
        place
        for place in range(len(session))
        if text_of(session.record(place)) != text_of(result.record(place))
    ]
    if not lost:
        return []
    names = tuple(session.ids(lost[:5]))
    return [Refusal(f"{counted(len(lost), 'entry')} would say something else", None, names)]
