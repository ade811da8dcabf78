"""How the entries of a repository are put into τ's lines.

Every record tells its origin: the object and the path that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.payload import Record
from tau_browser.model.text import counted
from tau_browser.stores.agmem.changes import Change, Way
from tau_browser.stores.agmem.findings import of_observation
from tau_browser.stores.agmem.records import TYPES, MemoryFile, Observation, folder_type

STORE = "agmem"
OTHER = "other"
"""Stands for the memory type of files outside the three folders."""
SHORT = 8
"""Characters of an id that a person reads."""

_LOST = "(its bytes are not there, or cannot be read)"
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Item:
    """A file of a commit or of the working copy: what it says (None if it cannot be read, or was
    deleted), and what is wrong with it, or ""."""

    change: Change
    memory: Observation | MemoryFile | None = None
    harm: str = ""

    @property
    def type(self) -> str:
        """Its memory type, OTHER for a file outside the three folders."""
        stored = self.memory.memory if self.memory else folder_type(self.change.path)
        return stored or OTHER


class Writer:
    """Makes lines, each with an id of its own. `findings`: what is wrong, with their lines;
    `number`: of the line made last, the header being the first; `blobs`: ids of those shown."""

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []
        self.number = 1
        self.blobs: set[str] = set()
        self._ids: set[str] = set()

    def add(
        self,
        id: str,
        over: str | None,
        kind: str,
        word: str,
        text: str,
        *,
        time: str = "",
        **facts: Any,
    ) -> tuple[str, bytes]:
        """An entry that says a text: its id, and its line. word: what it is, for a person."""
        message = {"role": "custom", "content": [{"type": "text", "text": text}]}
        return self.write(id, over, kind, time, customType=word, message=message, **facts)

    def write(
        self, id: str, over: str | None, kind: str, time: str, **facts: Any
    ) -> tuple[str, bytes]:
        """An entry: its id, and its line. Facts that are None are left out."""
        name, count = id, 1
        while name in self._ids:
            count += 1
            name = f"{id}~{count}"
        self._ids.add(name)
        record: Record = {"type": kind, "id": name, "parentId": over}
        if time:
            record["timestamp"] = time
        record |= {key: value for key, value in facts.items() if value is not None}
        self.number += 1
        return name, line_of(record)

    def find(self, reason: str, severity: Severity, source: str, line: int | None = None) -> None:
        """Write down that something is wrong."""
        self.findings.append(Diagnostic(line, None, reason, severity, source))

    def items(
        self, items: Sequence[Item], over: str, suffix: str, time: str, wholes: dict[str, str]
    ) -> Iterator[bytes]:
        """Files by memory type. suffix: what tells their ids from those of the same files
        elsewhere · wholes: results that are kept in files of their own, by the path of those."""
        for memory in (*TYPES, OTHER):
            some = [item for item in items if item.type == memory]
            if some:
                top, data = self.group(memory, f"{memory}/{suffix}", over, len(some))
                yield data
                for item in sorted(some, key=_order):
                    yield self._item(item, top, suffix, time, wholes)

    def group(self, memory: str, id: str, over: str, count: int) -> tuple[str, bytes]:
        """The head of what is of one memory type."""
        return self.add(id, over, "memory_type", memory, counted(count, "file"))

    def observation(
        self, observation: Observation, over: str, about: Record, whole: str = ""
    ) -> bytes:
        """A call and its result in one, as agmem keeps it. whole: its result, if what is in its
        own file is only the beginning."""
        result = whole or observation.result
        arguments = {} if observation.arguments is None else observation.arguments
        call = {"type": "toolCall", "id": "", "name": observation.tool, "arguments": arguments}
        said = [] if result is None else [{"type": "text", "text": result}]
        message: Record = {"role": "toolResult", "tool_name": observation.tool}
        message["content"] = [call, *said]
        if str(observation.extra.get("is_error")).lower() == "true":
            message["is_error"] = True
        _, data = self.write(
            observation.id,
            over,
            "message",
            observation.time,
            memory=observation.memory or None,
            message=message,
            **about,
            facts=observation.extra or None,
        )
        for reason in of_observation(observation, has_whole=bool(whole)):
            self.find(reason, Severity.NOTE, about.get("file", observation.id), self.number)
        return data

    def file(
        self, memory: MemoryFile | None, id: str, over: str, time: str, about: Record
    ) -> bytes:
        """A file that somebody wrote by hand, or another program."""
        stored = memory.memory if memory else folder_type(about["file"])
        return self.add(
            id,
            over,
            "memory_file",
            "file",
            (memory.text or "(empty)") if memory else _LOST,
            time=time,
            title=about["file"],
            memory=stored or None,
            facts=(memory.facts if memory else None) or None,
            **about,
        )[1]

    def _item(self, item: Item, over: str, suffix: str, time: str, wholes: dict[str, str]) -> bytes:
        change, memory = item.change, item.memory
        about = {
            "file": change.path,
            "change": change.way.value,
            "origin": {"store": STORE, "object": change.blob, "path": change.path},
        }
        id = f"{change.path}@{suffix}"
        if change.way is Way.DELETED:
            stored = None if item.type == OTHER else item.type
            return self.add(
                id, over, "memory_file", "deleted", change.path, time=time, memory=stored, **about
            )[1]
        if isinstance(memory, Observation):
            data = self.observation(memory, over, about, wholes.get(whole_path(memory), ""))
        else:
            data = self.file(memory, id, over, time, about)
        if item.harm:
            self.find(item.harm, Severity.DAMAGE, f"blob {change.blob[:SHORT]}", self.number)
        return data


def line_of(record: Record) -> bytes:
    """A record as a line."""
    try:
        return _encode(record) + b"\n"
    except UnicodeEncodeError:  # a path that is not UTF-8
        return _encode(_spelled(record)) + b"\n"


def whole_path(observation: Observation) -> str:
    """The path of the file that holds an observation's whole result; "" for most."""
    value = observation.extra.get("whole_result")
    return value if isinstance(value, str) else ""


def _order(item: Item) -> tuple[bool, str, str]:
    """Observations by time, then files by path, then what was deleted."""
    time = item.memory.time if isinstance(item.memory, Observation) else "~"
    return item.change.way is Way.DELETED, time, item.change.path


def _spelled(value: Any) -> Any:
    """A value with what is not UTF-8 shown as it was escaped."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_spelled(key): _spelled(item) for key, item in value.items()}
        case list() | tuple():
            return [_spelled(item) for item in value]
    return value
