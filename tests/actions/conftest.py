"""What the tests of changes share: sessions of their own to change, a journal, and τ's opinion."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan
from tau_browser.actions.reading import Reading, read_file
from tau_browser.model.context import context_messages, fold_at
from tau_browser.model.summary import session_name
from tests.actions.tau import ask
from tests.conftest import DATA

FIXTURES = sorted((DATA / "tau").glob("*.jsonl"))
SMALL = [path for path in FIXTURES if path.stat().st_size < 100_000]
LARGE = [path for path in FIXTURES if path not in SMALL]
LONG_AGO = 1_700_000_000_000_000_000  # nanoseconds since 1970

CopyOf = Callable[[Path | bytes], Path]


@pytest.fixture
def copy_of(tmp_path: Path) -> CopyOf:
    """Puts a session where it may be changed, as if nobody had written to it for long."""

    def copy(source: Path | bytes) -> Path:
        folder = tmp_path / "sessions" / "--proj-demo--"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "2026-03-01T10-00-00-000Z_s1.jsonl"
        if isinstance(source, bytes):
            path.write_bytes(source)
        else:
            shutil.copyfile(source, path)
        os.utime(path, ns=(LONG_AGO, LONG_AGO))
        return path

    return copy


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state")


def reading_of(path: Path, journal: Journal | None = None) -> Reading:
    return read_file(str(path), journal)


def writer_of(path: Path) -> FileWriter:
    return FileWriter.beside(str(path))


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder: its bytes and its time."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def promised(plan: Plan) -> dict[str, Any]:
    """What a plan says of the session that it makes, as τ would tell it."""
    result = plan.result
    assert result is not None and plan.leaf is not None and plan.after is not None
    assert plan.after.entries == len(result)
    return {
        "id": result.id,
        "leaf": plan.leaf.id,
        "path": result.ids(result.tree.path(result.leaf)),
        "context_ids": result.ids(fold_at(result, result.leaf).context),
        "context": json.dumps(context_messages(result, result.leaf)),
        "entries": result.ids(range(len(result))),
        "parent": result.header.get("parent"),
        "name": session_name(result) or None,
        "listed": True,
    }


def in_tau(path: str) -> dict[str, Any]:
    """What τ itself finds in a file."""
    seen: dict[str, Any] = ask("seen", path)
    return {
        name: seen[name]
        for name in (
            "id", "leaf", "path", "context_ids", "context", "entries", "parent", "name", "listed"
        )
    }  # fmt: skip
