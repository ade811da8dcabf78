"""What it costs to bring a repository of agmem's to a browsable tree."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zlib
from pathlib import Path

from tau_browser.model.rows import Rows
from tau_browser.model.session import Session
from tau_browser.stores.agmem.store import AgmemStore
from tests.benchmarks.reading import alternate
from tests.benchmarks.table import Figure

_LIMIT = 3
_COMMITS = 4  # each tree names all files again
_KINDS = (("episodic", "run_command"), ("semantic", "read_file"), ("procedural", "create_branch"))
_FENCE = "### Arguments\n\n```json\n"


def figures(entries: int) -> list[Figure]:
    """CPU against a bare parse of the same files: each read and unpacked, its JSON decoded."""
    with tempfile.TemporaryDirectory() as folder:
        repo = _write(Path(folder) / "repo", entries)
        bare, browsable = alternate(lambda: _parse(repo), lambda: _browse(repo), rounds=3)
    what = f"CPU to a browsable tree, agmem, {entries:,} observations / bare parse of their files"
    return [Figure(what, browsable / bare, _LIMIT)]


def _browse(repo: Path) -> tuple[Session, Rows]:
    """The repository read for the first time: nothing of it is in any cache."""
    with tempfile.TemporaryDirectory() as cache:
        *_, last = AgmemStore([str(repo)], Path(cache)).open(str(repo)).load()
        assert last.session is not None
        return last.session, Rows(last.session.outline)


def _parse(repo: Path) -> None:
    for where, _, names in os.walk(repo):
        is_object = "/objects/" in where
        for name in names:
            data = Path(f"{where}/{name}").read_bytes()
            if not is_object:
                continue
            head, _, content = zlib.decompress(data).partition(b"\0")
            if head.startswith(b"blob"):
                text = content.decode()
                at = text.find(_FENCE) + len(_FENCE)
                json.loads(text[at : text.find("\n```\n", at)])
            else:
                json.loads(content)


def _write(repo: Path, entries: int) -> Path:
    """A repository with so many observations, committed in a few large commits."""
    mem = repo / ".mem"
    for folder in ("objects", "refs/heads", "logs"):
        (mem / folder).mkdir(parents=True)
    (mem / "config.json").write_text("{}")
    (mem / "HEAD").write_text("ref: refs/heads/main\n")
    tree: list[dict[str, str]] = []
    parent = ""
    size = -(-entries // _COMMITS)
    for first in range(0, entries, size):
        for at in range(first, min(entries, first + size)):
            tree.append(_keep(repo, at))
        commit = {
            "type": "commit",
            "tree": _put(mem, "tree", json.dumps({"type": "tree", "entries": tree}).encode()),
            "parents": [parent] if parent else [],
            "author": "a <a@e>",
            "timestamp": f"2026-03-02T{first // size:02}:00:00Z",
            "message": f"Auto-commit: {size} observations from 3 tools",
            "metadata": {"daemon_session_id": "s", "observation_count": min(entries - first, size)},
        }
        parent = _put(mem, "commit", json.dumps(commit).encode())
    (mem / "refs" / "heads" / "main").write_text(f"{parent}\n")
    return repo


def _keep(repo: Path, at: int) -> dict[str, str]:
    memory, tool = _KINDS[at % 3]
    result = f"finding {at} about lazy index and offsets; finding {at + 1} about the same. " * 3
    arguments = json.dumps({"path": f"src/module_{at % 97}.py", "limit": at}, indent=2)
    time = f"2026-03-02T10:00:{at % 60:02}.000000+00:00"
    text = (
        f'---\nschema_version: "1.0"\nmemory_type: {memory}\nobservation_id: o{at}\n'
        f"timestamp: {time}\ntool_name: {tool}\nauto_captured: true\n---\n\n# {tool}\n\n"
        f"## Tool Call\n\n**Tool:** `{tool}`\n**Time:** {time}\n\n{_FENCE}{arguments}\n```\n\n"
        f"### Result\n\n```\n{result}\n```\n"
    ).encode()
    folder, name = f"{memory}/{at // 1000}" if memory == "episodic" else memory, f"{tool}-{at}.md"
    path = repo / "current" / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    blob = _put(repo / ".mem", "blob", text)
    return {"mode": "100644", "type": "blob", "hash": blob, "name": name, "path": folder}


def _put(mem: Path, kind: str, content: bytes) -> str:
    whole = b"%s %d\0" % (kind.encode(), len(content)) + content
    object_id = hashlib.sha256(whole).hexdigest()
    path = mem / "objects" / kind / object_id[:2] / object_id[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return object_id
