"""What a call asked for, in words that are the same for all memories, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tau_browser.audit.calls import MemoryCall
from tau_browser.audit.recall import Setting
from tau_browser.audit.results import details_of
from tau_browser.audit.tools import JMFTS, Action
from tau_browser.model.payload import Record, message_of
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.model.tree import NOWHERE

# What τ's search takes where a call leaves it out (tau-format 4.7).
_DEFAULTS: dict[str, str | int] = {"scope": "conversation", "method": "hybrid", "limit": 8}

_QUERIES = ("query", "q", "text", "question", "search_query", "pattern", "command")
_LIMITS = ("limit", "k", "top_k", "max_results", "n_results", "num_results")
_SCOPES = ("scope", "namespace", "user_id", "path", "file_path")
_DOCUMENTS = ("doc_id", "id", "memory_id", "record_id", "names", "path", "file_path")


def query_of(call: MemoryCall) -> str:
    """What was searched for, or the title of what was written; "" for a read."""
    arguments = call.asked.arguments
    match call.asked.tool.action:
        case Action.SEARCH:
            return _text(_first(arguments, _QUERIES))
        case Action.WRITE:
            return _text(_first(arguments, ("title", "content", "text", "data")))
        case _:
            return ""


def document_of(call: MemoryCall) -> str:
    """The document that a call names: the one to read, or the top of what is searched."""
    return _text(_first(call.asked.arguments, _DOCUMENTS))


def settings_of(call: MemoryCall) -> dict[str, Setting]:
    """Scope, method and limit as they were in force; those of τ's own search are known where the
    call leaves them out, and marked as assumed."""
    arguments = call.asked.arguments
    limit = _first(arguments, _LIMITS)
    found = {
        "scope": Setting(_text(_first(arguments, _SCOPES)) or None),
        "method": Setting(_text(arguments.get("method")) or None),
        "limit": Setting(limit if type(limit) is int else None),
    }
    if call.asked.tool.system == JMFTS and call.asked.tool.action is Action.SEARCH:
        recorded = details_of(call.answer).get("scope")
        if isinstance(recorded, str):
            found["scope"] = Setting(recorded)
        for name, default in _DEFAULTS.items():
            if found[name].value is None:
                found[name] = Setting(default, assumed=True)
    return found


def latency_of(call: MemoryCall) -> tuple[float | None, bool]:
    """Milliseconds that a call took, and whether the tool measured them; else it is the time
    between two entries, in which the model may still have been speaking."""
    measured = call.nested.get("duration_ms")
    if isinstance(measured, int | float) and not isinstance(measured, bool):
        return float(measured), True
    if NOWHERE in (call.call, call.result):
        return None, False
    asked, answered = _time(call.question), _time(call.answer)
    known = NO_TIME not in (asked, answered) and answered >= asked
    return (float(answered - asked) if known else None), False


def _time(record: Record) -> int:
    stamped = parse_time(message_of(record).get("timestamp"))
    return parse_time(record.get("timestamp")) if stamped == NO_TIME else stamped


def _first(arguments: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((arguments[name] for name in names if arguments.get(name) is not None), None)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return str(value) if isinstance(value, str | int | float) else ""
