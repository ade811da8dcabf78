"""How Codex writes its lines: items of the conversation, and events that tell most of it again.

Entries have no ids: they are one chain in file order. Of the two views of the talk the items are
shown; an event is shown only where no item says the same. Counts of tokens are no entries: they
are the usage of the entry before them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
    ITEMS,
    OUTPUTS,
    SAYINGS,
    in_shape_of_tau,
    is_context,
    kind_of,
    payload_of,
)

_COUNT = "token_count"
_RECORD = "token_usage_record"
_ITEM = "item_completed"
# What older versions wrote of a failure into a string, and others beside it.
_FAILED = re.compile(rb'\\\\?"exit_code\\\\?": ?-?[1-9]|"success": ?false')
_EXITED = re.compile(
    rb'"(?:Chunk ID: [^\\"]*\\n)?(?:Wall time: [^\\"]*\\n)?'
    rb"(?:Exit code: |Process exited with code )-?[1-9]"
)


class _Total(msgspec.Struct, frozen=True, gc=False):
    """How many tokens there were by a count: it tells repeated counts."""

    tokens: tuple[int, ...]


class _Told(msgspec.Struct, gc=False):
    """What some lines tell, as hashes: `items` what items do, it does not matter which, and
    `events` what events may tell again, each at one of `places`, from the first of the lines on."""

    items: list[int] = []
    places: list[int] = []
    events: list[int] = []


class _Part(msgspec.Struct, gc=False):
    text: str | None = None


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    output_tokens: Count = 0


class _Info(msgspec.Struct, gc=False):
    last_token_usage: _Tokens | None = None
    total_token_usage: _Tokens | None = None


class _Item(msgspec.Struct, gc=False):
    """What an event of the newest versions tells at the end of an item."""

    type: str = ""
    id: str | None = None
    content: str | list[_Part | str] | None = None
    summary_text: list[str] | None = None
    raw_content: list[str] | None = None


class _Payload(msgspec.Struct, gc=False):
    type: str = ""
    role: str = ""
    call_id: str | None = None
    content: str | list[_Part | str] | None = None
    summary: str | list[_Part | str] | None = None
    message: str | None = None
    text: str | None = None
    info: _Info | None = None
    item: _Item | None = None
    usage: _Tokens | None = None
    thread_token_usage: _Tokens | None = None
    output: msgspec.Raw = msgspec.Raw()


class _Line(_Payload, gc=False):
    """A line. The first version had no envelope: its lines are their own payload."""

    payload: _Payload | None = None


class CodexFormat(Format):
    """Rollouts of all versions seen."""

    name = "codex"
    program = "Codex"
    names_results = False
    is_direct = False  # arguments and outputs are JSON within a string

    def heads(self, lines: bytes, header: Record | None) -> tuple[Sequence[Head], Links]:
        heads: list[Head] = []
        told = _Told()
        links: Links = [(0, told)]
        for at, line in enumerate(_decode_lines(lines)):
            head, items, again = _read(line)
            heads.append(head)
            if items:
                told.items += items
            elif isinstance(again, int):
                told.places.append(at)
                told.events.append(again)
            elif again is not None:
                links.append((at, again))
        return heads, links

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

    def head(self, record: Record, header: Record | None) -> tuple[Head, list[str], Any]:
        try:
            line = _decode_line(json.dumps(record))
        except (msgspec.DecodeError, RecursionError):
            head, _ = head_of(self.record(record))
            return msgspec.structs.replace(head, id=UNSET, parentId=PREVIOUS), [], None
        head, items, again = _read(line)
        if items:
            return head, [], _Told(items=[*items])
        return head, [], _Told(places=[0], events=[again]) if isinstance(again, int) else again

    def settle(self, columns: Columns, links: Links) -> tuple[Columns, list[Diagnostic]]:
        counts = [(place, link) for place, link in links if isinstance(link, _Total)]
        kept = _tells_anew(links, len(columns))
        doubles = len(kept) - int(kept.sum())
        usage = columns.usage.copy()
        _give_to_entries_before(usage, kept, counts)
        if kept.all():
            return columns, []
        given = len(kept) - int(kept.sum()) - doubles
        columns = replace(columns, usage=usage).take(np.flatnonzero(kept))
        return columns, _remarks(doubles, given)

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


def _read(line: _Line) -> tuple[Head, tuple[int, ...] | None, int | _Total | None]:
    """The head of a line; for an item, hashes of what it tells; for an event, the hash of what it
    may tell again, or the total of a count of tokens."""
    payload = line if line.payload is None else line.payload
    type, inner = line.type, payload.type
    odd, items, again = False, None, None
    if type == "event_msg":
        again = _event(payload)
    elif type == _RECORD:
        again = _total(payload.thread_token_usage)
    elif inner == "message":
        odd, items = _said(payload)
    elif inner in OUTPUTS:
        odd = _failed(bytes(payload.output))
        items = None if payload.call_id is None else (hash(payload.call_id),)
    elif inner == "reasoning" and (payload.summary or payload.content):
        parts = [*_texts(payload.summary), *_texts(payload.content)]
        items = tuple([hash(text) ^ _THINKING for text in parts])
    head = _HEADS[type, inner, payload.role, odd]
    if payload.info is not None or type == _RECORD:
        info = payload.info or _Info(payload.usage)
        message = msgspec.structs.replace(head.message, usage=_usage(info))
        head = msgspec.structs.replace(head, message=message)
    return head, items, again


class _Heads(dict[tuple[str, str, str, bool], Head]):
    """Heads without a usage. Entries have no ids, so there are few different ones."""

    def __missing__(self, key: tuple[str, str, str, bool]) -> Head:
        type, inner, role, odd = key  # odd: put there by the program, or failed
        kind, custom, role = kind_of(type, inner, role, by_program=odd)
        message = MessageHead(role, None, odd and inner in OUTPUTS)
        error = custom == "turn_error"
        head = Head(kind, UNSET, PREVIOUS, None, None, None, custom, error, message)
        if len(self) < _MOST_HEADS:  # a hostile file may hold as many kinds as lines
            self[key] = head
        return head


_HEADS = _Heads()
_MOST_HEADS = 1000
_THINKING = hash("thinking")
_SPEAKERS = {inner: hash(speaker) for inner, speaker in SAYINGS.items()}


def _said(payload: _Payload) -> tuple[bool, tuple[int, ...]]:
    """Whether the program put a message there, and hashes of what it says, whole and in parts."""
    role, content = hash(payload.role), payload.content
    if type(content) is list and len(content) == 1:  # nearly all
        part = content[0]
        text = part if isinstance(part, str) else part.text
        return (False, ()) if text is None else (is_context(text), (hash(text) ^ role,))
    texts = _texts(content)
    keys = [hash(text) ^ role for text in (*texts, "".join(texts))]
    return bool(texts) and is_context(texts[0]), tuple(keys)


def _event(payload: _Payload) -> int | _Total | None:
    inner = payload.type
    if inner == _COUNT:
        info = payload.info or _NO_INFO
        return _total(info.total_token_usage or info.last_token_usage)
    if inner == _ITEM and payload.item is not None:
        return _item(payload.item)
    if inner in SAYINGS:
        text = payload.message if payload.message is not None else payload.text
        return hash(text) ^ _SPEAKERS[inner]
    return None if payload.call_id is None else hash(payload.call_id)


def _item(item: _Item) -> int | None:
    """The hash of what an item may tell again: what was said or thought, or else its call."""
    if item.type in ITEMS:
        return hash("".join(_texts(item.content))) ^ hash(ITEMS[item.type])
    if item.type == "Reasoning":
        thoughts = [*(item.summary_text or ()), *(item.raw_content or ())]
        return hash(thoughts[0]) ^ _THINKING if thoughts else None
    return None if item.id is None else hash(item.id)


def _total(tokens: _Tokens | None) -> _Total:
    return _Total(msgspec.structs.astuple(tokens) if tokens is not None else ())


def _failed(output: bytes) -> bool:
    if _EXITED.match(output) is not None:
        return True
    if b"exit_code" not in output and b"success" not in output:
        return False
    return _FAILED.search(output) is not None


def _texts(content: str | list[_Part | str] | None) -> list[str]:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    texts = []
    for part in content:
        text = part if isinstance(part, str) else part.text
        if text is not None:
            texts.append(text)
    return texts


def _usage(info: _Info) -> Usage | None:
    tokens = info.last_token_usage
    if tokens is None:
        return None
    cached = tokens.cached_input_tokens
    return Usage(tokens.input_tokens - cached, tokens.output_tokens, cached)


def _tells_anew(links: Links, count: int) -> Bools:
    """Which of so many records are no event that tells what an item tells."""
    told = [(place, link) for place, link in links if isinstance(link, _Told)]
    items = np.array([item for _, link in told for item in link.items], np.int64)
    events = np.array([event for _, link in told for event in link.events], np.int64)
    places = np.array([first + at for first, link in told for at in link.places], np.int64)
    anew = np.ones(count, np.bool_)
    anew[places[np.isin(events, items)]] = False
    return anew


def _give_to_entries_before(
    usage: Int32s, kept: Bools, counts: Sequence[tuple[int, _Total]]
) -> None:
    """Let entries take over the counts of tokens after them. Only a count that is the second after
    its entry, or the first of all, stands for itself; one that counts nothing, or is said again,
    does not."""
    entry = kept.copy()
    entry[[place for place, _ in counts]] = False
    before = np.maximum.accumulate(np.where(entry, np.arange(len(kept)), NOWHERE))
    total, alone = None, NOWHERE
    for place, link in counts:
        if link == total:  # Codex says it again after a while
            usage[place] = -1
        total = link
        taker = max(int(before[place]), alone)
        if usage[place] >= 0 and (taker == NOWHERE or usage[taker] >= 0):
            alone = place
            continue
        if usage[place] >= 0:
            usage[taker] = usage[place]
        kept[place] = False


def _remarks(doubles: int, counts: int) -> list[Diagnostic]:
    reasons = []
    if doubles:
        reasons.append(f"{counted(doubles, 'event')} that say what items say: shown once")
    if counts:
        reasons.append(f"{counted(counts, 'token count')}: shown as the usage of the entry before")
    return [Diagnostic(None, None, reason, Severity.REMARK) for reason in reasons]


def _spawned_by(payload: Record) -> Any:
    """The thread that started this one as a sub-agent."""
    match payload:
        case {"parent_thread_id": str(thread)}:
            return thread
        case {"source": {"subagent": {"thread_spawn": {"parent_thread_id": str(thread)}}}}:
            return thread
    return None
