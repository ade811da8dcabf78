"""Where Claude Code keeps its sessions, and which files belong to one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tau_browser.stores.file_store import FileStore
from tau_browser.stores.files import Identity, identity_of
from tau_browser.stores.peek import first_records, holds_log
from tau_browser.stores.store import Capability, Place

if TYPE_CHECKING:
    from tau_browser.model.format import Format
    from tau_browser.stores.claude_code.session import ClaudeCodeSession

_PROJECTS = "projects"
_END = ".jsonl"
_AGENT = "agent-"
_OTHERS = ("journal.jsonl", "history.jsonl")
"""Files that end as sessions do, but hold none."""


class ClaudeCodeStore(FileStore):
    """Files below the folders of projects. A sub-agent's file belongs to the session that started
    it, and is a session of its own only where that is gone."""

    name = "claude-code"
    changes = frozenset({Capability.FORK, Capability.PRUNE})

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether a log begins with lines that only Claude Code writes."""
        return holds_log(path, _is_claude_code)

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """The projects in its configuration folder."""
        named = env.get("CLAUDE_CONFIG_DIR")
        origin = "$CLAUDE_CONFIG_DIR" if named else "Claude Code's home, default"
        home = os.path.expanduser(named or "~/.claude")
        return [Place(os.path.join(home, _PROJECTS), origin)]

    @staticmethod
    def is_session(path: str) -> bool:
        name = os.path.basename(path)
        if not name.endswith(_END) or name in _OTHERS:
            return False
        return not name.startswith(_AGENT) or not os.path.exists(_owner(path))

    @staticmethod
    def id_in(path: str) -> object:
        """Claude Code names a session after its file."""
        return os.path.basename(path).removesuffix(_END)

    @staticmethod
    def format() -> Format:
        from tau_browser.stores.claude_code.format import CLAUDE_CODE  # numpy: 160 ms

        return CLAUDE_CODE

    @staticmethod
    def identity(path: str) -> Identity:
        """The state of the file and of those of its sub-agents."""
        own = identity_of(os.stat(path))
        others = [identity_of(os.stat(agent)) for agent, _ in agent_files(path)]
        size = sum(other.size for other in others)
        newest = max((other.mtime_ns for other in others), default=0)
        return replace(own, size=own.size + size, mtime_ns=max(own.mtime_ns, newest))

    def open(self, path: str) -> ClaudeCodeSession:
        """A session by its path."""
        from tau_browser.stores.claude_code.session import ClaudeCodeSession

        return ClaudeCodeSession(path)


def agent_files(path: str) -> list[tuple[str, str]]:
    """The files of the sub-agents of a session, in the order in which they were begun: (path,
    path from the session's folder)."""
    folder = os.path.dirname(path)
    found = [*_below(path.removesuffix(_END)), *_beside(path)]
    begun = sorted((_begun(agent), agent) for agent in found)
    return [(agent, os.path.relpath(agent, folder)) for _, agent in begun]


def _is_claude_code(records: list[dict[str, Any]]) -> bool:
    for record in records:
        if "sessionId" in record and ("uuid" in record or record.get("type") in _KINDS):
            return True
        if record.get("type") == "summary" and "leafUuid" in record:
            return True
        if record.get("type") == "file-history-snapshot" and "messageId" in record:
            return True
    return False


_KINDS = ("queue-operation", "mode", "permission-mode", "custom-title", "ai-title", "last-prompt")


def _owner(agent: str) -> str:
    """The path of the session that an agent's file belongs to, if its name or its lines tell."""
    session, below, _ = agent.rpartition("/subagents/")
    if below:
        return session + _END
    session_id = next((_text(record, "sessionId") for record in first_records(agent)), "")
    return os.path.join(os.path.dirname(agent), session_id + _END) if session_id else ""


def _below(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(os.path.join(folder, "subagents")):
        for name in names:
            if name.startswith(_AGENT) and name.endswith(_END):
                yield os.path.join(above, name)


def _beside(path: str) -> Iterator[str]:
    """Agents of older versions lie beside the sessions of their project."""
    folder = os.path.dirname(path)
    try:
        changed = os.stat(folder).st_mtime_ns
    except OSError:
        return
    yield from (agent for agent, owner in _agents_in(folder, changed) if owner == path)


@lru_cache(maxsize=64)
def _agents_in(folder: str, changed: int) -> list[tuple[str, str]]:
    """The agents' files of a folder, each with its owner. `changed`: the time of the folder."""
    names = os.listdir(folder)
    agents = [name for name in names if name.startswith(_AGENT) and name.endswith(_END)]
    paths = [os.path.join(folder, name) for name in agents]
    return [(path, _owner(path)) for path in paths]


def _begun(path: str) -> str:
    return next((_text(record, "timestamp") for record in first_records(path)), "")


def _text(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""
