"""What a user said in an entry."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tau_browser.model.format import TAU, Format
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import text_of


class _Text(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["text"]
    text: str


class _Message(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    role: str
    content: list[_Text] | str
    timestamp: Any = None


class _Record(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """All that most of them are: texts, and nothing beside them that would be text as well."""

    type: str
    id: str
    message: _Message
    parentId: Any = None
    timestamp: Any = None


_decode = msgspec.json.Decoder(_Record).decode


def text_said(shape: Format, raw: bytes) -> str:
    """All the text of a user's entry, as `text_of` has it, but sooner."""
    if shape is TAU:
        try:
            content = _decode(raw).message.content
        except (msgspec.DecodeError, RecursionError):
            return text_of(decode_record(raw))  # there is more to it
        if isinstance(content, str):
            return content
        return "\n".join([each.text for each in content if each.text])
    return text_of(shape.record(decode_record(raw)))
