"""What the objects and files of a repository say: commits, trees, observations, memory files."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tau_browser.stores.agmem.packs import Damaged

TYPES = ("episodic", "semantic", "procedural")
"""agmem's memory types: the folders below `current/`, and what a file's front matter may say."""

FILE_LIMIT = 500
"""Characters of a result that agmem keeps in the file of an observation."""
SESSION_LIMIT = 2000
"""Characters of a result that agmem keeps in its session and buffer."""
SHORTEST = 50
"""A result with fewer characters, but some, is dropped by agmem's daemon."""

_CUT = "\n... (truncated)"
_FENCED_ARGUMENTS = "### Arguments\n\n```json\n"
_RESULT = re.compile("\n### Result\n\n(`{3,})\n")
_LIST_ITEM = re.compile(r"\s*-\s+(.*)")


class Commit(msgspec.Struct, frozen=True, gc=False):
    """A commit as it is stored. Times in UTC as written."""

    tree: str = ""
    parents: list[str] = []
    author: str = ""
    timestamp: str = ""
    message: str = ""
    metadata: dict[str, Any] = {}

    @property
    def session(self) -> str:
        """The id of the daemon's session that made it; "" if it was made otherwise."""
        value = self.metadata.get("daemon_session_id")
        return value if isinstance(value, str) else ""

    @property
    def counted(self) -> int | None:
        """How many observations it says that it holds."""
        value = self.metadata.get("observation_count")
        return value if type(value) is int else None

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.strip().partition("\n")[0]


class TreeEntry(msgspec.Struct, frozen=True, gc=False):
    """A file in a tree. `path`: the folder that it is in, "" for the uppermost."""

    hash: str
    name: str
    path: str = ""
    type: str = "blob"
    mode: str = "100644"


class _Tree(msgspec.Struct, frozen=True, gc=False):
    entries: list[TreeEntry] = []


@dataclass(frozen=True, slots=True)
class Observation:
    """One tool call. result: None where none was stored · memory: its stored type ·
    cut: whether the result was cut when it was stored."""

    id: str
    time: str
    tool: str
    arguments: Any
    result: str | None
    memory: str
    summary: str = ""
    is_cut: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file of the memory that is no observation. `facts`: its front matter."""

    facts: dict[str, Any]
    text: str
    memory: str


def read_commit(content: bytes) -> Commit:
    """The commit in an object. Raises Damaged."""
    commit: Commit = _decoded(_decode_commit, content, "commit")
    return commit


def read_tree(content: bytes) -> list[TreeEntry]:
    """The files in a tree object. Raises Damaged."""
    tree: _Tree = _decoded(_decode_tree, content, "tree")
    return tree.entries


def read_tag(content: bytes) -> str:
    """The id of the commit that a tag object names. Raises Damaged."""
    value = _decoded(_decode_object, content, "tag").get("commit_hash")
    if not isinstance(value, str):
        raise Damaged("a tag that names no commit")
    return value


def read_memory(path: str, content: bytes) -> Observation | MemoryFile:
    """What a file of the memory holds. Bytes that are not UTF-8 are shown as �."""
    text = content.decode("utf-8", "replace")
    facts, body = split_front_matter(text)
    stored = facts.get("memory_type")
    memory = stored if isinstance(stored, str) and stored in TYPES else folder_type(path)
    observation_id = facts.get("observation_id")
    if isinstance(observation_id, str) and observation_id:
        return _observation(observation_id, facts, body, memory)
    return MemoryFile(facts, body.strip("\n"), memory)


def folder_type(path: str) -> str:
    """The memory type of a file by its folder; "" for all other folders."""
    first = path.partition("/")[0]
    return first if first in TYPES else ""


def read_pending(record: Any) -> Observation | None:
    """An observation as session and buffer hold it; None if this is none."""
    match record:
        case {"id": str(id), "tool_name": str(tool), "timestamp": str(time)} if id:
            result = record.get("result")
            memory = record.get("memory_type")
            known = ("id", "tool_name", "timestamp", "arguments", "result", "memory_type")
            return Observation(
                id=id,
                time=time,
                tool=tool,
                arguments=record.get("arguments"),
                result=result if isinstance(result, str) or result is None else json.dumps(result),
                memory=memory if isinstance(memory, str) and memory in TYPES else "",
                summary=str(record.get("summary") or ""),
                is_cut=isinstance(result, str) and len(result) == SESSION_LIMIT,
                extra={k: v for k, v in record.items() if k not in (*known, "summary")},
            )
    return None


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The facts between two lines of dashes at the top of a file, and the rest of it."""
    if not text.startswith("---\n"):
        return {}, text
    end = text.find("\n---\n", 3)
    if end < 0:
        return {}, text
    facts: dict[str, Any] = {}
    name = ""
    for line in text[4:end].split("\n"):
        if (item := _LIST_ITEM.fullmatch(line)) and name:
            if not isinstance(facts[name], list):
                facts[name] = []
            facts[name].append(_scalar(item[1]))
            continue
        key, colon, value = line.partition(":")
        if colon and key.strip():
            name = key.strip()
            facts[name] = _value(value.strip())
    return facts, text[end + 5 :]


def _observation(id: str, facts: dict[str, Any], body: str, memory: str) -> Observation:
    """Tool results may hold fences: the arguments end where their JSON ends, the result at the
    last fence of the file."""
    arguments: Any = None
    at = body.find(_FENCED_ARGUMENTS)
    if at >= 0:
        start = at + len(_FENCED_ARGUMENTS)
        end = body.find("\n```\n\n### Result\n", start)
        try:
            arguments = _decode_object(body[start:end]) if end >= 0 else None
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            arguments = None
        if arguments is None:
            try:
                arguments, _ = json.JSONDecoder(strict=False).raw_decode(body, start)
            except (ValueError, RecursionError):
                arguments = body[start : end if end >= 0 else None]
    result = None
    if opening := _RESULT.search(body, max(at, 0)):
        stop = body.rfind(f"\n{opening[1]}")
        result = body[opening.end() : max(stop, opening.end())]
    is_cut = result is not None and result.endswith(_CUT)
    title = body.lstrip("\n").partition("\n")[0]
    return Observation(
        id=id,
        time=str(facts.get("timestamp", "")),
        tool=str(facts.get("tool_name", "")),
        arguments=arguments,
        result=result.removesuffix(_CUT) if result is not None and is_cut else result,
        memory=memory,
        summary=title.removeprefix("# ") if title.startswith("# ") else "",
        is_cut=is_cut,
        extra={k: v for k, v in facts.items() if k not in _OBSERVATION_FACTS},
    )


_OBSERVATION_FACTS = {
    *("schema_version", "memory_type", "observation_id", "timestamp", "tool_name"),
    "auto_captured",
}
_decode_commit = msgspec.json.Decoder(Commit, strict=False).decode
_decode_tree = msgspec.json.Decoder(_Tree, strict=False).decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


def _decoded(decode: Any, content: bytes, kind: str) -> Any:
    try:
        return decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Damaged(f"not a {kind}: {error}") from error


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return _scalar(text)


def _scalar(text: str) -> str:
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "\"'":
        return text
    if text[0] == '"' and "\\" in text:
        with contextlib.suppress(ValueError):
            return str(json.loads(text))
    return text[1:-1]
