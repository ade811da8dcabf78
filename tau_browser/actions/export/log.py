"""The log that an export is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tau_browser.actions.draft import Draft
from tau_browser.actions.export.request import ExportRequest
from tau_browser.actions.pairs import parted
from tau_browser.actions.programs.rules import Rules
from tau_browser.actions.redaction.findings import Redactor
from tau_browser.actions.remains import remains_of
from tau_browser.model.columns import Bools
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.text import counted


@dataclass(frozen=True, slots=True)
class Log:
    """Some entries of a session as a log of their own: which, their bytes, and what is read from
    them, and what to know about it."""

    kept: Bools
    draft: Draft
    session: Session
    remarks: tuple[str, ...] = ()


def native_log(
    session: Session, chosen: Bools, request: ExportRequest, redactor: Redactor, rules: Rules
) -> Log:
    """The chosen entries in the format of their own program, which reopens them, under the id of
    the session. Lines keep their bytes where nothing must change, for the program or for a secret.
    """
    places = np.flatnonzero(chosen).astype(np.int32)
    if request.at is not None:
        places = rules.with_own(session, places, request.at)
    order = rules.layout(session, places, request.at)
    kept = np.zeros(len(session), np.bool_)
    kept[order] = True
    remains = remains_of(session, kept, rules)
    changed: dict[int, Record] = dict(remains.changed)
    for place in order:
        record = changed.get(place) or rules.stored(session, place)
        if (hidden := redactor.record(record)) is not record:
            changed[place] = hidden
    header = redactor.record(rules.own_header(session))
    draft = rules.copy(session, header, order, changed)
    made = rules.read(draft, header)
    cannot, _ = rules.continues(session, made)
    against = [*rules.unsound(session, kept), *filter(None, [remains.refusal(session)]), *cannot]
    remarks = rules.left_behind(session, kept)
    if halves := parted(session, kept):
        alone = len(halves.calls) + len(halves.results)
        remarks.append(f"{counted(alone, 'entry')} with half a tool call")
    remarks += [f"{rules.program} cannot reopen it: {refusal.reason}" for refusal in against]
    return Log(kept, draft, made, (*remarks, *([] if against else [rules.reopens(made)])))
