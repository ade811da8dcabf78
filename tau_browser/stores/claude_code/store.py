"""Where Claude Code keeps its sessions, and which files belong to one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tau_browser.stores.claude_code.agents import agent_files, is_agent_file, owner_of
from tau_browser.stores.file_store import FileStore
from tau_browser.stores.files import Identity, identity_of
from tau_browser.stores.peek import holds_log
from tau_browser.stores.store import Capability, Place

if TYPE_CHECKING:
    from tau_browser.model.format import Format
    from tau_browser.stores.claude_code.session import ClaudeCodeSession

_PROJECTS = "projects"
_END = ".jsonl"
_OTHERS = ("journal.jsonl", "history.jsonl")
"""Files that end as sessions do, but hold none."""
_KINDS = ("queue-operation", "mode", "permission-mode", "custom-title", "ai-title", "last-prompt")


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
        return not is_agent_file(name) or not os.path.exists(owner_of(path))

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


def _is_claude_code(records: list[dict[str, Any]]) -> bool:
    for record in records:
        if "sessionId" in record and ("uuid" in record or record.get("type") in _KINDS):
            return True
        if record.get("type") == "summary" and "leafUuid" in record:
            return True
        if record.get("type") == "file-history-snapshot" and "messageId" in record:
            return True
    return False
