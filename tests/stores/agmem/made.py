"""Small agmem repositories, written here byte by byte as agmem writes them (memory-systems 1)."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any


def put(repo: Path, kind: str, content: bytes) -> str:
    """Store an object; returns its id."""
    whole = b"%s %d\0" % (kind.encode(), len(content)) + content
    object_id = hashlib.sha256(whole).hexdigest()
    path = repo / ".mem" / "objects" / kind / object_id[:2] / object_id[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return object_id


def start(repo: Path) -> Path:
    """An empty repository."""
    for folder in ("objects", "refs/heads", "refs/tags", "logs"):
        (repo / ".mem" / folder).mkdir(parents=True, exist_ok=True)
    (repo / "current").mkdir()
    (repo / ".mem" / "config.json").write_text('{"author": {"name": "t", "email": "t@e"}}')
    (repo / ".mem" / "HEAD").write_text("ref: refs/heads/main\n")
    (repo / ".mem" / "refs" / "heads" / "main").write_text("")
    return repo


def commit(
    repo: Path,
    files: dict[str, str],
    message: str = "saved",
    *,
    parents: list[str] | None = None,
    time: str = "2026-03-01T10:00:00Z",
    branch: str = "main",
    **metadata: Any,
) -> str:
    """Commit these files, on top of the branch unless parents are named; returns its id."""
    ref = repo / ".mem" / "refs" / "heads" / branch
    before = ref.read_text().strip() if ref.exists() else ""
    entries = [
        {
            "mode": "100644",
            "type": "blob",
            "hash": put(repo, "blob", text.encode()),
            "name": path.rpartition("/")[2],
            "path": path.rpartition("/")[0],
        }
        for path, text in files.items()
    ]
    tree = {"type": "tree", "entries": entries}
    record = {
        "type": "commit",
        "tree": put(repo, "tree", json.dumps(tree, sort_keys=True).encode()),
        "parents": ([before] if before else []) if parents is None else parents,
        "author": "t <t@e>",
        "timestamp": time,
        "message": message,
        "metadata": metadata,
    }
    object_id = put(repo, "commit", json.dumps(record, sort_keys=True).encode())
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(object_id + "\n")
    with (repo / ".mem" / "logs" / "HEAD").open("a") as log:
        log.write(f"{object_id} {before or '0' * 64} {time} commit: {message}\n")
    return object_id


def keep(repo: Path, files: dict[str, str]) -> None:
    """Put files into the working copy."""
    for path, text in files.items():
        (repo / "current" / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / "current" / path).write_text(text)
