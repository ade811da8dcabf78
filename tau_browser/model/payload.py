"""What an entry says: its blocks, and all its text as one string.

Anything may stand where τ puts a list of blocks (a string, null, an object, a mixture): every
shape that holds text gives that text (tau-format 1.4 to 1.6).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tau_browser.model.text import size_of

Record = dict[str, Any]

_EVENT_SAYS = ("tags", "inputs", "outputs", "data", "metrics")

ENVELOPE = {"type", "id", "parentId", "parent_id", "timestamp", "status", "copiedFrom", "branchOf"}


@dataclass(frozen=True, slots=True)
class Text:
    """What somebody wrote, or a tool printed."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """The model's reasoning; empty where only a signature was kept."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    id: str
    name: str
    arguments: Any

    @property
    def text(self) -> str:
        return "\n".join([self.name, *lines_of(self.arguments)])


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as base64 text."""

    mime_type: str
    data: str

    @property
    def size(self) -> int:
        """Bytes of the picture itself, about."""
        return len(self.data) * 3 // 4

    @property
    def text(self) -> str:
        return f"[image {self.mime_type} ≈{size_of(self.size)}]"


@dataclass(frozen=True, slots=True)
class Other:
    """A block of a kind that nobody told us about."""

    kind: str
    value: Any

    @property
    def text(self) -> str:
        return "\n".join(lines_of(self.value))


Block = Text | Thinking | Call | Image | Other


def message_of(record: Record) -> Record:
    """The message of a record; {} if it has none. The SDK's tool results are their own message."""
    message = record.get("message")
    if isinstance(message, dict):
        return message
    if isinstance(message, str):
        return {"content": message}
    return record if "content" in record else {}


def blocks_of(record: Record) -> list[Block]:
    """The blocks of a record's message, in order."""
    return list(_blocks(message_of(record).get("content")))


def text_of(record: Record) -> str:
    """All the text of an entry: what is searched, compared and printed."""
    blocks = blocks_of(record)
    parts = [block.text for block in blocks]
    message = message_of(record)
    details = message.get("details")
    if isinstance(details, dict) and isinstance(details.get("exception"), str):
        parts.append(details["exception"])
    if isinstance(message.get("error_message"), str):
        parts.append(message["error_message"])
    if message:
        return "\n".join(part for part in (*parts, event_text(record)) if part)
    return _text_without_message(record)


def history_of(record: Record) -> list[tuple[str, str]]:
    """What a compaction says that the model saw instead of all before it: (role, text)."""
    history = record.get("history")
    return [
        (str(message.get("role", "")), "\n".join(block.text for block in _blocks(content)))
        for message in (history if isinstance(history, list) else [])
        if isinstance(message, dict) and (content := message.get("content"))
    ]


def event_of(record: Record) -> Record:
    """The event that an entry was made from, as another program's memory keeps it; {} for most."""
    event = record.get("event")
    return event if isinstance(event, dict) else {}


def event_text(record: Record) -> str:
    """What an event says beside its text: its tags, and what went in and came out."""
    event = event_of(record)
    said = event.get("text")
    lines = [
        line
        for name in _EVENT_SAYS
        if event.get(name)
        for line in lines_of({name: event[name]})
        if not (isinstance(said, str) and said and line.endswith(said))
    ]
    return "\n".join(lines)


def lines_of(value: Any) -> list[str]:
    """A JSON value as "path: leaf" lines, strings as they are and not in their JSON spelling."""
    lines = []
    stack = [("", value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict) and value:
            dot = "." if path else ""
            stack += [(f"{path}{dot}{name}", item) for name, item in value.items()][::-1]
        elif isinstance(value, list) and value:
            stack += [(f"{path}[{at}]", item) for at, item in enumerate(value)][::-1]
        else:
            leaf = value if isinstance(value, str) else json.dumps(value)
            lines.append(f"{path}: {leaf}" if path else leaf)
    return lines


def config_line(data: Any) -> str:
    """What a config entry sets, in τ's words (tau-format 2.7)."""
    if not isinstance(data, dict):
        return "\n".join(lines_of(data))
    models = (data.get("model"), data.get("model_spec"))  # the first was a spec in agent_spec
    names = [spec.get("id") if isinstance(spec, dict) else spec for spec in models]
    parts = [f"model {name}" for name in names if isinstance(name, str) and name][:1]
    if "thinking" in data:
        parts.append(f"thinking {data['thinking'] or 'default'}")
    for name in ("tools", "extensions"):
        if isinstance(items := data.get(name), list):
            plural = name if len(items) != 1 else name[:-1]
            listed = ", ".join(str(item) for item in items)
            parts.append(f"{len(items)} {plural}: {listed}" if items else f"0 {name}")
    if isinstance(data.get("cwd"), str):
        parts.append(f"cwd {data['cwd']}")
    if not parts and "system_prompt_digest" in data:
        parts.append("prompt changed")
    return "; ".join(parts or (lines_of(data) if data else []))


def _blocks(content: Any) -> Iterator[Block]:
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, str):
            yield Text(item)
        elif isinstance(item, dict):
            yield _block(item)
        elif item is not None:
            yield Other("", item)


def _block(item: dict[str, Any]) -> Block:
    kind = item.get("type")
    if kind == "text":
        return Text(_nested_text(item.get("text")))
    if kind == "thinking":
        return Thinking(_nested_text(item.get("thinking")))
    if kind == "toolCall":
        return Call(str(item.get("id", "")), _nested_text(item.get("name")), item.get("arguments"))
    if kind == "image" and isinstance(item.get("data"), str):
        mime_type = _nested_text(item.get("mime_type") or item.get("mimeType")) or "image"
        return Image(mime_type, item["data"])
    if "content" in item and kind != "image":
        return Text(_nested_text(item["content"]))
    return Other(str(kind or ""), {k: v for k, v in item.items() if k != "type"})


def _nested_text(value: Any) -> str:
    """The text of a value that should be a string but may be a list of blocks."""
    texts = []
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += value[::-1]
        elif isinstance(value, dict) and isinstance(value.get("text"), str):
            texts.append(value["text"])
        elif value is not None:
            texts += lines_of(value)
    return "\n".join(text for text in texts if text)


def _text_without_message(record: Record) -> str:
    kind, get = record.get("type"), record.get
    match kind:
        case "compaction" | "branch_summary" if isinstance(get("summary"), str):
            texts = [str(get("summary")), *(text for _, text in history_of(record))]
            return "\n".join(text for text in texts if text)
        case "session_info" if isinstance(get("name"), str):
            return str(get("name"))
        case "elide":
            return f"history folded here, context resumes at entry {get('firstKeptId')}"
        case "navigate":
            return f"moved to {get('targetId') or 'before the first entry'}"
        case "model_change":
            return " ".join(str(get(name)) for name in ("model", "backend") if get(name))
        case "thinking_change":
            return str(get("level"))
        case "jmfts:document" if isinstance(get("title"), str):
            return str(get("title"))
        case _ if isinstance(get("title"), str) and isinstance(get("data"), dict):
            return "\n".join([str(get("title")), *(lines_of(get("data")) if get("data") else [])])
        case "customEntry" if get("customType") in ("config", "agent_spec"):
            return config_line(get("data"))
        case "customEntry":
            return "\n".join([_nested_text(get("customType")), *lines_of(get("data"))])
    rest = {name: value for name, value in record.items() if name not in ENVELOPE}
    return "\n".join(lines_of(rest)) if rest else ""
