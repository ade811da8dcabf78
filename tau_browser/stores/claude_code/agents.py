"""The files of sub-agents, and the sessions that they belong to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tau_browser.stores.peek import first_records

_END = ".jsonl"
_AGENT = "agent-"
_FOLDER = "/subagents/"
"""Below the folder that is called after the session."""


def agent_files(path: str) -> list[tuple[str, str]]:
    """The files of the sub-agents of a session, in the order in which they were begun: (path,
    path from the session's folder)."""
    folder = os.path.dirname(path)
    found = [*_below(path.removesuffix(_END)), *_beside(path)]
    begun = sorted((_begun(agent), agent) for agent in found)
    return [(agent, os.path.relpath(agent, folder)) for _, agent in begun]


def is_agent_file(name: str) -> bool:
    """Whether a file is that of a sub-agent, by its name."""
    return name.startswith(_AGENT) and name.endswith(_END)


def agent_name(path: str) -> str:
    """The path of a sub-agent's file from the folder in which those of its session lie."""
    return path.rpartition(_FOLDER)[2] if _FOLDER in path else os.path.basename(path)


def owner_of(agent: str) -> str:
    """The path of the session that an agent's file belongs to, if its name or its lines tell."""
    session, below, _ = agent.rpartition(_FOLDER)
    if below:
        return session + _END
    session_id = next((_text(record, "sessionId") for record in first_records(agent)), "")
    return os.path.join(os.path.dirname(agent), session_id + _END) if session_id else ""


def _below(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(os.path.join(folder, "subagents")):
        for name in names:
            if is_agent_file(name):
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
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if is_agent_file(name)]
    return [(path, owner_of(path)) for path in paths]


def _begun(path: str) -> str:
    return next((_text(record, "timestamp") for record in first_records(path)), "")


def _text(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""
