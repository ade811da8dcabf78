"""How Claude Code writes its lines (its schema is its own affair: seen in files of many versions).

A line with a `uuid` is an entry of the tree; one without says something where it was written. A
conversation that was compacted goes on in a new root, stitched by `logicalParentUuid`. What a
sub-agent did is a sidechain: its first entry hangs, in the tree, under the call that started it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from tau_browser.model.columns import PREVIOUS, Columns, Flag, Names
from tau_browser.model.diagnostic import Diagnostic
from tau_browser.model.format import Format, Links
from tau_browser.model.heads import Count, Head, MessageHead, Usage, decode_record, head_of
from tau_browser.model.payload import Record
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.claude_code.leaf import Note, with_leaf
from tau_browser.stores.claude_code.linking import Link, linked
from tau_browser.stores.claude_code.records import (
    RESULTS,
    SIDECHAIN,
    in_shape_of_tau,
    is_failure,
    kind_of,
)

_AGENT_TOOLS = frozenset({"Task", "Agent", "Workflow"})
"""Tools that start sub-agents."""
_HEADER_LINES = 64


class _Usage(msgspec.Struct, gc=False):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None


class _Input(msgspec.Struct, gc=False):
    prompt: Any = None


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    name: str | None = None
    input: _Input | None = None
    is_error: bool | None = None


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    id: str | None = None
    content: str | list[_Block | str] | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None


class _Result(msgspec.Struct, gc=False):
    agentId: str | None = None


class _Line(msgspec.Struct, gc=False):
    type: str = ""
    subtype: str | None = None
    uuid: str | UnsetType = UNSET
    parentUuid: str | UnsetType | None = UNSET
    logicalParentUuid: str | None = None
    isSidechain: bool = False
    agentId: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    level: str | None = None
    leafUuid: str | None = None
    explicit: Any = None
    message: _Message | None = None
    toolUseResult: _Result | str | float | bool | list[msgspec.Raw] | None = None


class _Id(msgspec.Struct):
    uuid: str = ""


class ClaudeCodeFormat(Format):
    """Every version seen."""

    name = "claude-code"
    program = "Claude Code"
    header_lines = _HEADER_LINES
    header_is_entry = True
    has_header = False
    names_results = False

    def heads(self, lines: bytes, header: Record | None) -> tuple[Sequence[Head], Links]:
        decoded = _decode_lines(lines)
        links = [(at, link) for at, line in enumerate(decoded) if (link := _link(line)) is not None]
        return [_head(line) for line in decoded], links

    def header(self, record: Record) -> Record | None:
        """What the first record that knows the working directory tells of the session."""
        session_id, cwd = record.get("sessionId"), record.get("cwd")
        if not isinstance(session_id, str) or not isinstance(cwd, str):
            return None
        forked = record.get("forkedFrom")
        return {
            "type": "session",
            "id": session_id,
            "timestamp": record.get("timestamp"),
            "cwd": cwd,
            "parent": forked.get("sessionId") if isinstance(forked, dict) else None,
            "program": f"Claude Code {record.get('version', '')}".strip(),
            "branch": record.get("gitBranch"),
        }

    def header_remarks(self, header: Record) -> list[Any]:
        return []

    def head(self, record: Record, header: Record | None) -> tuple[Head, list[str], Any]:
        link = None
        try:
            line = msgspec.convert(record, _Line)
        except (msgspec.ValidationError, RecursionError):
            head, odd = head_of(self.record(record))
        else:
            head, odd, link = _head(line), [] if line.type else ["no type"], _link(line)
        if head.id is UNSET:
            return msgspec.structs.replace(head, parentId=PREVIOUS), odd, link
        if head.parentId is UNSET:
            odd = [*odd, "no parentUuid: drawn as a root"]
            head = msgspec.structs.replace(head, parentId=None)
        return head, odd, link

    def settle(self, columns: Columns, links: Links) -> tuple[Columns, list[Diagnostic]]:
        own = (columns.flags & Flag.NO_ID) == 0
        if (talk := own & ((columns.flags & Flag.LANE) == 0)).any():
            own = talk  # but for what a sub-agent wrote, unless there is nothing else
        own[[place for place, link in links if isinstance(link, Link) and link.is_progress]] = False
        return with_leaf(linked(columns, links), columns, own, links)

    def leaf(self, columns: Columns, kinds: Names) -> int:
        """The entry that was marked when the log was read."""
        places = np.flatnonzero(columns.flags & Flag.GOES_ON)
        return int(places[-1]) if len(places) else NOWHERE

    def record(self, stored: Record) -> Record:
        return in_shape_of_tau(stored)

    def entry_id(self, raw: bytes) -> str:
        try:
            return _decode_id(raw).uuid
        except (msgspec.DecodeError, RecursionError):
            return str(decode_record(raw).get("uuid", ""))

    def same(self, one: Record, other: Record) -> bool:
        """A compaction repeats entries, with other parents and times."""
        return bool(_said(one) == _said(other))


CLAUDE_CODE = ClaudeCodeFormat()

_NO_MESSAGE = _Message()
_decode_lines = msgspec.json.Decoder(_Line).decode_lines
_decode_id = msgspec.json.Decoder(_Id).decode


def _head(line: _Line) -> Head:
    message = line.message
    if message is None:
        message = _NO_MESSAGE
    content = message.content
    failed = line.isApiErrorMessage is True
    results = False
    if line.type == "user" and isinstance(content, list):
        for block in content:
            if isinstance(block, _Block) and block.type in RESULTS:
                results = True
                failed = failed or block.is_error is True
    if line.type == "assistant":  # the most frequent by far
        kind, custom, role = "message", None, "assistant"
    else:
        kind, custom, role = kind_of(
            line.type,
            line.subtype,
            meta=line.isMeta is True,
            summary=line.isCompactSummary is True,
            text=content,
            results=results,
        )
    if message.usage is not None:
        stop = "error" if failed else None
        said = MessageHead(role, stop, False, _usage(message.usage))
    else:
        said = _SAID[role, failed]
    uuid, parent = line.uuid, line.parentUuid
    if uuid is UNSET:
        parent = PREVIOUS
    elif parent is None:
        parent = line.logicalParentUuid
    branch = (line.agentId or SIDECHAIN) if line.isSidechain else None
    notice = is_failure(line.type, line.subtype, line.level)
    return Head(kind, uuid or UNSET, parent, None, None, branch, custom, notice, said)


class _Messages(dict[tuple[str, bool], MessageHead]):
    """Heads of messages without a usage, of which there are few different ones."""

    def __missing__(self, key: tuple[str, bool]) -> MessageHead:
        role, failed = key
        stop = "error" if failed and role == "assistant" else None
        head = self[key] = MessageHead(role, stop, failed and stop is None)
        return head


_SAID = _Messages()


def _usage(usage: _Usage) -> Usage:
    return Usage(
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        usage.cache_read_input_tokens or 0,
        usage.cache_creation_input_tokens or 0,
    )


def _link(line: _Line) -> Link | Note | str | None:
    message = line.message
    if message is None:
        if line.type == "last-prompt" and (line.leafUuid or line.explicit is True):
            return Note(line.leafUuid, line.explicit is True)
        return Link(is_progress=True) if line.type == "progress" else None
    if line.type == "assistant":
        prompts = _prompts(message.content)
        if prompts:
            return Link(message.id if message.usage is not None else None, tuple(prompts))
        return message.id if message.usage is not None else None
    if line.isSidechain and line.parentUuid is None:
        content = message.content
        return Link(root=(line.agentId, hash(content) if isinstance(content, str) else 0))
    result = line.toolUseResult
    if isinstance(result, _Result) and result.agentId is not None:
        return Link(agent=result.agentId)
    return None


def _prompts(content: str | list[_Block | str] | None) -> list[int]:
    """Hashes of what an answer asks sub-agents to do; 0 where it does not say in words."""
    if not isinstance(content, list):
        return []
    calls = [
        block
        for block in content
        if isinstance(block, _Block) and block.name is not None and block.name in _AGENT_TOOLS
    ]
    asked = (call.input.prompt if call.input is not None else None for call in calls)
    return [hash(prompt) if isinstance(prompt, str) else 0 for prompt in asked]


def _said(record: Record) -> Any:
    return record.get("type"), record.get("message"), record.get("content")
