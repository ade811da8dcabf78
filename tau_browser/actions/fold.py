"""Folding: an elide at the end of a session, so that the model's context begins at an entry.

Nothing leaves the log. Accepted where τ accepts it (tau-format 3.4).
"""

from __future__ import annotations

import numpy as np

from tau_browser.actions.draft import line_of, session_in
from tau_browser.actions.making import appended, foreign, item, items, measure, new_entry
from tau_browser.actions.plan import Plan, Refusal, Refused, Remedy, Verb, Way
from tau_browser.actions.reading import Reading
from tau_browser.actions.writer import Writer
from tau_browser.model.calls import call_of, is_result
from tau_browser.model.columns import Flag, Int32s
from tau_browser.model.context import fold_at, settings_of
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.model.usage import estimate_tokens


def plan_fold(reading: Reading, first_kept: int, writer: Writer, *, pairs: bool = False) -> Plan:
    """The plan of an elide at the leaf: the context begins at an entry above it.

    Raises Refused where that entry is not on the path to the leaf, or nothing would be hidden.
    """
    session = reading.session
    leaf = session.leaf
    name = safe_line(session.entry_id(first_kept))
    if leaf == NOWHERE or not session.tree.is_ancestor(first_kept, leaf):
        raise Refused(f"{name} is not on the path to the leaf: the model does not see it anyway")
    refusals = foreign(session) + reading.busy()
    path = session.tree.path(leaf)
    kept = path[np.flatnonzero(path == first_kept)[0] :]
    if call := _call_above(session, kept):
        if pairs:
            first_kept, name = call, safe_line(session.entry_id(call))
            kept = path[np.flatnonzero(path == first_kept)[0] :]
        else:
            reason = f"{name} stands between a tool call and its result"
            refusals.append(Refusal(reason, Remedy.PAIRS, (session.entry_id(call),)))
    hidden = _hidden(session, kept)
    if not len(hidden):
        raise Refused(f"nothing would be hidden: the context begins at {name} already")
    tokens = sum(estimate_tokens(len(text_of(session.record(at)))) for at in hidden.tolist())
    record = new_entry(
        session,
        "elide",
        leaf,
        firstKeptId=session.entry_id(first_kept),
        coveredEntries=len(hidden),
        coveredTokens=tokens,
        configId=_config_at(session, path),
    )
    draft = appended(session, line_of(record))
    result = session_in(draft)
    return Plan(
        verb=Verb.FOLD,
        store=writer.store,
        about=f"fold {safe_line(session.id[:8])}: the context begins at {name}",
        read=reading.read,
        way=Way.APPEND,
        target=reading.read.path,
        content=draft,
        result=result,
        before=measure(session),
        after=measure(result),
        leaf=item(result, result.leaf),
        leaving=items(session, hidden.tolist()),
        refusals=tuple(refusals),
        remarks=(
            f"{counted(len(hidden), 'entry')} leave the model's context; none leaves the session",
            *writer.remarks(Way.APPEND, result),
        ),
    )


def _hidden(session: Session, kept: Int32s) -> Int32s:
    """What the context loses: all of it that is neither kept nor a system prompt."""
    context = fold_at(session, session.leaf).context
    lost = context[~np.isin(context, kept)]
    hidden: Int32s = lost[~session.roles.where(session.columns.role[lost], "system")]
    return hidden


def _call_above(session: Session, kept: Int32s) -> int | None:
    """The entry above the kept ones that makes a call which one of them answers."""
    above = [
        found[0]
        for place in kept.tolist()
        if is_result(session, place) and (found := call_of(session, place))
        if found[0] not in kept
    ]
    return min(above, default=None)


def _config_at(session: Session, path: Int32s) -> str | None:
    """The nearest entry of the path that sets the configuration."""
    columns = session.columns
    sets = (columns.flags[path] & Flag.CONFIG) != 0
    sets |= session.kinds.where(columns.kind[path], "model_change", "thinking_change")
    for place in reversed(path[sets].tolist()):
        if settings_of(session.record(place)):
            return session.entry_id(place)
    return None
