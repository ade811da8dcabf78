"""The head of a stored record: the few fields that place an entry in the tree.

Two readers give the same `Head`: msgspec, which skips everything else at C speed and refuses
whatever is odd, and the standard library, which accepts what τ's own writer may produce (NaN,
lone surrogates) and whatever damage leaves readable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

# Digits Python converts without complaint; longer numbers stay text (CVE-2020-10735).
_MAX_INT_DIGITS = 4300
# Where a later record may start inside a torn line, and how many such places are tried.
_RECORD_START = re.compile(r'\{\s*"(?:type|id)"\s*:')
_MAX_RECOVERY_TRIES = 64
_BLANK = re.compile("[ \t\r\n\x00\ufeff]*")


_LARGEST_COUNT = 2**62
Count = Annotated[int, msgspec.Meta(ge=-_LARGEST_COUNT, le=_LARGEST_COUNT)]


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Token counts as τ stores them; the buckets do not overlap (tau-format 1.5)."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0

    def counts(self) -> tuple[int, int, int, int]:
        """(input, output, cache read, cache write)."""
        return msgspec.structs.astuple(self)


class MessageHead(msgspec.Struct, frozen=True, gc=False):
    """The part of a message that the columns need."""

    role: str = ""
    stop_reason: str | None = None
    is_error: bool = False
    usage: Usage | None = None


class Head(msgspec.Struct, frozen=True, gc=False):
    """The part of a record that the columns need. `id` is UNSET where the record has none."""

    type: str = ""
    id: str | UnsetType = UNSET
    parentId: str | UnsetType | None = UNSET
    status: str | None = None
    copiedFrom: str | None = None
    branchOf: str | None = None
    customType: str | None = None
    is_error: bool = False
    message: MessageHead = MessageHead()


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value found in a line: `start` and `stop` are byte offsets within that line; `harm`
    tells what of it could not be read."""

    value: Any
    start: int
    stop: int
    harm: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A stretch of a line that holds no JSON value."""

    reason: str
    start: int


def find_values(line: bytes) -> Iterator[Found | Unreadable]:
    """Every JSON value in a line, and every stretch that is none, in order.

    Two records glued together are both found, and a whole record behind a torn one is found
    behind it. Bytes that are not UTF-8 become lone surrogates, so nothing is lost.
    """
    text = line.decode("utf-8", "surrogateescape")
    at = _skip_blank(text, 0)
    byte = _width(text, 0, at)
    while at < len(text):
        try:
            value, stop = _DECODER.raw_decode(text, at)
        except RecursionError:
            if shallow := _shallow_record(text[at:]):
                harm = "nested too deeply: shown without what is nested"
                yield Found(shallow, byte, len(line), harm)
            else:
                yield Unreadable("nested too deeply to decode", byte)
            return
        except ValueError as error:
            yield Unreadable(_reason(error), byte)
            recovered = _next_record(text, at + 1)
            if recovered is None:
                return
            after = recovered
        else:
            yield Found(value, byte, byte + _width(text, at, stop))
            after = _skip_blank(text, stop)
        byte += _width(text, at, after)
        at = after


def head_of(record: dict[str, Any]) -> tuple[Head, list[str]]:
    """The head of a decoded record, and what was odd about it."""
    odd: list[str] = []
    raw_message = record.get("message")
    if raw_message is not None and not isinstance(raw_message, dict):
        odd.append(f"message is {describe(raw_message)}, not an object")
    message = raw_message if isinstance(raw_message, dict) else {}
    head = Head(
        type=_kind(record, odd),
        id=_identity(record, odd),
        parentId=_parent(record, odd),
        status=_text_or_none(record.get("status")),
        copiedFrom=_text_or_none(record.get("copiedFrom")),
        branchOf=_text_or_none(record.get("branchOf")),
        customType=_text_or_none(record.get("customType")),
        is_error=record.get("is_error") is True,
        message=MessageHead(
            role=message["role"] if isinstance(message.get("role"), str) else "",
            stop_reason=_text_or_none(message.get("stop_reason")),
            is_error=message.get("is_error") is True,
            usage=_usage(message.get("usage")),
        ),
    )
    return head, odd


def describe(value: Any) -> str:
    """What kind of JSON value this is, with its article."""
    names = {bool: "a boolean", dict: "an object", list: "an array", str: "a string"}
    return "null" if value is None else names.get(type(value), "a number")


def decode_record(line: bytes) -> dict[str, Any]:
    """The record in a stretch of bytes that was found to hold one; {} if there is none any more."""
    try:
        value = _DECODE_STRICTLY(line)
    except (msgspec.DecodeError, RecursionError):
        found = (part.value for part in find_values(line) if isinstance(part, Found))
        value = next(found, None)
    return value if isinstance(value, dict) else {}


def _bounded_int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else digits


_DECODE_STRICTLY = msgspec.json.Decoder().decode
# strict=False: a raw control character inside a string is odd, not a reason to lose the record
_DECODER = json.JSONDecoder(parse_int=_bounded_int, strict=False)


def _skip_blank(text: str, at: int) -> int:
    """NUL counts as blank: file systems leave runs of it after a crash."""
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _width(text: str, start: int, stop: int) -> int:
    """How many bytes a stretch of the text came from."""
    return len(text[start:stop].encode("utf-8", "surrogateescape"))


def _shallow_record(text: str) -> dict[str, Any] | None:
    """The fields that stand before the first nested value: enough to place the record."""
    nested = re.search(r"[\[{]", text[1:])
    fields = text[: nested.start() + 1].rpartition(",")[0] if nested else ""
    try:
        value = json.loads(fields + "}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg[0].lower()}{error.msg[1:]} at character {error.pos + 1}"
    return f"not JSON: {error}"


def _next_record(text: str, after: int) -> int | None:
    """Where a whole record starts that runs to the end of the line, or None."""
    for tries, match in enumerate(_RECORD_START.finditer(text, after)):
        if tries == _MAX_RECOVERY_TRIES:
            return None
        try:
            value, stop = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        rest = _skip_blank(text, stop)
        if _is_record(value) and (rest == len(text) or text[rest] == "{"):
            return match.start()
    return None


def _is_record(value: Any) -> bool:
    """Whether this is a record, not an object inside one: a tool call has an id and a type too."""
    if not isinstance(value, dict) or not {"id", "type"} <= value.keys():
        return False
    return value["type"] == "session" or "parentId" in value or "parent_id" in value


def _kind(record: dict[str, Any], odd: list[str]) -> str:
    kind = record.get("type")
    if isinstance(kind, str):
        return kind
    odd.append("no type" if kind is None else f"type is {describe(kind)}, not a string")
    return ""


def _identity(record: dict[str, Any], odd: list[str]) -> str | UnsetType:
    value = record.get("id")
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        odd.append("id is a number, not a string")
        return str(value)
    odd.append("no id" if value in (None, "") else f"id is {describe(value)}, not a string")
    return UNSET


def _parent(record: dict[str, Any], odd: list[str]) -> str | UnsetType | None:
    # parent_id: the snake_case spelling of τ's SDK files (tau-format 1.10)
    if "parentId" not in record and "parent_id" not in record:
        return UNSET
    value = record.get("parentId", record.get("parent_id"))
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    odd.append(f"parentId is {describe(value)}, not a string")
    return None


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(*(_count(value.get(name)) for name in Usage.__struct_fields__))


def _count(value: Any) -> int:
    return value if type(value) is int and abs(value) <= _LARGEST_COUNT else 0


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
