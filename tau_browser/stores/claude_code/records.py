"""Claude Code's records in τ's shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tau_browser.model.payload import Record, lines_of

SIDECHAIN = "sidechain"
"""Stands for the id of a sub-agent that has none."""

_BY_PROGRAM = (
    "<command-",
    "<local-command-",
    "<bash-",
    "<ide_",
    "<task-notification>",
    "<system-reminder>",
    "<user-memory-input>",
    "Caveat: The messages below",
)
"""How messages begin that stand under the user's name, but report what the program did."""
_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
}
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}
_ENVELOPE = {
    *("type", "uuid", "parentUuid", "logicalParentUuid", "timestamp", "isSidechain", "agentId"),
    *("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "requestId"),
}
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
RESULTS = ("tool_result", "web_search_tool_result", "mcp_tool_result")
"""Blocks that hold what a tool answered."""


def kind_of(
    type: str, subtype: str | None, *, meta: bool, summary: bool, text: Any, results: bool
) -> tuple[str, str | None, str]:
    """Kind, custom type and role of a record.

    meta, summary: what the program says of it · text: its content, if that is a string · results:
    whether it holds results of tools, which stand under the user's name.
    """
    match type:
        case "user" if results:
            return "message", None, "toolResult"
        case "user" if summary:
            return "customMessage", "compact_summary", "custom"
        case "user" if meta:
            return "customMessage", "meta", "custom"
        case "user" if isinstance(text, str) and text.startswith(_BY_PROGRAM):
            return "customMessage", "command", "custom"
        case "user" | "assistant":
            return "message", None, type
        case "system" if subtype == "compact_boundary":
            return "compaction", None, ""
        case "system":
            return "customMessage", subtype or "system", "custom"
        case "attachment":
            return "customEntry", "attachment", ""
        case "custom-title":
            return "session_info", None, ""
    return type, None, ""


def is_failure(type: str, subtype: str | None, level: str | None) -> bool:
    """Whether a notice of the program tells of a failure."""
    return type == "system" and (level == "error" or subtype == "api_error")


def in_shape_of_tau(stored: Record) -> Record:
    """A record as τ would have written it."""
    get = stored.get
    message = stored["message"] if isinstance(get("message"), dict) else {}
    content = message.get("content")
    kind, custom, role = kind_of(
        str(get("type") or ""),
        get("subtype"),
        meta=get("isMeta") is True,
        summary=get("isCompactSummary") is True,
        text=content,
        results=any(_type_of(block) in RESULTS for block in _items(content)),
    )
    record: Record = {"type": kind, "timestamp": get("timestamp")}
    if "uuid" in stored:
        record["id"] = get("uuid")
        record["parentId"] = get("parentUuid") or get("logicalParentUuid")
    if custom is not None:
        record["customType"] = custom
    if get("isSidechain") is True:
        record["branchOf"] = get("agentId") or SIDECHAIN
    if is_failure(kind_type := str(get("type")), get("subtype"), get("level")):
        record["is_error"] = True
    rest = {name: value for name, value in stored.items() if name not in _ENVELOPE}
    match kind:
        case "message":
            record["message"] = _message(stored, message, role)
        case "compaction":
            record |= _compaction(stored)
        case "customMessage" if kind_type == "system":
            said = rest.pop("content", None)
            said = said if isinstance(said, str) and said else "\n".join(lines_of(rest))
            record["message"] = {"role": role, "customType": custom, "content": said}
        case "customMessage":
            record["message"] = _message(stored, message, role) | {"customType": custom}
        case "customEntry":
            record["data"] = rest.pop("attachment", None)
        case "session_info":
            record["name"] = get("customTitle")
        case _:
            record = rest | record
    return record


def _message(stored: Record, message: Record, role: str) -> Record:
    content = message.get("content")
    shaped = message | {"role": role}
    if not isinstance(content, str):
        shaped["content"] = list(_blocks(content))
    if role == "assistant":
        stop = message.get("stop_reason")
        shaped["stop_reason"] = _STOPS.get(stop, stop) if isinstance(stop, str) else None
        if stored.get("isApiErrorMessage") is True:
            shaped["stop_reason"] = "error"
        if isinstance(usage := message.get("usage"), dict):
            shaped["usage"] = {new: usage.get(old) or 0 for old, new in _USAGE.items()}
    if role == "toolResult":
        results = [block for block in _items(content) if _type_of(block) in RESULTS]
        shaped["tool_call_id"] = str(results[0].get("tool_use_id", ""))
        shaped["is_error"] = any(block.get("is_error") is True for block in results)
        if isinstance(details := stored.get("toolUseResult"), dict):
            shaped["details"] = details
    return shaped


def _blocks(content: Any) -> Iterator[Any]:
    for block in _items(content):
        kind = _type_of(block)
        if kind in _CALLS:
            name, arguments = block.get("name"), block.get("input")
            yield {"type": "toolCall", "id": block.get("id"), "name": name, "arguments": arguments}
        elif kind in RESULTS:
            yield from _blocks(block.get("content"))
        elif kind == "redacted_thinking":
            yield {"type": "thinking", "thinking": ""}
        elif kind == "image" and isinstance(source := block.get("source"), dict):
            yield {
                "type": "image",
                "data": source.get("data"),
                "mime_type": source.get("media_type"),
            }
        else:
            yield block


def _compaction(stored: Record) -> Record:
    data = stored.get("compactMetadata")
    data = data if isinstance(data, dict) else {}
    kept = data.get("preservedSegment", stored.get("preservedSegment"))
    return {
        "summary": stored.get("content") if isinstance(stored.get("content"), str) else "",
        "tokensBefore": data.get("preTokens"),
        "firstKeptId": kept.get("headUuid") if isinstance(kept, dict) else None,
    }


def _items(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if content is not None else []


def _type_of(block: Any) -> Any:
    return block.get("type") if isinstance(block, dict) else None
