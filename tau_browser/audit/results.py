"""What a memory's tool gave back: outcome, error, hits, and what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tau_browser.audit import hits as grammar
from tau_browser.audit.calls import MemoryCall
from tau_browser.audit.foreign import foreign_hits
from tau_browser.audit.recall import Finding, Hit, Outcome
from tau_browser.audit.tools import JMFTS, Action
from tau_browser.model.payload import Record, Text, blocks_of, message_of

_NOT_RUN = ("Not run:", "Operation aborted")
_NESTED_OUTCOMES = {"error": Outcome.FAILED, "blocked": Outcome.BLOCKED}
_NESTED_OUTCOMES["unavailable"] = Outcome.FAILED


@dataclass(frozen=True, slots=True)
class Result:
    """recorded: hits as counted by the tool, None where it does not count · document: what was
    read or made, or the top of what was searched; "" where that is not told."""

    outcome: Outcome
    error: str = ""
    hits: list[Hit] = field(default_factory=list)
    recorded: int | None = None
    document: str = ""
    findings: list[Finding] = field(default_factory=list)


def result_of(call: MemoryCall) -> Result:
    """What came of a call."""
    if not call.answer:
        return Result(Outcome.MISSING)
    details = details_of(call.answer)
    status = call.nested.get("status", "ok")
    if status != "ok":
        error = str(call.nested.get("error") or call.nested.get("blocked_by") or status)
        return Result(_NESTED_OUTCOMES.get(str(status), Outcome.FAILED), error)
    text = text_of_result(call.answer)
    if text.startswith(_NOT_RUN):
        return Result(Outcome.BLOCKED, text)
    if message_of(call.answer).get("is_error") is True:
        return Result(Outcome.FAILED, str(details.get("exception") or text))
    if call.nested and not _is_shown(call):
        return Result(Outcome.OK)  # what it found is not written down anywhere
    if call.asked.tool.action is Action.WRITE:
        return Result(Outcome.OK, document=_id_of(details.get("doc_id")))
    if call.asked.tool.action is Action.READ:
        return _read(call, text)
    return _found(call, details, text)


def text_of_result(answer: Record) -> str:
    """The text that the model was given."""
    return "\n".join(block.text for block in blocks_of(answer) if isinstance(block, Text))


def details_of(answer: Record) -> Mapping[str, Any]:
    """What a tool wrote down for people."""
    details = message_of(answer).get("details")
    return details if isinstance(details, dict) else {}


def _is_shown(call: MemoryCall) -> bool:
    """Whether the text of the result is that of the call which a tool passed on."""
    details = details_of(call.answer)
    passed_on = details.get("nested_calls")
    return call.asked.via == "call_tool" and isinstance(passed_on, list) and len(passed_on) == 1


def _found(call: MemoryCall, details: Mapping[str, Any], text: str) -> Result:
    recorded = details.get("hits")
    if call.asked.tool.system != JMFTS:
        hits = foreign_hits(text)
        return Result(Outcome.OK if hits else Outcome.EMPTY, hits=hits)
    count = recorded if type(recorded) is int and recorded >= 0 else None
    parsed = grammar.parse(text, count)
    empty = count == 0 or (count is None and text.strip() == grammar.NOTHING)
    outcome = Outcome.EMPTY if empty else Outcome.OK
    top = _id_of(details.get("parent_id"))
    return Result(outcome, "", parsed.hits, count, top, parsed.findings)


def _read(call: MemoryCall, text: str) -> Result:
    """A document that was read counts as the one hit of its recall."""
    if call.asked.tool.system != JMFTS:
        hits = foreign_hits(text)
        return Result(Outcome.OK if hits else Outcome.EMPTY, hits=hits)
    asked_for = _id_of(call.asked.arguments.get("doc_id"))
    head, _, body = text.partition("\n\n")
    title, usetype = grammar.read_header(head, asked_for)
    hit = Hit(1, asked_for, title, usetype, None, False, body)
    return Result(Outcome.OK, hits=[hit], document=asked_for)


def _id_of(value: Any) -> str:
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
