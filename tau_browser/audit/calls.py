"""Where a session calls its memory: in tool-call blocks, and in the calls that a tool made itself.

A text that merely names a tool is never a recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tau_browser.audit.said import Said
from tau_browser.audit.tools import Asked, ToolTable
from tau_browser.model.calls import call_of, results_of
from tau_browser.model.payload import Record, message_of
from tau_browser.model.session import Session, records_at
from tau_browser.model.tree import NOWHERE

_NESTED = b'"nested_calls"'


@dataclass(frozen=True, slots=True)
class MemoryCall:
    """A call of a memory's tool, and the record that answers it ({} for none).

    nested: what the tool that made it wrote down of it; {} for a call of the model itself.
    """

    call: int
    result: int
    call_id: str
    asked: Asked
    answer: Record
    nested: Mapping[str, Any]


def memory_calls(session: Session, said: Sequence[Said], tools: ToolTable) -> list[MemoryCall]:
    """All calls of a memory's tools, in the order of the file."""
    calls = [call for each in said if each.calls for call in _calls_of(session, each, tools)]
    passed_on = {(call.result, call.asked.name) for call in calls if call.asked.via}
    for call in _nested_calls(session, tools):
        if (call.result, call.asked.name) in passed_on:
            passed_on.discard((call.result, call.asked.name))  # another of the same is another
            calls = [_joined(one, call) for one in calls]
        else:
            calls.append(call)
    return sorted(calls, key=lambda each: (each.call, each.result))


def _calls_of(session: Session, said: Said, tools: ToolTable) -> list[MemoryCall]:
    asked = [
        (call, each)
        for call in said.calls
        if (each := tools.asked(call.name, call.arguments)) is not None
    ]
    if not asked:
        return []
    results = results_of(session, said.place)
    places = [results.get(call.id, NOWHERE) for call, _ in asked]
    return [
        MemoryCall(said.place, at, call.id, each, session.record(at) if at != NOWHERE else {}, {})
        for (call, each), at in zip(asked, places, strict=True)
    ]


def _nested_calls(session: Session, tools: ToolTable) -> Iterator[MemoryCall]:
    columns = session.columns
    is_result = session.roles.where(columns.role, "toolResult")
    is_result |= session.kinds.where(columns.kind, "toolResult")
    places = np.flatnonzero(is_result).astype(np.int32)
    raws = records_at(session.source, columns, places)
    for place, raw in zip(places.tolist(), raws, strict=True):
        if _NESTED not in raw:
            continue
        answer = session.record(place)
        details = message_of(answer).get("details")
        nested = details.get("nested_calls") if isinstance(details, dict) else None
        for item in nested if isinstance(nested, list) else []:
            asked = _asked_by(item, message_of(answer), tools)
            if asked is not None:
                found = call_of(session, place, answer)
                call, call_id = (found[0], found[1].id) if found else (NOWHERE, "")
                yield MemoryCall(call, place, call_id, asked, answer, item)


def _asked_by(item: Any, message: Record, tools: ToolTable) -> Asked | None:
    """What one nested call asked of a memory. By its name: its arguments may be left out."""
    if not isinstance(item, dict) or not isinstance(item.get("tool_name"), str):
        return None
    arguments = item.get("args")
    asked = tools.asked(item["tool_name"], arguments)
    if asked is None:
        return None
    via = message.get("tool_name", message.get("toolName"))
    return Asked(asked.tool, asked.name, asked.arguments, via if isinstance(via, str) else "")


def _joined(call: MemoryCall, nested: MemoryCall) -> MemoryCall:
    """A call that a tool passed on, with what that tool wrote down of it."""
    same = (call.result, call.asked.name) == (nested.result, nested.asked.name)
    if not same or call.nested or not call.asked.via:
        return call
    return MemoryCall(call.call, call.result, call.call_id, call.asked, call.answer, nested.nested)
