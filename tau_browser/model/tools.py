"""What the name of a tool tells: its words, and what follows from them by rules.

A name is cut into words ("mcp__db__readTable" is read, table, db). What follows is told by the
first of these that holds:

1. a rule of the person's own (config.toml), its text being the whole name, a word, or letters
2. a whole name that we know, with its server or without
3. a word that tells the same wherever it stands
4. the first word that we know, those of the tool before those of its server
5. a word that says only that something is done, such as "run", which may be anything
6. letters that begin a word, or are long enough to stand inside one
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from tau_browser.model.payload import Call, Record, blocks_of, message_of

T = TypeVar("T")

CALLS_ANOTHER = "call_tool"
"""τ's tool that calls another, which alone counts (tau-format 4.7)."""

_CUTS = re.compile(r"[^0-9A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SERVER = re.compile(r"mcp__(.*?)__(.+)", re.DOTALL)
_LONGEST = 200  # characters of a name that are looked at
_LONG = 5
"""Characters from which on letters count inside a word: "test" is in "latest", but "fetch" in
nothing else than "prefetch" and the like."""
_BEGINS = 4  # characters from which on they count at the beginning of a word


class Told(NamedTuple, Generic[T]):
    """What the name of a tool tells, and the rule that told it in words."""

    value: T
    rule: str


class Rules(Generic[T]):
    """What names of tools tell, by our rules and by those of the person.

    names: whole names, in lower case · words: apart by blanks · anywhere: the same, of those that
    tell it wherever they stand · generic: of those that tell it where no other word tells
    anything · otherwise: what is told where no rule holds.
    """

    def __init__(
        self,
        names: Mapping[str, T],
        words: Mapping[T, str],
        otherwise: Told[T],
        anywhere: Mapping[T, str] | None = None,
        generic: Mapping[T, str] | None = None,
    ) -> None:
        self._names = names
        self._tables = [_by_word(each or {}) for each in (anywhere, words, generic)]
        self._begun = _by_word(words) | _by_word(generic or {})
        self._otherwise = otherwise
        self._own: dict[str, T] = {}
        self._by_own = lru_cache(maxsize=4096)(self._look_up_own)
        self._by_our = lru_cache(maxsize=4096)(self._look_up_our)

    def use(self, own: Mapping[str, T]) -> None:
        """Let these rules of the person come before ours, in this order."""
        self._own = dict(own)
        self._by_own.cache_clear()

    def of(self, tool: str) -> Told[T]:
        """What the name of a tool tells."""
        return self.own(tool) or self.our(tool)

    def own(self, tool: str) -> Told[T] | None:
        """The same by the person's rules alone."""
        return self._by_own(tool[:_LONGEST]) if self._own else None

    def our(self, tool: str) -> Told[T]:
        """The same by our rules alone."""
        return self._by_our(tool[:_LONGEST])

    def _look_up_own(self, tool: str) -> Told[T] | None:
        name, words = tool.lower(), words_of(tool)
        for text, value in self._own.items():
            if text.lower() in (name, *words):
                return Told(value, f"your rule {text!r}")
        for text, value in self._own.items():
            if text.lower() in name:
                return Told(value, f"your rule {text!r}, in the name")
        return None

    def _look_up_our(self, tool: str) -> Told[T]:
        for name in (tool.lower(), bare_name(tool).lower()):
            if name in self._names:
                return Told(self._names[name], f"the name {name!r}")
        words = words_of(tool)
        for table in self._tables:
            for word in words:
                if word in table:
                    return Told(table[word], f"the word {word!r}")
        for word in words:
            for known, value in self._begun.items():
                if len(known) >= _BEGINS and word.startswith(known):
                    return Told(value, f"{word!r} begins with {known!r}")
                if len(known) >= _LONG and known in word:
                    return Told(value, f"{word!r} holds {known!r}")
        return self._otherwise


def words_of(tool: str) -> list[str]:
    """The words of a tool's name, in lower case; those of its MCP server last."""
    if found := _SERVER.fullmatch(tool):
        return [*words_of(found[2]), *words_of(found[1])]
    return [word.lower() for word in _CUTS.split(tool) if word]


def bare_name(tool: str) -> str:
    """The name of a tool without that of its MCP server."""
    found = _SERVER.fullmatch(tool)
    return found[2] if found else tool


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


def _by_word(words: Mapping[T, str]) -> dict[str, T]:
    return {word: value for value, some in words.items() for word in some.split()}
