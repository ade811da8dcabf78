"""An event as a line of τ's: who speaks, what is said, and the event itself as it is stored."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.nodes import json_of
from tau_browser.stores.aethergraph.records import Json

_NO_TEXT = b'""'
_NULL = b"null"
_TEXT = b'"content":[{"type":"text","text":%b}]'
_USER = b'"message":{"role":"user",' + _TEXT + b"}"
_ASSISTANT = b'"message":{"role":"assistant",' + _TEXT + b"}"
_CALL = (
    b'"message":{"role":"assistant","content":[{"type":"toolCall","id":%b,"name":%b,'
    b'"arguments":%b}]}'
)
_RESULT = b'"message":{"role":"toolResult","tool_name":%b%b%b,' + _TEXT + b"}"
_OTHER = b'"customType":%b,"message":{"role":"custom"%b,' + _TEXT + b"}"
_LINE = b'{"type":"message","id":%b,"parentId":%b,"timestamp":"%b",%b,"event":%b,%b%b}\n'
_SPEAKERS: dict[tuple[str | None, str | None], bytes] = {
    ("chat.turn", "user"): _USER,
    ("chat.turn", "assistant"): _ASSISTANT,
}
_decode = msgspec.json.Decoder().decode
_object = msgspec.json.Decoder(dict[str, object]).decode


def event_line(event: Event, links: Json) -> bytes:
    """The line of an event that has its place, newline and all."""
    above, name = event.parent, event.name
    stored_id = name if event.entry == event.event_id else json_of(event.event_id or "")
    spot = (
        b'%b%b,"table":"events","row":%d}' % (_origin(event.file), stored_id, event.row)
        if event.row
        else b'%b%b,"line":%d,"byte":%d}' % (_origin(event.file), stored_id, event.line, event.byte)
    )
    return _LINE % (
        name,
        above.name if above is not None else _NULL,
        event.stamp,
        _message(event),
        event.raw,
        spot,
        b',"links":' + json_of(links) if links else b"",
    )


def _message(event: Event) -> bytes:
    """The message of an event: who speaks, and what is said."""
    kind, said = event.kind, bytes(event.said)
    text = said if said[:1] == b'"' else _NO_TEXT
    if kind == "tool_start":
        return _CALL % (event.name, _word(_tool(event)), _arguments(event))
    call = event.answers
    if kind == "tool_result" or (kind == "error" and call is not None):
        answered = b',"tool_call_id":%b' % call.name if call is not None else b""
        return _RESULT % (_word(_tool(event)), answered, _failed(kind), text)
    if kind == "user_msg":
        return _USER % text
    if kind == "assistant_msg":
        return _ASSISTANT % text
    if (speaker := _SPEAKERS.get((kind, event.stage))) is not None:
        return speaker % text
    return _OTHER % (_word(kind or "event"), _failed(kind), text)


def _failed(kind: str | None) -> bytes:
    return b',"is_error":true' if kind == "error" else b""


def _tool(event: Event) -> str:
    return event.tool or event.node_id or "tool"


def _arguments(event: Event) -> bytes:
    """The arguments of a call: its inputs by name, or else its text, which may be JSON."""
    if event.inputs != _NULL and (inputs := _inputs(event)):
        return json_of(inputs)
    said = bytes(event.said)
    if said[:2] == b'"{':
        try:
            return json_of(_object(event.text))
        except (msgspec.DecodeError, RecursionError):
            pass
    return b'{"text":%b}' % said if said[:1] == b'"' else b"{}"


def _inputs(event: Event) -> Json:
    try:
        inputs = _decode(event.inputs)
    except msgspec.DecodeError:
        return {}
    return {
        item["name"]: item.get("value")
        for item in (inputs if isinstance(inputs, list) else ())
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    }


@lru_cache(maxsize=64)
def _origin(file: str) -> bytes:
    return b'"origin":{"store":"aethergraph","file":%b,"id":' % json_of(file)


@lru_cache(maxsize=4096)  # names of tools, kinds and files: few, and there again and again
def _word(text: str) -> bytes:
    return json_of(text)
