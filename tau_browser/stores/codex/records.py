"""Codex's records in τ's shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tau_browser.model.payload import Record, lines_of

_NOT_TYPED = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
)
"""How messages begin that stand under the user's name, but that the program put there."""
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")
SAYINGS = {
    "user_message": "user",
    "agent_message": "assistant",
    "agent_reasoning": "thinking",
    "agent_reasoning_raw_content": "thinking",
}
"""Events that say what a response item says too, and whose words they are."""
ITEMS = {"UserMessage": "user", "AgentMessage": "assistant"}
"""The same of the events that the newest versions write at the end of an item."""
_EXITED = re.compile(
    r"(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Exit code: |Process exited with code )(-?\d+)"
)
_NAMES = {"local_shell_call": "local_shell", "web_search_call": "web_search"}
_FAILURES = ("error", "stream_error")


def payload_of(stored: Record) -> Record:
    """What a line tells. The first version had no envelope."""
    payload = stored.get("payload")
    return payload if isinstance(payload, dict) else stored


def is_context(text: str) -> bool:
    """Whether the program put these words under the user's name."""
    return text.startswith(_NOT_TYPED)


def kind_of(type: str, inner: str, role: str, *, by_program: bool) -> tuple[str, str | None, str]:
    """Kind, custom type and role. type, inner: of the line and of its payload · by_program: of a
    message, see `is_context`."""
    if inner == "message":
        if role == "user" and by_program:
            return "customMessage", "context", "custom"
        return "message", None, "system" if role == "developer" else role
    if inner in CALLS or inner == "reasoning":
        return "message", None, "assistant"
    if inner in OUTPUTS:
        return "message", None, "toolResult"
    if inner in SAYINGS:
        return "message", None, "user" if inner == "user_message" else "assistant"
    match type:
        case "turn_context":
            return "customEntry", "config", ""
        case "compacted":
            return "compaction", None, ""
        case "event_msg" if inner == "thread_name_updated":
            return "session_info", None, ""
        case "event_msg":
            return "customEntry", "turn_error" if inner in _FAILURES else inner, ""
    return "customEntry", inner or type or None, ""


def first_text(content: Any) -> str | None:
    """The first words of a message."""
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            return str(block["text"])
    return content if isinstance(content, str) else None


def in_shape_of_tau(stored: Record) -> Record:
    """A record as τ would have written it."""
    payload = payload_of(stored)
    inner = str(payload.get("type", ""))
    text = first_text(payload.get("content"))
    role = str(payload.get("role", ""))
    by_program = text is not None and is_context(text)
    kind, custom, role = kind_of(str(stored.get("type", "")), inner, role, by_program=by_program)
    record: Record = {"type": kind, "timestamp": stored.get("timestamp")}
    if custom is not None:
        record["customType"] = custom
    match kind:
        case "message" | "customMessage":
            record["message"] = _message(payload, inner, role)
        case "compaction":
            record["summary"] = str(payload.get("message") or "")
            if history := [*_history(payload.get("replacement_history"))]:
                record["history"] = history
        case "session_info":
            record["name"] = payload.get("thread_name", payload.get("name"))
        case _ if custom == "config":
            record["data"] = _settings(payload)
        case _:
            hidden = {"type", "payload", "timestamp"}
            record["data"] = {key: value for key, value in payload.items() if key not in hidden}
    return record


def _history(items: Any) -> Iterator[Record]:
    """The messages that stand for all that was before, in τ's shape."""
    for item in _list(items):
        if isinstance(item, dict):
            message = in_shape_of_tau({"type": "response_item", "payload": item}).get("message")
            yield message or {"role": str(item.get("type", "")), "content": lines_of(item)}


def _message(payload: Record, inner: str, role: str) -> Record:
    get = payload.get
    message: Record = {"role": role}
    if inner in CALLS:
        call_id = get("call_id") or get("id")
        name = get("name") or _NAMES.get(inner, inner)
        call = {"type": "toolCall", "id": call_id, "name": name, "arguments": _arguments(payload)}
        return message | {"content": [call]}
    if inner in OUTPUTS:
        text, failed = output_of(get("output"))
        return message | {"tool_call_id": get("call_id"), "content": text, "is_error": failed}
    if inner == "reasoning":
        parts = [*_list(get("summary")), *_list(get("content"))]
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        thought = "\n\n".join(text for text in texts if isinstance(text, str))
        return message | {"content": [{"type": "thinking", "thinking": thought}]}
    if inner in ("agent_reasoning", "agent_reasoning_raw_content"):
        return message | {"content": [{"type": "thinking", "thinking": get("text")}]}
    if inner in SAYINGS:
        return message | {"content": get("message")}
    return message | {"content": [_block(block) for block in _list(get("content"))]}


def output_of(output: Any) -> tuple[Any, bool]:
    """What a tool answered, and whether it failed. Older versions wrote JSON into a string."""
    failed = False
    if isinstance(output, str) and output.startswith("{"):
        try:
            decoded = json.loads(output)
        except (ValueError, RecursionError):
            decoded = None
        if isinstance(decoded, dict) and "output" in decoded:
            output = decoded
    if isinstance(output, dict):
        metadata = output.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        failed = output.get("success") is False or code not in (None, 0)
        output = output.get("output", output.get("content"))
    if isinstance(output, list):
        return [_block(block) for block in output], failed
    if isinstance(output, str) and (exited := _EXITED.match(output)):
        failed = failed or int(exited[1]) != 0
    return output if isinstance(output, str) else "\n".join(lines_of(output)), failed


def _arguments(payload: Record) -> Any:
    get = payload.get
    if "arguments" in payload:
        arguments = get("arguments")
        try:
            return json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            return arguments
    return get("action") if "action" in payload else {"input": get("input")}


def _block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    if block.get("type") in ("input_text", "output_text", "text"):
        return {"type": "text", "text": block.get("text")}
    url = block.get("image_url")
    if block.get("type") == "input_image" and isinstance(url, str) and url.startswith("data:"):
        kind, _, data = url.removeprefix("data:").partition(";base64,")
        return {"type": "image", "data": data, "mime_type": kind}
    return block


def _settings(payload: Record) -> Record:
    data = {"model": payload.get("model"), "cwd": payload.get("cwd")}
    if "effort" in payload:
        data["thinking"] = payload.get("effort")
    known = {"model", "cwd", "effort", "type"}
    return data | {name: value for name, value in payload.items() if name not in known}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
