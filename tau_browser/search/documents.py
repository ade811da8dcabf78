"""What of an entry is searched: its texts, apart by who said them, and the facts filters ask for.

The texts are those of `model.payload.text_of`, which is what hits are shown in; none is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from tau_browser.model.columns import Flag
from tau_browser.model.decoder import flags_of
from tau_browser.model.heads import head_of
from tau_browser.model.memory import stored_memory
from tau_browser.model.payload import (
    ENVELOPE,
    Block,
    Call,
    Image,
    Record,
    Thinking,
    blocks_of,
    event_text,
    lines_of,
    message_of,
    text_of,
)
from tau_browser.model.signal import facets_of, hundredths, severity_of, signal_of
from tau_browser.model.times import parse_time
from tau_browser.model.tools import CALLS_ANOTHER

RECALL_TOOLS = frozenset({"jmfts_search", "jmfts_read", "jmfts_ingest"})
"""A call of one of these asks the memory, or adds to it (tau-format 4.7)."""

STORED_MEMORY = "memory:stored"
"""The trait of what has the type of its memory from its store."""

LONGEST_PIECE = 2000
"""Characters that are embedded at once."""


class Part(StrEnum):
    """Whose words a text is."""

    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL = "tool"  # the name of a tool that is called
    ARGUMENTS = "arguments"
    OUTPUT = "output"
    TITLE = "title"
    NOTE = "note"  # nobody's: prompts of the system, summaries, settings, notices


_SPEAKERS = {
    "user": Part.USER,
    "assistant": Part.ASSISTANT,
    "toolResult": Part.OUTPUT,
}
_TITLES = ("session_info", "jmfts:document")


@dataclass(frozen=True, slots=True)
class Facts:
    """What filters ask of an entry, folded. `tools`: as they are written: called, also by way of
    another, or answered · `time`: milliseconds since 1970, or NO_TIME · `traits`: what `is:`,
    `has:` and a stored `memory:` ask for · `facets`: "name:value" of what an event tells ·
    `signal`: in hundredths, rounded down."""

    role: str
    kind: str
    tools: tuple[str, ...]
    time: int
    traits: tuple[str, ...]
    facets: tuple[str, ...]
    severity: int
    signal: int


@dataclass(frozen=True, slots=True)
class Document:
    """An entry as it is indexed."""

    texts: list[tuple[Part, str]]
    facts: Facts


def document_of(record: Record, *, is_error: bool) -> Document:
    """What is indexed of an entry."""
    message = message_of(record)
    blocks = blocks_of(record) if message else []
    calls = [*_called(blocks)]
    answered = message.get("tool_name", message.get("toolName"))
    tools = [*calls, answered] if isinstance(answered, str) else calls
    traits = {
        "error": is_error,
        "recall": not RECALL_TOOLS.isdisjoint([*calls, *_nested(message)]),
        "image": any(isinstance(block, Image) for block in blocks),
    }
    facts = Facts(
        role=_role(record, message).casefold(),
        kind=str(record.get("type", "")).casefold(),
        tools=tuple(tools),
        time=parse_time(record.get("timestamp")),
        traits=(*(name for name, holds in traits.items() if holds), *_stored(record)),
        facets=tuple(facet.casefold() for facet in facets_of(record)),
        severity=severity_of(record),
        signal=hundredths(signal_of(record).value),
    )
    return Document([text for text in _texts(record, message) if text[1]], facts)


def _called(blocks: list[Block]) -> Iterator[str]:
    """The tools that an entry calls, also by way of another tool."""
    for block in blocks:
        if isinstance(block, Call):
            yield block.name
            if block.name == CALLS_ANOTHER and isinstance(block.arguments, dict):
                yield str(block.arguments.get("name"))


def _nested(message: Record) -> Iterator[str]:
    """The tools that a tool called by itself, which is told with its result."""
    details = message.get("details")
    nested = details.get("nested_calls") if isinstance(details, dict) else None
    if message.get("tool_name") == CALLS_ANOTHER:  # called by the entry before already
        return
    for call in nested if isinstance(nested, list) else ():
        if isinstance(call, dict):
            yield str(call.get("tool_name"))


def _stored(record: Record) -> list[str]:
    """The type of memory as traits, where the store keeps it. All others are asked of the tools
    when they are searched."""
    stored = stored_memory(record)
    return [memory_trait(stored.type), STORED_MEMORY] if stored else []


def memory_trait(type: str) -> str:
    """The trait of what is kept as memory of a type."""
    return f"memory:{type}"


def is_error(record: Record) -> bool:
    """Whether a record tells of a failure, for whoever has no session's columns at hand."""
    return flags_of(head_of(record)[0]) & Flag.ERROR != 0


def content_of(record: Record) -> int:
    """A number for what an entry says and when: the same for its copies in forks and branches,
    different (63 bits of a hash) for all others."""
    payload = {name: value for name, value in record.items() if name not in ENVELOPE}
    origin = record.get("copiedFrom") or record.get("id")
    said = (str(origin), record.get("timestamp"), record.get("type"), payload)
    try:
        spelled = _encode(said)
    except (UnicodeEncodeError, RecursionError, OverflowError):  # lone surrogates, mostly
        spelled = json.dumps(said, sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(spelled, digest_size=8).digest()) >> 1


def pieces(text: str) -> list[tuple[int, int]]:
    """A text in ranges of at most LONGEST_PIECE characters, cut at a blank line where there is
    one, else at a line, else at a blank; together they are the whole text."""
    ranges = []
    start = 0
    while len(text) - start > LONGEST_PIECE:
        stop = start + LONGEST_PIECE
        cuts = (text.rfind(gap, start + LONGEST_PIECE // 4, stop) for gap in ("\n\n", "\n", " "))
        cut = next((at + 1 for at in cuts if at >= 0), stop)
        ranges.append((start, cut))
        start = cut
    return [*ranges, (start, len(text))] if start < len(text) else ranges


_encode = msgspec.json.Encoder(order="deterministic").encode


def _texts(record: Record, message: Record) -> Iterator[tuple[Part, str]]:
    if not message:
        part = Part.TITLE if record.get("type") in _TITLES else Part.NOTE
        yield part, text_of(record)
        return
    speaker = _SPEAKERS.get(_role(record, message), Part.NOTE)
    for block in blocks_of(record):
        if isinstance(block, Call):
            yield Part.TOOL, block.name
            yield Part.ARGUMENTS, "\n".join(lines_of(block.arguments))
        else:
            yield Part.THINKING if isinstance(block, Thinking) else speaker, block.text
    details = message.get("details")
    if isinstance(details, dict) and isinstance(details.get("exception"), str):
        yield Part.OUTPUT, details["exception"]
    if isinstance(message.get("error_message"), str):
        yield speaker, message["error_message"]
    yield Part.NOTE, event_text(record)


def _role(record: Record, message: Record) -> str:
    """The role of a message. τ's SDK files have a kind for a tool's result, not a role."""
    role = message.get("role")
    if isinstance(role, str):
        return role
    return "toolResult" if record.get("type") == "toolResult" else ""
