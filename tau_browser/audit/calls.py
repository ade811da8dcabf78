"""Where a session calls its memory: in tool-call blocks, and in the calls that a tool made itself.

A text that merely names a tool is never a recall.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from tau_browser.audit.tools import Asked, ToolTable
from tau_browser.audit.transcript import Transcript
from tau_browser.model.calls import call_of, results_of
from tau_browser.model.payload import Record, message_of
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE


@dataclass(frozen=True, slots=True)
class MemoryCall:
    """A call of a memory's tool. question, answer: the records that it and its result stand in, {}
    for none.

    nested: what the tool that made it wrote down of it; {} for a call of the model itself.
    """

    call: int
    result: int
    call_id: str
    asked: Asked
    question: Record
    answer: Record
    nested: Mapping[str, Any]


def memory_calls(session: Session, transcript: Transcript, tools: ToolTable) -> list[MemoryCall]:
    """All calls of a memory's tools, in the order of the file."""
    calls = _own_calls(session, transcript.calls)
    passed_on = {(call.result, call.asked.name) for call in calls if call.asked.via}
    for call in _nested_calls(session, transcript.telling, tools):
        if (call.result, call.asked.name) in passed_on:
            passed_on.discard((call.result, call.asked.name))  # another of the same is another
            calls = [_joined(one, call) for one in calls]
        else:
            calls.append(call)
    return sorted(calls, key=lambda each: (each.call, each.result))


def _own_calls(session: Session, made: Iterable[tuple[int, str, Asked]]) -> list[MemoryCall]:
    """Those that the model made itself."""
    calls = []
    for place, some in groupby(made, key=itemgetter(0)):
        question = session.record(place)
        results = results_of(session, place, question)
        for _, call_id, asked in some:
            result = results.get(call_id, NOWHERE)
            answer = session.record(result) if result != NOWHERE else {}
            calls.append(MemoryCall(place, result, call_id, asked, question, answer, {}))
    return calls


def _nested_calls(
    session: Session, telling: Iterable[int], tools: ToolTable
) -> Iterator[MemoryCall]:
    """Those that other tools made. telling: the results that may tell of any."""
    for place in telling:
        answer = session.record(place)
        details = message_of(answer).get("details")
        nested = details.get("nested_calls") if isinstance(details, dict) else None
        for item in nested if isinstance(nested, list) else []:
            asked = _asked_by(item, message_of(answer), tools)
            if asked is not None:
                found = call_of(session, place, answer)
                call, call_id = (found[0], found[1].id) if found else (NOWHERE, "")
                question = session.record(call) if found else {}
                yield MemoryCall(call, place, call_id, asked, question, answer, item)


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
    return replace(call, nested=nested.nested)
