"""`memory:` finds entries by the memory that they make: as stored, by own rules, by ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tau_browser.model.memory import MemoryType, use_rules
from tau_browser.search.engine import Engine
from tau_browser.search.query import parse
from tau_browser.search.results import Asking
from tau_browser.stores.targets import store_over
from tests.actions.observe.sessions import call
from tests.conftest import log_of

PROCEDURAL = {"bash": MemoryType.PROCEDURAL}


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
    use_rules({})


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
def test_the_index_and_a_scan_find_the_same(
    engine: Engine,
    tmp_path: Path,
    query: str,
    rules: Mapping[str, MemoryType],
    expected: str,
) -> None:
    use_rules(rules)
    found = engine.search(parse(query), limit=99)
    assert sorted(hit.entry for hit in found.hits) == sorted(expected.split())
    other = Engine(store_over([str(tmp_path / "sessions")], None), tmp_path / "other")
    scanned = other.scan(Asking(parse(query), limit=99))
    assert sorted(hit.entry for hit in scanned.hits) == sorted(expected.split())
