"""Lines of other programs, as they write them, with invented words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]

_PI = "2026-03-01T10:00:0{}.000Z"


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """Write a log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def pi_header(session_id: str = "p1", **fields: Any) -> Record:
    header = {"type": "session", "version": 3, "id": session_id, "timestamp": _PI.format(0)}
    return header | {"cwd": "/proj/demo"} | fields


def pi(kind: str, entry_id: str, parent: str | None, **fields: Any) -> Record:
    """An entry of pi's."""
    return {
        "type": kind,
        "id": entry_id,
        "parentId": parent,
        "timestamp": _PI.format(1),
        **fields,
    }


def pi_message(
    entry_id: str, parent: str | None, text: str = "words", role: str = "user", **fields: Any
) -> Record:
    content = [{"type": "text", "text": text}]
    return pi("message", entry_id, parent, message={"role": role, "content": content, **fields})


def claude(type: str, uuid: str, parent: str | None, content: Any = None, **fields: Any) -> Record:
    """An entry of Claude Code's. Fields of the message stand in `message`."""
    record: Record = {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/proj/demo",
        "sessionId": "c1",
        "version": "2.1.0",
        "gitBranch": "main",
        "type": type,
        "uuid": uuid,
        "timestamp": "2026-03-01T10:00:01.000Z",
    }
    more = fields.pop("message", {})
    if type in ("user", "assistant"):
        record["message"] = {"role": type, "content": content, **more}
    elif content is not None:
        record["content"] = content
    return record | fields


def tool_use(call_id: str, name: str, **arguments: Any) -> Record:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(call_id: str, text: str, **fields: Any) -> Record:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **fields}


def codex(type: str, **payload: Any) -> Record:
    """A line of Codex's: the type of its payload is given as `inner`."""
    if "inner" in payload:
        payload = {"type": payload.pop("inner"), **payload}
    return {"timestamp": "2026-03-01T10:00:01.000Z", "type": type, "payload": payload}


def codex_meta(session_id: str = "x1", **fields: Any) -> Record:
    return codex("session_meta", id=session_id, cwd="/proj/demo", cli_version="0.114.0", **fields)


def codex_message(role: str, text: str) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return codex("response_item", inner="message", role=role, content=content)
