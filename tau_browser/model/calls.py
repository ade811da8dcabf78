"""Tool calls and their results, paired by ancestry (tau-format 0.5, 4.7).

The id of a call is no key: copying a branch copies it too. A result answers the nearest assistant
entry above it that has a call of its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from tau_browser.model.payload import Call, Record, blocks_of, message_of
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE

_CLOSE = 64
"""Entries above a result that are gone through one by one in search of its call."""

_MAX_ABOVE = 200
"""Answers above a result that are looked at for the name of its tool."""

_MAX_VISITED = 10_000
"""Entries below a call that are looked at in search of its results."""

# An id that every writer of JSON spells the same way, so that it can be looked for in raw bytes.
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:-]+")


def call_of(
    session: Session, place: int, record: Record | None = None, *, most: int | None = None
) -> tuple[int, Call] | None:
    """The call that a tool result answers, and the entry that made it.

    record: that of the entry, from whoever has it decoded already: it may be large · most: how many
    answers of the model are looked at, if not all above.
    """
    call_id = result_id(session.record(place) if record is None else record)
    if not call_id:
        return None
    needle = call_id.encode() if _PLAIN_ID.fullmatch(call_id) else b""
    for at in islice(_answers_above(session, place), most):
        if needle in session.raw(at):
            for call in _calls(session.record(at)):
                if call.id == call_id:
                    return at, call
    return None


def _answers_above(session: Session, place: int) -> Iterator[int]:
    """The model's answers on the path to an entry, the nearest first. Step by step at the start: a
    call is close to its result, and a path may be long."""
    parent = session.tree.parent
    at = int(parent[place])
    for _ in range(_CLOSE):
        if at == NOWHERE:
            return
        if session.role(at) == "assistant":
            yield at
        at = int(parent[at])
    if at != NOWHERE:
        path = session.tree.path(at)
        answers = path[session.roles.where(session.columns.role[path], "assistant")]
        yield from reversed(answers.tolist())


class ResultNames:
    """Names the results of tools after their calls, where the program writes no name into them.

    What it is given in the order of the conversation costs nothing more than a look; for any other
    result it looks for the call above.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._names: dict[str, str] = {}  # by the id of a call

    def named(self, place: int, record: Record) -> Record:
        """The record of an entry; a result with the name of the tool, if that is known."""
        if self.session.format.names_results:
            return record
        for call in _calls(record):
            self._names[call.id] = call.name
        if not is_nameless(record):
            return record
        call_id = result_id(record)
        if call_id not in self._names:
            found = call_of(self.session, place, record, most=_MAX_ABOVE)
            self._names[call_id] = found[1].name if found else ""
        name = self._names[call_id]
        return record | {"message": message_of(record) | {"tool_name": name}} if name else record


def results_of(session: Session, place: int, record: Record | None = None) -> dict[str, int]:
    """The nearest result of each call that an assistant entry makes: {call id: its place}.

    Looks below the entry, not past the next answer of the model: what follows that one belongs
    to it. An answer may stand in several entries, one after the other, with the results of all of
    their calls after them. Of results on several branches, the one on the branch that goes on
    comes first. record: as for `call_of`.
    """
    record = session.record(place) if record is None else record
    wanted = _call_ids(record)
    results: dict[str, int] = {}
    level, visited = [(place, True)], 0  # each with whether nothing but the answer was met so far
    while level and len(results) < len(wanted) and visited < _MAX_VISITED:
        below = [(child, own) for at, own in level for child in _children(session, at)]
        visited += len(below)
        level = []
        for child, own in below:
            if is_result(session, child):
                call_id = result_id(session.record(child))
                if call_id in wanted:
                    results.setdefault(call_id, child)
                level.append((child, False))
            elif session.role(child) != "assistant":
                level.append((child, own and session.role(child) != "user"))
            elif own and wanted.isdisjoint(_call_ids(session.record(child))):
                level.append((child, True))
    return results


def is_result(session: Session, place: int) -> bool:
    """Whether an entry is a tool's result. τ's SDK files have a kind for it, not a role."""
    return "toolResult" in (session.role(place), session.kind(place))


def is_nameless(record: Record) -> bool:
    """Whether an entry is a tool's result that says which call it is of, but not which tool."""
    return bool(result_id(record)) and not message_of(record).get("tool_name")


def result_id(record: Record) -> str:
    """The id of the call that a tool result says it answers; "" if it says none."""
    message = message_of(record)
    value = message.get("tool_call_id", message.get("toolCallId"))
    return value if isinstance(value, str) else ""


def _call_ids(record: Record) -> set[str]:
    return {call.id for call in _calls(record)} - {""}


def _calls(record: Record) -> list[Call]:
    return [block for block in blocks_of(record) if isinstance(block, Call)]


def _children(session: Session, place: int) -> list[int]:
    """The children of an entry, the one on the branch that goes on first."""
    position = session.tree.position
    return sorted(session.tree.children(place), key=position.__getitem__, reverse=True)
