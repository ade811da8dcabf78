"""What it costs to read a session of another program to a browsable tree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tau_browser.model.rows import Rows
from tau_browser.stores.adapters import adapter
from tests.benchmarks.measuring import in_turns
from tests.benchmarks.table import Figure

# What a tool prints: about a kilobyte, less than what most print.
_OUTPUT = "the tide table of the harbour, as it was printed in the spring\n" * 16
_SEALED = "gAAAAAB" * 80
_ARGUMENTS = {"command": "cat tides.txt"}
_TIME = "2026-03-01T10:00:00.000Z"

Record = dict[str, Any]


def figures(folder: Path, entries: int) -> list[Figure]:
    """CPU against a bare decode of the same bytes, for each format."""
    return [
        _figure(name, _write(folder / name / f"{entries}.jsonl", lines(entries)), entries)
        for name, lines in _LINES.items()
    ]


def _figure(name: str, path: Path, entries: int) -> Figure:
    store = adapter(name)([str(path)], None)

    def browsable() -> Any:
        session = store.open(str(path)).read()
        return session, Rows(session.outline)

    session, _ = browsable()
    assert len(session) > entries * 0.8, name
    [ours], [bare] = in_turns([browsable], [lambda: _decode(path)])
    what = f"CPU to a browsable tree, {entries:,} entries of {name} / bare decode of the lines"
    return Figure(what, ours / bare, 3)


def _decode(path: Path) -> None:
    decode = msgspec.json.Decoder().decode
    with path.open("rb") as file:
        for line in file:
            decode(line)


def _write(path: Path, lines: Iterator[Record]) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        with partial.open("w", encoding="ascii") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        partial.rename(path)
    return path


def _pi(entries: int) -> Iterator[Record]:
    yield {"type": "session", "version": 3, "id": "p1", "timestamp": _TIME, "cwd": "/proj"}
    for place in range(entries):
        text = {"type": "text", "text": f"step {place} of a long piece of work"}
        call = {
            "type": "toolCall",
            "id": f"t{place}",
            "name": "bash",
            "arguments": {"command": "ls"},
        }
        usage = {"input": 10, "output": 20, "cacheRead": 30, "cacheWrite": 40, "totalTokens": 100}
        answer = {
            "api": "a",
            "provider": "p",
            "model": "m",
            "usage": usage,
            "stopReason": "toolUse",
        }
        printed = {"type": "text", "text": _OUTPUT}
        result = {"toolCallId": f"t{place - 1}", "toolName": "bash", "isError": False}
        message = [
            {"role": "user", "content": [text]},
            {"role": "assistant", "content": [text, call]} | answer,
            {"role": "toolResult", "content": [printed]} | result,
            {"role": "assistant", "content": [text]} | answer | {"stopReason": "stop"},
        ][place % 4]
        above = f"{place - 1:08x}" if place else None
        yield {
            "type": "message",
            "id": f"{place:08x}",
            "parentId": above,
            "timestamp": _TIME,
            "message": message,
        }


def _claude(entries: int) -> Iterator[Record]:
    for place in range(entries):
        text = {"type": "text", "text": f"step {place} of a long piece of work"}
        call = {"type": "tool_use", "id": f"t{place}", "name": "Bash", "input": _ARGUMENTS}
        usage = {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 30}
        answer = {"id": f"m{place}", "type": "message", "model": "m", "usage": usage}
        result = {"type": "tool_result", "tool_use_id": f"t{place - 1}", "content": _OUTPUT}
        message, more = [
            ({"role": "user", "content": text["text"]}, {}),
            ({"role": "assistant", "content": [text, call]} | answer, {"requestId": f"r{place}"}),
            ({"role": "user", "content": [result]}, {"toolUseResult": {"stdout": _OUTPUT}}),
            ({"role": "assistant", "content": [text]} | answer, {"requestId": f"r{place}"}),
        ][place % 4]
        yield {
            "parentUuid": _uuid(place - 1) if place else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/sam/harbor",
            "sessionId": _uuid(0),
            "version": "2.1.0",
            "gitBranch": "main",
            "type": message["role"],
            "message": message,
            "uuid": _uuid(place),
            "timestamp": _TIME,
            **more,
        }


def _codex(entries: int) -> Iterator[Record]:
    """Settings, five lines of the talk, and two events that tell it again."""
    yield _line("session_meta", id="x1", cwd="/proj", cli_version="0.114.0")
    for turn in range(entries // 6):
        policy = {"mode": "workspace-write", "writable_roots": ["/proj"], "network_access": False}
        settings = {"approval_policy": "on-request", "sandbox_policy": policy, "effort": "high"}
        yield _line("turn_context", cwd="/proj", model="m", summary="auto", **settings)
        text = f"step {turn} of a long piece of work"
        yield _item("message", role="user", content=[{"type": "input_text", "text": text}])
        yield _line("event_msg", type="user_message", message=text, images=[])
        yield _item("reasoning", summary=[], content=None, encrypted_content=_SEALED)
        yield _item("function_call", name="shell", arguments='{"cmd":["ls"]}', call_id=f"k{turn}")
        yield _item("function_call_output", call_id=f"k{turn}", output=_OUTPUT)
        yield _item("message", role="assistant", content=[{"type": "output_text", "text": text}])
        yield _line("event_msg", type="agent_message", message=text)


def _item(type: str, **payload: Any) -> Record:
    return _line("response_item", **{"type": type}, **payload)


def _line(kind: str, /, **payload: Any) -> Record:
    return {"timestamp": _TIME, "type": kind, "payload": payload}


def _uuid(place: int) -> str:
    return f"{place:08x}-0000-4000-8000-000000000000"


_LINES: dict[str, Callable[[int], Iterator[Record]]] = {
    "pi": _pi,
    "claude-code": _claude,
    "codex": _codex,
}
