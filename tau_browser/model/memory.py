"""What kind of memory an entry makes: what was done, what is known, or how it is done.

agmem stores the type of what it holds, and that is never overruled. Elsewhere the type is derived
from the name of the tool that was called, cut into words ("mcp__db__readTable" is db, read,
table), by the first of these that holds:

1. a rule of the person's own (config.toml), its text being the whole name, a word, or letters
2. a whole name that we know
3. the first word that we know, those of the tool before those of its server
4. letters that begin a word, or are long enough to stand inside one
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import ClassVar

from tau_browser.model.payload import Call, Record, blocks_of, message_of


class MemoryType(StrEnum):
    """agmem's three types."""

    EPISODIC = "episodic"  # what was done, and what came of it
    SEMANTIC = "semantic"  # what is known
    PROCEDURAL = "procedural"  # how something is done


@dataclass(frozen=True, slots=True)
class Memory:
    """A type, and the rule that gave it in words; `is_stored`: it is the store's own."""

    type: MemoryType
    rule: str
    is_stored: bool = False


CALLS_ANOTHER = "call_tool"
"""τ's tool that calls another, which alone counts (tau-format 4.7)."""

_Own = tuple[tuple[str, MemoryType], ...]


_NAMES = {
    "create_file": MemoryType.EPISODIC,
    "todowrite": MemoryType.PROCEDURAL,
    "update_plan": MemoryType.PROCEDURAL,
    "exitplanmode": MemoryType.PROCEDURAL,
}
_WORDS = {
    MemoryType.EPISODIC: (
        "run exec execute shell bash sh terminal command python write edit multiedit patch apply"
        " delete remove rm move mv copy cp mkdir rename save git commit push merge deploy build"
        " test tests lint format kill stop start restart send post upload click type press"
        " navigate task agent spawn delegate"
    ),
    MemoryType.SEMANTIC: (
        "read search fetch get list ls query lookup find browse grep glob cat view show open"
        " describe inspect info status web http api database recall remember memory docs"
        " definition references diff log history ask"
    ),
    MemoryType.PROCEDURAL: (
        "generate refactor implement create setup configure config install workflow pipeline"
        " template scaffold plan skill migrate automate schedule"
    ),
}
_TYPE_OF = {word: type for type, words in _WORDS.items() for word in words.split()}
_LONG = 5
"""Characters from which on letters count inside a word: "test" is in "latest", but "fetch" in
nothing else than "prefetch" and the like."""
_BEGINS = 4  # characters from which on they count at the beginning of a word

_CUTS = re.compile(r"[^0-9A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SERVER = re.compile(r"mcp__(.*?)__(.+)", re.DOTALL)


class _Rules:
    """The rules of the person, set once when the program starts (config.toml)."""

    own: ClassVar[_Own] = ()


def use_rules(own: Mapping[str, MemoryType]) -> None:
    """Let these rules come before ours, in this order."""
    _Rules.own = tuple(own.items())


def has_own_rules() -> bool:
    """Whether the person has rules."""
    return bool(_Rules.own)


def memory_of(record: Record) -> Memory | None:
    """The memory that an entry makes: as stored, or by its first tool; None where it has none."""
    return stored_memory(record) or next(map(memory_of_tool, tools_of(record)), None)


def stored_memory(record: Record) -> Memory | None:
    """The type that the store itself keeps of an entry."""
    stored = record.get("memory")
    if "origin" in record and isinstance(stored, str) and stored in _STORED:
        return Memory(MemoryType(stored), "stored", is_stored=True)
    return None


def memory_of_tool(tool: str) -> Memory:
    """The memory that a call of a tool makes."""
    return own_memory_of_tool(tool) or our_memory_of_tool(tool)


def own_memory_of_tool(tool: str) -> Memory | None:
    """The same by the person's rules alone."""
    return _by_own_rules(tool[:_LONGEST], _Rules.own) if _Rules.own else None


@lru_cache(maxsize=4096)
def _by_own_rules(tool: str, own: _Own) -> Memory | None:
    name, words = tool.lower(), words_of(tool)
    for text, type in own:
        if text.lower() in (name, *words):
            return Memory(type, f"your rule {text!r}")
    for text, type in own:
        if text.lower() in name:
            return Memory(type, f"your rule {text!r}, in the name")
    return None


def our_memory_of_tool(tool: str) -> Memory:
    """The same by our rules alone."""
    return _by_our_rules(tool[:_LONGEST])


@lru_cache(maxsize=4096)
def _by_our_rules(tool: str) -> Memory:
    name, words = tool.lower(), words_of(tool)
    if name in _NAMES:
        return Memory(_NAMES[name], f"the name {name!r}")
    for word in words:
        if word in _TYPE_OF:
            return Memory(_TYPE_OF[word], f"the word {word!r}")
    for word in words:
        for known, type in _TYPE_OF.items():
            if len(known) >= _BEGINS and word.startswith(known):
                return Memory(type, f"{word!r} begins with {known!r}")
            if len(known) >= _LONG and known in word:
                return Memory(type, f"{word!r} holds {known!r}")
    return Memory(MemoryType.EPISODIC, "no rule holds: something was done")


def words_of(tool: str) -> list[str]:
    """The words of a tool's name, in lower case; those of its MCP server last."""
    if found := _SERVER.fullmatch(tool):
        return [*words_of(found[2]), *words_of(found[1])]
    return [word.lower() for word in _CUTS.split(tool) if word]


_STORED = {type.value for type in MemoryType}
_LONGEST = 200  # characters of a name that are looked at


def tools_of(record: Record) -> Iterator[str]:
    """The tool that an entry is the result of, and those that it calls."""
    message = message_of(record)
    if not message:
        return
    answered = message.get("tool_name", message.get("toolName"))
    if isinstance(answered, str) and answered not in ("", CALLS_ANOTHER):
        yield answered
    for block in blocks_of(record):
        if isinstance(block, Call) and block.name == CALLS_ANOTHER:
            if isinstance(block.arguments, dict):
                yield str(block.arguments.get("name"))
        elif isinstance(block, Call) and block.name:
            yield block.name
