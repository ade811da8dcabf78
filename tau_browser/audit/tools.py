"""Which tools ask a memory: a table of name patterns, which a person extends in config.toml.

A name counts as it stands in a tool call, without what an MCP client puts before it. What merely
reads files in a folder of memories is a class of its own, and weaker: that may be any folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import translate
from functools import cached_property
from typing import Any

JMFTS = "jmfts"
"""The system whose results have a grammar of their own (tau-format 4.7)."""

FILES = "files"
"""Stands for the system of what reads a memory's files with a tool for any file."""

_WRAPPERS = ("call_tool",)
"""Tools that call the tool that their arguments name (tau-format 4.7)."""


class Action(StrEnum):
    """What is done with the memory."""

    SEARCH = "search"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """A tool of a memory. is_weak: it may be one, judged by the files that it reads."""

    system: str
    action: Action
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of a memory's tool. via: the tool that passes it on, or ""."""

    tool: MemoryTool
    name: str
    arguments: Mapping[str, Any]
    via: str = ""


_S, _R, _W = Action.SEARCH, Action.READ, Action.WRITE

# The first pattern that fits counts. Names in lower case; * stands for anything.
_KNOWN: tuple[tuple[str, str, Action], ...] = (
    ("jmfts_search", JMFTS, _S),
    ("jmfts_read", JMFTS, _R),
    ("jmfts_ingest", JMFTS, _W),
    ("search_nodes", "mcp-memory", _S),
    ("open_nodes", "mcp-memory", _R),
    ("read_graph", "mcp-memory", _R),
    ("create_entities", "mcp-memory", _W),
    ("add_observations", "mcp-memory", _W),
    ("search_memory_nodes", "graphiti", _S),
    ("search_memory_facts", "graphiti", _S),
    ("memory_search", "memory", _S),
    ("memory_recall", "memory", _S),
    ("search_memory", "memory", _S),
    ("search_memories", "memory", _S),
    ("retrieve_memory", "memory", _S),
    ("retrieve_memories", "memory", _S),
    ("recall_memory", "memory", _S),
    ("recall", "memory", _S),
    ("memory_read", "memory", _R),
    ("memory_get", "memory", _R),
    ("get_memory", "memory", _R),
    ("get_memories", "memory", _R),
    ("open_memories", "memory", _R),
    ("memory_add", "memory", _W),
    ("memory_write", "memory", _W),
    ("memory_store", "memory", _W),
    ("add_memory", "memory", _W),
    ("add_memories", "memory", _W),
    ("save_memory", "memory", _W),
    ("store_memory", "memory", _W),
    ("remember", "memory", _W),
)

# The tool `memory` of Claude, which one command parts into its actions.
_COMMANDED = "memory"
_COMMANDS = {"view": _R, "create": _W, "str_replace": _W, "insert": _W}

_FILE_TOOLS = {"read": _R, "grep": _S, "glob": _S, "find": _S, "ls": _S, "view": _R, "cat": _R}
_SHELLS = ("bash", "shell", "run_command", "execute_command")
_SHELL_READS = re.compile(r"(?:^|[|;&(]\s*|\s)(?:cat|grep|rg|head|tail|less|sed|awk|ls|find)\s")
_SHELL_GAPS = re.compile(r"[\s'\"|;&<>()]+")
_PATHS = ("path", "file_path", "filepath", "file", "dir", "directory", "notebook_path")
_FOLDERS = ("*/memory/*", "*/memories/*", "*/.memory/*", "*/.mem/*", "*/memory.md", "*/claude.md")

_PREFIX = re.compile(r"^(?:mcp__.+__|.*[./:])")
_WILD = re.compile(r"\[[^]]*\]|[*?]")
_LITERAL = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True)
class ToolTable:
    """The patterns in force. tools: (name pattern, system, action) · folders: path patterns."""

    tools: tuple[tuple[str, str, Action], ...] = _KNOWN
    folders: tuple[str, ...] = _FOLDERS
    _names: dict[str, tuple[MemoryTool | None, str]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def extended(cls, tools: Mapping[str, str], folders: Iterable[str]) -> ToolTable:
        """The known patterns after those of a person: name pattern -> action, path patterns.

        Raises ValueError for an action that does not exist.
        """
        own = [(_folded(name), "config", Action(does)) for name, does in tools.items()]
        return cls((*own, *_KNOWN), (*map(_spelled, folders), *_FOLDERS))

    def asked(self, name: str, arguments: Any) -> Asked | None:
        """What a tool call asks of a memory; None if it asks nothing."""
        given: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
        if name in _WRAPPERS and isinstance(given.get("name"), str):
            inner = self.asked(given["name"], given.get("arguments"))
            return None if inner is None else Asked(inner.tool, inner.name, inner.arguments, name)
        tool, bare = self._names.get(name) or self._named(name)
        if tool is not None:
            return Asked(tool, name, given)
        if bare == _COMMANDED and given.get("command") in _COMMANDS:
            return Asked(MemoryTool("claude-memory", _COMMANDS[given["command"]]), name, given)
        action = self._reads_memory(bare, given)
        return None if action is None else Asked(MemoryTool(FILES, action, True), name, given)

    @property
    def needles(self) -> list[str]:
        """Regular expressions, to be taken in any case, of which one fits in the bytes of every
        call that `asked` knows, as long as no letter is escaped; none where a pattern is too wild
        to tell. A tool's name is a string without blanks, a path has a slash or stands alone."""
        names = {_literal(pattern) for pattern, _, _ in self.tools} | {_COMMANDED}
        folders = {_folder_needle(folder) for folder in self.folders}
        if "" in names | folders:
            return []
        named = "|".join(map(re.escape, _needed(names)))
        return [rf'(?:{named})[\w.:/\\-]*"', *sorted(folders)]

    def _named(self, name: str) -> tuple[MemoryTool | None, str]:
        """The memory's tool of this name, if a pattern fits; and the name without its server."""
        bare = _bare(name)
        self._names[name] = named = self._look_up({_folded(name), bare}), bare
        return named

    def _look_up(self, spellings: set[str]) -> MemoryTool | None:
        for pattern, system, action in self.tools:
            fits = re.compile(translate(pattern)).match
            if any(fits(spelling) for spelling in spellings):
                return MemoryTool(system, action)
        return None

    def _reads_memory(self, bare: str, arguments: Mapping[str, Any]) -> Action | None:
        """What a tool for any file does to a memory's files; None if it leaves them alone."""
        if bare in _FILE_TOOLS:
            paths = [arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)]
            return _FILE_TOOLS[bare] if any(map(self._is_in_memory, paths)) else None
        command = arguments.get("command")
        if bare not in _SHELLS or not isinstance(command, str):
            return None
        if not self._may_be_in_memory(command) or not _SHELL_READS.search(command):
            return None
        # a word alone is what is looked for, more likely than where
        words = _SHELL_GAPS.split(command)
        in_memory = (self._is_in_memory(word) for word in words if "/" in word or "." in word)
        return Action.SEARCH if any(in_memory) else None

    def _is_in_memory(self, path: str) -> bool:
        if not self._may_be_in_memory(path):
            return False
        # a name alone is a file of this directory; a folder counts as what is in it
        spelled = "/" + _spelled(path).lstrip("/")
        return bool(self._in_folders(spelled) or self._in_folders(f"{spelled.rstrip('/')}/"))

    def _may_be_in_memory(self, text: str) -> bool:
        """Whether a text holds a word of any of the folders, without which no path is in one."""
        return any(map(text.lower().__contains__, self._folder_words))

    @cached_property
    def _folder_words(self) -> list[str]:
        return _needed({_literal(folder) for folder in self.folders})

    @cached_property
    def _in_folders(self) -> Callable[[str], object]:
        return re.compile("|".join(map(translate, self.folders))).match


def _folded(name: str) -> str:
    """In one case. Letters beyond ASCII stay as they are: some of them fold into it, and bytes
    would no longer tell what a name holds."""
    return name.lower() if name.isascii() else name


def _spelled(path: str) -> str:
    return _folded(path).replace("\\", "/")


def _bare(name: str) -> str:
    """A name without the server before it: mcp__notes__memory_search, notes.memory_search."""
    return _PREFIX.sub("", _folded(name))


def _folder_needle(pattern: str) -> str:
    """What is in every path that fits a pattern; "" if that may be anything."""
    piece = max(_WILD.split(pattern), key=len)
    core = re.escape(piece.strip("/"))
    if core and piece[:1] == piece[-1:] == "/":  # a folder: what is in it, what it is in, or alone
        return rf'[/\\]{core}|{core}[/\\]|"{core}"'
    return core


def _needed(words: set[str]) -> list[str]:
    """Words without those that hold another of them."""
    return sorted(word for word in words if not any(o in word for o in words - {word}))


def _literal(pattern: str) -> str:
    """The longest word that whatever fits a pattern holds; "" if it holds none."""
    words = [word for piece in _WILD.split(pattern) for word in _LITERAL.findall(piece)]
    return max(words, key=len, default="")


KNOWN_TOOLS = ToolTable()
"""The table as it comes with the program."""
