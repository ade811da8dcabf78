"""How Codex writes its lines: items of the conversation, and events that tell most of it again.

Entries have no ids: they are one chain in file order. Of the two views of the talk the items are
shown; an event is shown only where no item says the same. Counts of tokens are no entries: they
are the usage of the entry before them.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET

from tau_browser.model.columns import PREVIOUS, Bools, Columns, Int32s, Names
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.format import Format, Links
from tau_browser.model.heads import Count, Head, MessageHead, Usage, head_of
from tau_browser.model.payload import Record
from tau_browser.model.text import counted
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.codex.records import (
    OUTPUTS,
    SAYINGS,
    in_shape_of_tau,
    kind_of,
    payload_of,
)

_COUNT = "token_count"
# What older versions wrote of a failure into a string, and newer ones beside it.
_FAILED = re.compile(rb'\\\\?"exit_code\\\\?": ?-?[1-9]|"success": ?false')


class _Link(NamedTuple):
    """What a line says, as keys: `told` by an item, `again` by an event. `total`: for a count of
    tokens, how many there were by then."""

    told: tuple[Any, ...] = ()
    again: Any = None
    total: Any = None


class _Part(msgspec.Struct, gc=False):
    text: str | None = None


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    output_tokens: Count = 0


class _Info(msgspec.Struct, gc=False):
    last_token_usage: _Tokens | None = None
    total_token_usage: _Tokens | None = None


class _Payload(msgspec.Struct, gc=False):
    type: str = ""
    role: str = ""
    call_id: str | None = None
    content: str | list[_Part | str] | None = None
    summary: str | list[_Part | str] | None = None
    message: str | None = None
    text: str | None = None
    info: _Info | None = None
    output: msgspec.Raw = msgspec.Raw()


class _Line(_Payload, gc=False):
    """A line. The first version had no envelope: its lines are their own payload."""

    payload: _Payload | None = None


class CodexFormat(Format):
    """Rollouts of all versions seen."""

    name = "codex"

    def heads(self, lines: bytes, header: Record | None) -> list[Head]:
        return [_head(line) for line in _decode_lines(lines)]

    def header(self, record: Record) -> Record | None:
        payload = payload_of(record)
        if record.get("type") != "session_meta" and not (
            payload is record and "instructions" in record and "type" not in record
        ):
            return None
        return {
            "type": "session",
            "id": payload.get("id"),
            "timestamp": payload.get("timestamp", record.get("timestamp")),
            "cwd": payload.get("cwd"),
            "parent": payload.get("forked_from_id") or _spawned_by(payload),
            "program": f"Codex {payload.get('cli_version', '')}".strip(),
        }

    def head(self, record: Record, header: Record | None) -> tuple[Head, list[str]]:
        try:
            return _head(_decode_line(json.dumps(record))), []
        except (msgspec.DecodeError, RecursionError):
            head, _ = head_of(self.record(record))
            return msgspec.structs.replace(head, id=UNSET, parentId=PREVIOUS), []

    def settle(self, columns: Columns, links: Links) -> tuple[Columns, list[Diagnostic]]:
        told = {key for _, link in links for key in link.told}
        kept = np.ones(len(columns), np.bool_)
        usage = columns.usage.copy()
        counts, total = 0, None
        for place, link in links:
            if link.again is not None:
                kept[place] = link.again not in told
            elif link.total is not None:
                if link.total == total:  # Codex says it again after a while
                    usage[place] = -1
                kept[place] = not _give_to_entry_before(usage, kept, place)
                counts += not kept[place]
                total = link.total
        if kept.all():
            return columns, []
        doubles = len(kept) - int(kept.sum()) - counts
        columns = replace(columns, usage=usage).take(np.flatnonzero(kept))
        return columns, _remarks(doubles, counts)

    def leaf(self, columns: Columns, kinds: Names) -> int:
        return len(columns) - 1 if len(columns) else NOWHERE

    def record(self, stored: Record) -> Record:
        return in_shape_of_tau(stored)

    def entry_id(self, raw: bytes) -> str:
        return ""


CODEX = CodexFormat()

_NO_INFO = _Info()
_decode_line = msgspec.json.Decoder(_Line).decode
_decode_lines = msgspec.json.Decoder(_Line).decode_lines


def _head(line: _Line) -> Head:
    payload = line.payload if line.payload is not None else line
    texts = _texts(payload.content)
    kind, custom, role = kind_of(line.type, payload.type, payload.role, texts[0] if texts else None)
    return Head(
        type=kind,
        parentId=PREVIOUS,
        customType=custom,
        message=MessageHead(
            role=role,
            is_error=_FAILED.search(payload.output) is not None,
            usage=_usage(payload.info),
        ),
        is_error=custom == "turn_error",
        link=_link(line.type, payload, texts),
    )


def _link(type: str, payload: _Payload, texts: list[str]) -> _Link | None:
    inner = payload.type
    if type != "event_msg":
        if inner == "message":
            said = tuple((payload.role, hash(text)) for text in (*texts, "".join(texts)))
            return _Link(told=said)
        if inner == "reasoning":
            parts = [*_texts(payload.summary), *texts]
            return _Link(told=tuple(("thinking", hash(text)) for text in parts) or (None,))
        if inner in OUTPUTS and payload.call_id is not None:
            return _Link(told=(("output", payload.call_id),))
        return None
    if inner == _COUNT:
        info = payload.info or _NO_INFO
        total = info.total_token_usage or info.last_token_usage
        return _Link(total=msgspec.structs.astuple(total) if total is not None else ())
    if inner in SAYINGS:
        text = payload.message if payload.message is not None else payload.text
        return _Link(again=(SAYINGS[inner], hash(text)))
    if payload.call_id is not None:
        return _Link(again=("output", payload.call_id))
    return None


def _texts(content: str | list[_Part | str] | None) -> list[str]:
    if isinstance(content, str):
        return [content]
    texts = (part if isinstance(part, str) else part.text for part in content or ())
    return [text for text in texts if text is not None]


def _usage(info: _Info | None) -> Usage | None:
    tokens = info.last_token_usage if info is not None else None
    if tokens is None:
        return None
    cached = tokens.cached_input_tokens
    return Usage(tokens.input_tokens - cached, tokens.output_tokens, cached)


def _give_to_entry_before(usage: Int32s, kept: Bools, place: int) -> bool:
    """Whether a count of tokens need not stand for itself: it counts nothing, or the entry before
    it has taken it over."""
    if usage[place] < 0:
        return True
    before = np.flatnonzero(kept[:place])[-1:]
    if not len(before) or usage[before[0]] >= 0:
        return False
    usage[before[0]] = usage[place]
    return True


def _remarks(doubles: int, counts: int) -> list[Diagnostic]:
    reasons = []
    if doubles:
        reasons.append(f"{counted(doubles, 'event')} that say what items say: shown once")
    if counts:
        reasons.append(f"{counted(counts, 'token count')}: shown as the usage of the entry before")
    return [Diagnostic(None, None, reason, Severity.NOTE) for reason in reasons]


def _spawned_by(payload: Record) -> Any:
    """The thread that started this one as a sub-agent."""
    match payload:
        case {"parent_thread_id": str(thread)}:
            return thread
        case {"source": {"subagent": {"thread_spawn": {"parent_thread_id": str(thread)}}}}:
            return thread
    return None
