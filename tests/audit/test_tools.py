"""Which calls ask a memory, and which files may hold such calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.audit import sweep
from tau_browser.audit.session_audit import audit_session
from tau_browser.audit.sweep import may_recall
from tau_browser.audit.tools import KNOWN_TOOLS, Action, ToolTable
from tests.audit.sessions import Story
from tests.conftest import read


@pytest.mark.parametrize(
    ("name", "arguments", "system", "action"),
    [
        ("jmfts_search", {}, "jmfts", "search"),
        ("jmfts_ingest", {}, "jmfts", "write"),
        ("mcp__memory__search_nodes", {}, "mcp-memory", "search"),
        ("mcp__notes__memory_search", {}, "memory", "search"),
        ("agmem.memory_read", {}, "memory", "read"),
        ("Search_Memories", {}, "memory", "search"),
        ("memory", {"command": "view", "path": "/memories/x"}, "claude-memory", "read"),
        ("memory", {"command": "create"}, "claude-memory", "write"),
        ("call_tool", {"name": "jmfts_read", "arguments": {"doc_id": 1}}, "jmfts", "read"),
    ],
)
def test_tools_of_memories(name: str, arguments: Any, system: str, action: str) -> None:
    asked = KNOWN_TOOLS.asked(name, arguments)
    assert asked is not None
    assert (asked.tool.system, asked.tool.action, asked.tool.is_weak) == (system, action, False)


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("Read", {"file_path": "/home/ada/.claude/projects/x/memory/feedback.md"}, "read"),
        ("read", {"path": "CLAUDE.md"}, "read"),
        ("grep", {"pattern": "x", "path": "notes/memories"}, "search"),
        ("bash", {"command": "rg -n deploy ~/work/memory/ | head"}, "search"),
        ("Read", {"file_path": "C:\\me\\memory\\a.md"}, "read"),
    ],
)
def test_reads_of_a_memorys_files_are_weaker(name: str, arguments: Any, action: str) -> None:
    asked = KNOWN_TOOLS.asked(name, arguments)
    assert asked is not None
    assert (asked.tool.action, asked.tool.is_weak) == (action, True)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bash", {"command": "echo jmfts_search"}),
        ("bash", {"command": "rm -r memory/"}),
        ("bash", {"command": "grep -rn memory src"}),
        ("read", {"path": "src/memory_pool.c"}),
        ("write", {"path": "memory/x.md"}),
        ("memory", {"command": "delete"}),
        ("memory", {}),
        ("memory_profile", {}),
        ("call_tool", {"name": "bash"}),
        ("call_tool", {}),
        ("research", "jmfts_search"),
        ("", None),
    ],
)
def test_other_tools(name: str, arguments: Any) -> None:
    assert KNOWN_TOOLS.asked(name, arguments) is None


def test_a_persons_own_patterns_come_first() -> None:
    table = ToolTable.extended({"brain_find*": "search", "recall": "write"}, ["*/Brain/*"])
    asked = table.asked("mcp__x__Brain_Find_all", {})
    assert asked is not None
    assert (asked.tool.system, asked.tool.action) == ("config", Action.SEARCH)
    written = table.asked("recall", {})
    assert written is not None and written.tool.action is Action.WRITE
    weak = table.asked("read", {"path": "/home/ada/brain/a.md"})
    assert weak is not None and weak.tool.is_weak
    assert any("brain" in needle for needle in table.needles)
    with pytest.raises(ValueError, match="look"):
        ToolTable.extended({"x": "look"}, [])


def test_a_pattern_that_fits_all_leaves_nothing_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    assert may_recall([str(path)], KNOWN_TOOLS) == set()
    assert may_recall([str(path)], ToolTable.extended({"*": "search"}, [])) == {str(path)}


NAMES = st.sampled_from(
    ["jmfts_search", "MEMORY_GET", "mcp__a__open_nodes", "bash", "recall", "memory", "Read", "x"]
)
ARGUMENTS = st.sampled_from(
    [
        {},
        {"command": "view"},
        {"path": "a/MEMORY.md"},
        {"path": "memory"},
        {"path": "\\notes\\Memory"},
        {"file_path": "/a/memories/b"},
        {"command": "cat .mem/x"},
        {"command": "cat\t./memory\nls"},
        {"path": "src"},
    ]
)


@pytest.mark.parametrize("program", [True, False], ids=["ripgrep", "python"])
@given(name=NAMES, arguments=ARGUMENTS, escaped=st.booleans())
def test_a_file_that_is_left_out_holds_no_recall(
    program: bool,
    name: str,
    arguments: dict[str, str],
    escaped: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    story = Story()
    story.call(name, arguments, output="x")
    log = story.log
    if escaped:  # a name may be spelled letter by letter
        spelled = "".join(f"\\u{ord(char):04x}" for char in name)
        log = log.replace(f'"name": {json.dumps(name)}'.encode(), f'"name": "{spelled}"'.encode())
    path = tmp_path_factory.mktemp("sweep") / "a.jsonl"
    path.write_bytes(log)
    with pytest.MonkeyPatch.context() as patch:
        if not program:
            patch.setattr(sweep, "ripgrep", lambda: None)
        wanted = may_recall([str(path)], KNOWN_TOOLS)
    assert bool(wanted) >= bool(audit_session("x", read(log)).recalls)


def test_files_that_cannot_be_read_are_looked_into(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.jsonl")
    assert may_recall([gone], KNOWN_TOOLS) == {gone}
