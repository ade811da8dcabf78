"""How pi writes its lines: τ's envelope, with names of its own inside.

Version 1 has no ids and is one chain in file order; version 2 is a tree; version 3 renamed the
messages of hooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, field

from tau_browser.model.columns import PREVIOUS, Columns, Names
from tau_browser.model.format import Format, Links, is_linear
from tau_browser.model.heads import Count, Head, MessageHead, Usage
from tau_browser.model.payload import Record
from tau_browser.model.tree import NOWHERE

_KINDS = {
    "custom": "customEntry",
    "custom_message": "customMessage",
    "hookMessage": "customMessage",
    "label": "customEntry",
    "thinking_level_change": "thinking_change",
}
"""pi's kinds where τ has another word."""
_MESSAGE = {
    "toolCallId": "tool_call_id",
    "toolName": "tool_name",
    "isError": "is_error",
    "stopReason": "stop_reason",
    "errorMessage": "error_message",
}
_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cacheRead": "cache_read_tokens",
    "cacheWrite": "cache_write_tokens",
}
_SAID = ("content", "display", "details")


class _Usage(Usage, frozen=True, gc=False):
    input_tokens: Count = field(default=0, name="input")
    output_tokens: Count = field(default=0, name="output")
    cache_read_tokens: Count = field(default=0, name="cacheRead")
    cache_write_tokens: Count = field(default=0, name="cacheWrite")


class _Message(MessageHead, frozen=True, gc=False):
    stop_reason: str | None = field(default=None, name="stopReason")
    is_error: bool = field(default=False, name="isError")
    usage: _Usage | None = None


class _Line(Head, frozen=True, gc=False):
    """τ's head of a line: only the names in the message differ."""

    message: _Message = _Message()


class PiFormat(Format):
    """All versions of pi's format."""

    name = program = "pi"

    def heads(self, lines: bytes, header: Record | None) -> tuple[Sequence[Head], Links]:
        heads: Sequence[Head] = _decode_lines(lines)
        linear = is_linear(header)
        return [
            head if head.type == "message" and not linear else _in_words_of_tau(head, linear)
            for head in heads
        ], []

    def header(self, record: Record) -> Record | None:
        if record.get("type") != "session":
            return None
        parent = record.get("parentSession", record.get("branchedFrom"))
        return record | {"parent": parent} if isinstance(parent, str) else record

    def head(self, record: Record, header: Record | None) -> tuple[Head, list[str], Any]:
        return super().head(self.record(record), header)

    def leaf(self, columns: Columns, kinds: Names) -> int:
        """pi goes on at the last entry of the file, whatever that is."""
        return len(columns) - 1 if len(columns) else NOWHERE

    def record(self, stored: Record) -> Record:
        rest = dict(stored)
        kind = rest.get("type")
        if isinstance(kind, str):
            rest["type"] = _KINDS.get(kind, kind)
        match kind:
            case "message" if isinstance(rest.get("message"), dict):
                rest["message"] = _message(rest["message"])
            case "custom_message" | "hookMessage":
                said = {name: rest.pop(name) for name in _SAID if name in rest}
                rest["message"] = {"role": "custom", "customType": rest.get("customType"), **said}
            case "label":
                said = {name: rest.pop(name, None) for name in ("label", "targetId")}
                rest |= {"customType": "label", "data": said}
            case "model_change":
                rest |= {"model": rest.pop("modelId", None), "backend": rest.pop("provider", None)}
            case "thinking_level_change":
                rest["level"] = rest.pop("thinkingLevel", None)
            case "compaction":
                rest["firstKeptId"] = _first_kept(rest)
                if history := _retained(rest):
                    rest["history"] = history
        return rest


PI = PiFormat()

_decode_lines = msgspec.json.Decoder(_Line).decode_lines


def _in_words_of_tau(head: Head, linear: bool) -> Head:
    kind = _KINDS.get(head.type, head.type)
    custom = "label" if head.type == "label" else head.customType
    head = msgspec.structs.replace(head, type=kind, customType=custom)
    if kind == "customMessage":
        message = msgspec.structs.replace(head.message, role="custom")
        head = msgspec.structs.replace(head, message=message)
    if linear and head.id is UNSET and head.parentId is UNSET:
        head = msgspec.structs.replace(head, parentId=PREVIOUS)
    return head


def _message(stored: Record) -> Record:
    message = {_MESSAGE.get(name, name): value for name, value in stored.items()}
    usage = message.get("usage")
    if isinstance(usage, dict):
        message["usage"] = {_USAGE.get(name, name): value for name, value in usage.items()}
        cost = usage.get("cost")
        if isinstance(cost, dict) and cost.get("total"):
            message["usage"]["extra"] = {"cost as pi counted it, USD": cost["total"]}
    if message.get("role") == "bashExecution" and "content" not in message:
        message["content"] = f"{message.get('command', '')}\n{message.get('output', '')}"
    return message


def _retained(compaction: Record) -> list[Record]:
    """The messages that a compaction keeps in itself, where no entry is named that it keeps from
    there on."""
    tail = compaction.get("retainedTail")
    if compaction["firstKeptId"] is not None or not isinstance(tail, list):
        return []
    said = (item.get("message", item) for item in tail if isinstance(item, dict))
    return [_message(message) for message in said if isinstance(message, dict)]


def _first_kept(compaction: Record) -> Any:
    """The first entry that a compaction keeps. Version 1 counts lines, the header as the first;
    later ones may keep the entries themselves."""
    index, tail = compaction.get("firstKeptEntryIndex"), compaction.get("retainedTail")
    if isinstance(index, int):
        return f"line-{index + 1}"
    if isinstance(tail, list) and tail and isinstance(tail[0], dict):
        return compaction.get("firstKeptEntryId", tail[0].get("id"))
    return compaction.get("firstKeptEntryId")
