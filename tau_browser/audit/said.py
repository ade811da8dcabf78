"""What the model said in an entry: its texts, its thinking and its tool calls."""

from __future__ import annotations

from typing import Any

import msgspec

from tau_browser.model.format import TAU, Format
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import Call, Text, Thinking, blocks_of, lines_of

CALL = "toolCall"


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A text that the model said in an entry. part: "text", "thinking" or "arguments"."""

    place: int
    part: str
    text: str


class Block(msgspec.Struct, gc=False):
    """A block of an answer. id, name, arguments: of a tool call."""

    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    arguments: Any = None


def arguments_text(value: Any) -> str:
    """The arguments of a call as a text."""
    try:
        return "\n".join(value.values())  # most are texts, and nothing else
    except (AttributeError, TypeError):
        return "\n".join(lines_of(value))


class _Message(msgspec.Struct, gc=False):
    content: list[Block]


class _Record(msgspec.Struct, gc=False):
    message: _Message


_decode = msgspec.json.Decoder(_Record).decode


def blocks_in(shape: Format, raw: bytes) -> list[Block]:
    """The blocks of an answer's record."""
    if shape is TAU:  # others are put into shape first
        try:
            return _decode(raw).message.content
        except (msgspec.DecodeError, RecursionError):
            pass  # not spelled as τ spells it
    return [_block(block) for block in blocks_of(shape.record(decode_record(raw)))]


def _block(block: Any) -> Block:
    match block:
        case Call():
            return Block(CALL, id=block.id, name=block.name, arguments=block.arguments)
        case Thinking():
            return Block("thinking", thinking=block.text)
        case Text():
            return Block("text", block.text)
    return Block("")
