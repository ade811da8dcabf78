"""τ itself, as the judge of what we write: a process of its own that opens files as τ does."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.environments import TAU, environment

_PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from tau_agent_core.conversation_tree import ConversationTree
from tau_agent_core.cursor import Cursor
from tau_agent_core.session_log import default_leaf
from tau_agent_core.tree_ops import elide_span
from tau_coding_agent.session_store import Session, read_session_info

def seen(path):
    session = Session.load(Path(path))
    entries = session.entries()
    leaf = default_leaf(entries)
    tree = ConversationTree(entries, leaf)
    listed = read_session_info(Path(path))
    return {
        "id": session.id, "cwd": session.cwd, "parent": session.parent, "name": session.name,
        "entries": [entry["id"] for entry in entries], "leaf": leaf,
        "path": [entry["id"] for entry in tree.path(leaf)] if leaf else [],
        "context_ids": [entry["id"] for entry in tree.context_entries(leaf)] if leaf else [],
        "context": json.dumps(session.context), "listed": listed is not None,
        "records": {entry["id"]: json.dumps(entry) for entry in entries},
    }

def elide(path, anchor, first_kept):
    session = Session.load(Path(path))
    cursor = Cursor(session, leaf=anchor)
    asyncio.run(elide_span(cursor, anchor, first_kept))
    return session.entries()[-1]

for line in sys.stdin:
    verb, *words = json.loads(line)
    try:
        answer = {"ok": {"seen": seen, "elide": elide}[verb](*words)}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
"""


@cache
def _process() -> subprocess.Popen[str]:
    python = environment(*TAU)
    return subprocess.Popen(
        [python, "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def ask(verb: str, *words: str | Path) -> Any:
    """τ's answer. Raises AssertionError with τ's words where it refuses."""
    process = _process()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps([verb, *map(str, words)]) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert "ok" in answer, answer
    return answer["ok"]
