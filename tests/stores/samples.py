"""A small healthy store of each kind, and what may happen to it: what the contract is tried on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.agmem import refs
from tau_browser.stores.agmem.store import AgmemStore
from tau_browser.stores.claude_code.store import ClaudeCodeStore
from tau_browser.stores.codex.store import CodexStore
from tau_browser.stores.pi.store import PiStore
from tau_browser.stores.tau_file import TauFileStore
from tests.conftest import HEADER, log_of, message
from tests.stores.aethergraph.workspace import event, events_file, write_run
from tests.stores.agmem import made
from tests.stores.logs.writing import (
    claude,
    codex_message,
    codex_meta,
    pi_header,
    pi_message,
    tool_result,
    tool_use,
    write_lines,
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A kind of store in a folder.

    make: writes the store and tells its sessions, {session id: entries in it} · follows: the id of
    the session that `grow` adds an entry to · damage: harms the store, and tells a word that must
    stand in what is said of it · missing: the path of a session that is not there · env: names the
    folder as its program's own place, {variable: value}, or {} where no variable does that ·
    prunable: an entry of the session that `grow` adds to, at which nothing else hangs.
    """

    name: str
    adapter: Any
    make: Callable[[Path], dict[str, int]]
    follows: str
    grow: Callable[[Path], None]
    damage: Callable[[Path], str]
    missing: str
    env: Callable[[Path], dict[str, str]] = lambda _: {}
    prunable: str = ""


def append(path: Path, record: dict[str, Any]) -> None:
    """Add a line to a log."""
    with path.open("ab") as file:
        file.write(json.dumps(record).encode() + b"\n")


def _make_tau(folder: Path) -> dict[str, int]:
    sessions = {"t1": 2, "t2": 1}
    for session_id, count in sessions.items():
        path = folder / "--proj--" / f"{session_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        ids = [None, *(f"m{at}" for at in range(count))]
        lines = [message(str(ids[at + 1]), ids[at], f"words {at}") for at in range(count)]
        path.write_bytes(log_of(lines, HEADER | {"id": session_id}))
    return sessions


def _damage_tau(folder: Path) -> str:
    (folder / "--proj--" / "t2.jsonl").write_bytes(b"\x00\x01 no session\n")
    return "not JSON"


def _make_aethergraph(folder: Path) -> dict[str, int]:
    write_run(folder, event(1, kind="user_msg"), event(2), run="r1")
    write_run(folder, event(3, node_id="n"), run="r2")
    return {"r1": 3, "r2": 3}  # a run, its node and its events


def _damage_aethergraph(folder: Path) -> str:
    path = events_file(folder, "r2")
    path.write_bytes(b'{"event_id": "torn\n' + path.read_bytes())
    return "not JSON"


_NO_LINE = b"\x00\x01 no session\n"


def _add(path: Path, data: bytes) -> str:
    with path.open("ab") as file:
        file.write(data)
    return "not JSON"


def _make_pi(folder: Path) -> dict[str, int]:
    entries = [pi_message("a", None), pi_message("b", "a", role="assistant")]
    write_lines(folder / "--proj--" / "p1.jsonl", [pi_header("p1"), *entries])
    write_lines(folder / "--proj--" / "p2.jsonl", [pi_header("p2"), entries[0]])
    return {"p1": 2, "p2": 1}


def _make_claude(folder: Path) -> dict[str, int]:
    call = claude("assistant", "b", "a", [tool_use("t1", "Task", prompt="look")])
    result = claude("user", "c", "b", [tool_result("t1", "seen")], toolUseResult={"agentId": "g1"})
    agent = {"isSidechain": True, "agentId": "g1"}
    side = [
        claude("user", "s1", None, "look", **agent),
        claude("assistant", "s2", "s1", "hm", **agent),
    ]
    talk = [claude("user", "a", None, "words"), call, result, claude("assistant", "d", "c", "so")]
    write_lines(folder / "-proj" / "c1.jsonl", talk)
    write_lines(folder / "-proj" / "c1" / "subagents" / "agent-g1.jsonl", side)
    write_lines(folder / "-proj" / "c2.jsonl", [claude("user", "z", None, "others")])
    return {"c1": 6, "c2": 1}


def _make_codex(folder: Path) -> dict[str, int]:
    talk = [codex_message("user", "words"), codex_message("assistant", "done")]
    write_lines(folder / "2026" / "03" / "rollout-1.jsonl", [codex_meta("x1"), *talk])
    write_lines(folder / "2026" / "03" / "rollout-2.jsonl", [codex_meta("x2"), talk[0]])
    return {"x1": 2, "x2": 1}


def _make_agmem(folder: Path) -> dict[str, int]:
    sessions = {}
    for name, count in {"one": 2, "two": 1}.items():
        repo = made.start(folder / name)
        files = {f"semantic/{at}.md": f"fact {at}" for at in range(count)}
        made.commit(repo, files)
        made.keep(repo, files)
        # branch, session, commit, type, and files
        sessions[refs.session_id(str(repo))] = 4 + count
    return sessions


def _grow_agmem(folder: Path) -> None:
    files = {f"semantic/{at}.md": f"fact {at}" for at in range(2)}
    made.commit(folder / "one", files, "the same again")


def _damage_agmem(folder: Path) -> str:
    blob = next((folder / "two" / ".mem" / "objects" / "blob").glob("*/*"))
    blob.write_bytes(b"no zlib")
    return "not zlib data"


SAMPLES = [
    Sample(
        name="tau",
        adapter=TauFileStore,
        make=_make_tau,
        follows="t1",
        grow=lambda folder: append(folder / "--proj--" / "t1.jsonl", message("new", "m1", "more")),
        damage=_damage_tau,
        missing="--proj--/none.jsonl",
        prunable="m1",
    ),
    Sample(
        name="aethergraph",
        adapter=AethergraphStore,
        make=_make_aethergraph,
        follows="r1",
        grow=lambda folder: append(events_file(folder, "r1"), event(4, run_id="r1")),
        damage=_damage_aethergraph,
        missing="none#run:r9",
        env=lambda folder: {"AETHERGRAPH_WORKSPACE": str(folder)},
    ),
    Sample(
        name="pi",
        adapter=PiStore,
        make=_make_pi,
        follows="p1",
        grow=lambda folder: append(folder / "--proj--" / "p1.jsonl", pi_message("n", "b")),
        damage=lambda folder: _add(folder / "--proj--" / "p2.jsonl", _NO_LINE),
        missing="--proj--/none.jsonl",
        env=lambda folder: {"PI_CODING_AGENT_SESSION_DIR": str(folder)},
        prunable="b",
    ),
    Sample(
        name="claude-code",
        adapter=ClaudeCodeStore,
        make=_make_claude,
        follows="c1",
        grow=lambda folder: append(folder / "-proj" / "c1.jsonl", claude("user", "n", "d", "more")),
        damage=lambda folder: _add(folder / "-proj" / "c2.jsonl", _NO_LINE),
        missing="-proj/none.jsonl",
        prunable="d",
    ),
    Sample(
        name="codex",
        adapter=CodexStore,
        make=_make_codex,
        follows="x1",
        grow=lambda folder: append(
            folder / "2026" / "03" / "rollout-1.jsonl", codex_message("user", "more")
        ),
        damage=lambda folder: _add(folder / "2026" / "03" / "rollout-2.jsonl", _NO_LINE),
        missing="2026/03/none.jsonl",
    ),
    Sample(
        name="agmem",
        adapter=AgmemStore,
        make=_make_agmem,
        follows="agmem-38376a8a0ac1",
        grow=_grow_agmem,
        damage=_damage_agmem,
        missing="three",
    ),
]
