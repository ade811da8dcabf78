"""Sessions with tool calls, to be captured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.follow import Observing, Pace
from tau_browser.stores.agmem.history import History
from tau_browser.stores.agmem.origin import Repository
from tau_browser.stores.tau_file import TauFileStore
from tests.conftest import log_of

TIME = "2026-03-02T09:14:{:02}.000Z"


def call(at: int, tool: str, arguments: dict[str, Any], result: Any, **more: Any) -> list[Any]:
    """The two entries of a call and its result; only the first if the result is Ellipsis."""
    block = {"type": "toolCall", "id": f"c{at}", "name": tool, "arguments": arguments}
    asked = {
        "type": "message",
        "id": f"a{at}",
        "parentId": f"r{at - 1}" if at else None,
        "timestamp": TIME.format(at % 60),
        "message": {"role": "assistant", "content": [block]},
    }
    if result is Ellipsis:
        return [asked]
    answer = {"role": "toolResult", "tool_name": tool, "tool_call_id": f"c{at}", **more}
    answered = {
        "type": "message",
        "id": f"r{at}",
        "parentId": f"a{at}",
        "timestamp": TIME.format(at % 60),
        "message": {**answer, "content": [{"type": "text", "text": result}]},
    }
    return [asked, answered]


def calls(count: int) -> list[Any]:
    """So many calls, one after the other, of tools of every type."""
    tools = ("bash", "read", "create_branch")
    return [
        entry
        for at in range(count)
        for entry in call(at, tools[at % 3], {"path": f"f{at}"}, f"result {at}")
    ]


def write(path: Path, entries: list[Any], session_id: str = "s1") -> Path:
    """A session's file."""
    header = {"type": "session", "version": 3, "id": session_id, "parent": None, "cwd": "/p"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log_of(entries, header))
    return path


def capture_once(path: Path, repo: Path, *, batch: int = 50, key: bytes | None = None) -> Observing:
    """Capture what there is at a path, and end."""
    import threading

    with Capture(repo, key) as capture:
        one = str(path) if path.is_file() else None
        observing = Observing(TauFileStore([str(path)]), one, capture, Pace(batch=batch))
        observing.run(threading.Event(), once=True)
    return observing


def history(repo: Path) -> History:
    """The history of a repository."""
    return Repository(str(repo)).history()


def held(repo: Path) -> list[str]:
    """The ids of the observations that the commits of all refs hold, in order."""
    found = history(repo)
    return [
        id
        for line in found.lines
        for commit_id in line.commits
        for id in found.commits[commit_id].metadata["observation_ids"]
    ]
