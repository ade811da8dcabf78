"""`memory:` and `tool:` find entries by what the names of tools tell: as stored, by own rules, by
ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tau_browser.model.families import FAMILIES, Family
from tau_browser.model.memory import MEMORY_TYPES, MemoryType
from tau_browser.search.engine import Engine
from tau_browser.search.query import parse
from tau_browser.search.results import Asking
from tau_browser.stores.claude_code.store import ClaudeCodeStore
from tau_browser.stores.targets import store_over
from tests.actions.observe.sessions import call
from tests.conftest import log_of
from tests.stores.logs.writing import claude, tool_result, tool_use, write_lines

PROCEDURAL = {"bash": MemoryType.PROCEDURAL}


@pytest.fixture(autouse=True)
def no_own_rules() -> Iterator[None]:
    yield
    MEMORY_TYPES.use({})
    FAMILIES.use({})


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine over calls of three tools, and of one whose type is stored."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    tools = ("bash", "getWeather", "create_branch", "bash")
    entries = [entry for at, tool in enumerate(tools) for entry in call(at, tool, {}, "needle")]
    for entry in entries[-2:]:
        entry |= {"memory": "semantic", "origin": {"store": "agmem"}}
    (folder / "s.jsonl").write_bytes(log_of(entries))
    made = Engine(store_over([str(folder)], None), tmp_path / "cache")
    made.update()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("query", "rules", "expected"),
    [
        ("memory:episodic", {}, "a0 r0"),
        ("memory:semantic", {}, "a1 r1 a3 r3"),
        ("memory:procedural", {}, "a2 r2"),
        ("-memory:semantic needle", {}, "r0 r2"),
        ("memory:episodic memory:procedural", {}, "a0 r0 a2 r2"),
        ("memory:procedural", PROCEDURAL, "a0 r0 a2 r2"),
        ("memory:episodic", PROCEDURAL, ""),
        ("memory:semantic", PROCEDURAL, "a1 r1 a3 r3"),  # what is stored is not overruled
    ],
)
def test_types_of_memory(
    engine: Engine, tmp_path: Path, query: str, rules: Mapping[str, MemoryType], expected: str
) -> None:
    MEMORY_TYPES.use(rules)
    found_by_index_and_scan(engine, tmp_path, query, expected)


@pytest.mark.parametrize(
    ("query", "rules", "expected"),
    [
        ("tool:bash", {}, "a0 r0 a3 r3"),
        ("tool:shell", {}, "a0 r0 a3 r3"),
        ("tool:SHELL needle", {}, "r0 r3"),
        ("tool:getweather", {}, "a1 r1"),
        ("-tool:shell needle", {}, "r1 r2"),
        ("tool:fetch", {}, ""),
        ("tool:fetch", {"weather": Family.FETCH}, "a1 r1"),
        ("tool:shell", {"bash": Family.AGENT}, ""),
        ("tool:agent tool:getWeather", {"bash": Family.AGENT}, "a0 r0 a1 r1 a3 r3"),
    ],
)
def test_tools_by_name_and_by_family(
    engine: Engine, tmp_path: Path, query: str, rules: Mapping[str, Family], expected: str
) -> None:
    FAMILIES.use(rules)
    found_by_index_and_scan(engine, tmp_path, query, expected)


def test_what_another_tool_calls_and_several_tools_at_once(tmp_path: Path) -> None:
    """An entry is found by each of its tools, however its first one is ruled."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    [through] = call(0, "call_tool", {"name": "Bash", "arguments": {}}, ...)
    [both] = call(1, "bash", {}, ...)
    both["message"]["content"] += call(2, "Read", {}, ...)[0]["message"]["content"]
    (folder / "s.jsonl").write_bytes(log_of([through, both]))
    with closing(Engine(store_over([str(folder)], None), tmp_path / "cache")) as engine:
        engine.update()
        MEMORY_TYPES.use(PROCEDURAL)
        found_by_index_and_scan(engine, tmp_path, "memory:semantic", "a1")
        found_by_index_and_scan(engine, tmp_path, "memory:procedural", "a0 a1")
        found_by_index_and_scan(engine, tmp_path, "memory:episodic", "")
        found_by_index_and_scan(engine, tmp_path, "tool:shell", "a0 a1")
        found_by_index_and_scan(engine, tmp_path, "tool:call_tool", "a0")
        found_by_index_and_scan(engine, tmp_path, "tool:read", "a1")


def test_results_are_found_by_the_tool_whose_name_only_their_call_tells(tmp_path: Path) -> None:
    """Claude Code writes the name of a tool into the call alone."""
    folder = tmp_path / "sessions"
    lines = [
        claude("user", "u", None, "needle"),
        claude("assistant", "a", "u", [tool_use("t1", "Bash")]),
        claude("user", "r", "a", [tool_result("t1", "needle", is_error=True)]),
        claude("user", "s", "r", [tool_result("t9", "needle of nothing")]),
    ]
    path = write_lines(folder / "c1.jsonl", lines[:2])
    store = ClaudeCodeStore([str(folder)])
    with closing(Engine(store, tmp_path / "cache")) as engine:
        engine.update()
        write_lines(path, lines)
        engine.update()  # the call was indexed before its result was there
        for query, expected in {
            "tool:bash": ["a", "r"],
            "tool:shell is:error": ["r"],
            "memory:episodic needle": ["r"],
            "-tool:shell": ["s", "u"],
        }.items():
            found = engine.search(parse(query), limit=99)
            assert sorted(hit.entry for hit in found.hits) == expected, query
            scanned = Engine(store, tmp_path / "other").scan(Asking(parse(query), limit=99))
            assert sorted(hit.entry for hit in scanned.hits) == expected, query


def test_families_that_there_are_are_offered_first(engine: Engine) -> None:
    assert engine.values()["tool"][:2] == ["shell", "bash"]


def found_by_index_and_scan(engine: Engine, tmp_path: Path, query: str, expected: str) -> None:
    """The index finds these entries, and so does a scan without one."""
    found = engine.search(parse(query), limit=99)
    assert sorted(hit.entry for hit in found.hits) == sorted(expected.split())
    other = Engine(store_over([str(tmp_path / "sessions")], None), tmp_path / "other")
    scanned = other.scan(Asking(parse(query), limit=99))
    assert sorted(hit.entry for hit in scanned.hits) == sorted(expected.split())
