"""The memory that an entry makes: as stored, or derived from its tools by a rule that is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.memory import MEMORY_TYPES, MemoryType, memory_of, memory_of_tool

EPISODIC, SEMANTIC, PROCEDURAL = MemoryType


@pytest.fixture(autouse=True)
def no_own_rules() -> Iterator[None]:
    yield
    MEMORY_TYPES.use({})


@pytest.mark.parametrize(
    ("tool", "type", "rule"),
    [
        # where agmem's search for letters anywhere goes wrong (memory-systems 3)
        ("latest_news", EPISODIC, "no rule holds: something was done"),
        ("get_latest", SEMANTIC, "the word 'get'"),
        ("fetch_contest_results", SEMANTIC, "the word 'fetch'"),
        ("generate_tests", PROCEDURAL, "the word 'generate'"),
        ("install_tests", PROCEDURAL, "the word 'install'"),
        ("create_test_plan", PROCEDURAL, "the word 'create'"),
        ("query_builder", SEMANTIC, "the word 'query'"),
        ("splinter_cell", EPISODIC, "no rule holds: something was done"),
        ("budget_report", EPISODIC, "no rule holds: something was done"),
        ("widget_install", PROCEDURAL, "the word 'install'"),
        ("refactor_search", PROCEDURAL, "the word 'refactor'"),
        ("setup_database", PROCEDURAL, "the word 'setup'"),
        ("create_branch", PROCEDURAL, "the word 'create'"),
        ("create_file", EPISODIC, "the name 'create_file'"),
        ("Read", SEMANTIC, "the word 'read'"),
        ("rag.answer.run:lazy-loading", SEMANTIC, "the word 'rag'"),
        ("Grep", SEMANTIC, "the word 'grep'"),
        ("Bash", EPISODIC, "the word 'bash'"),
        ("TodoWrite", PROCEDURAL, "the name 'todowrite'"),
        ("WebFetch", SEMANTIC, "the word 'web'"),
        ("mcp__db__write_row", EPISODIC, "the word 'write'"),
        ("listdir", SEMANTIC, "'listdir' begins with 'list'"),
        ("prefetcher", SEMANTIC, "'prefetcher' holds 'fetch'"),
    ],
)
def test_types_and_the_rules_that_give_them(tool: str, type: MemoryType, rule: str) -> None:
    memory = memory_of_tool(tool)
    assert (memory.type, memory.rule, memory.is_stored) == (type, rule, False)


def test_rules_of_the_person_come_first_and_words_before_letters() -> None:
    MEMORY_TYPES.use({"news": SEMANTIC, "jira": PROCEDURAL, "latest_news": EPISODIC})
    assert memory_of_tool("latest_news").rule == "your rule 'news'"
    assert memory_of_tool("NewsReader").type is SEMANTIC
    assert memory_of_tool("myjirathing").rule == "your rule 'jira', in the name"
    assert memory_of_tool("read").rule == "the word 'read'"


def record(**more: Any) -> dict[str, Any]:
    content = [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {}}]
    return {"type": "message", "message": {"role": "assistant", "content": content}, **more}


def test_what_is_stored_is_never_overruled() -> None:
    MEMORY_TYPES.use({"bash": PROCEDURAL})
    stored = record(memory="semantic", origin={"store": "agmem"})
    assert (memory := memory_of(stored)) and memory.is_stored and memory.type is SEMANTIC
    assert (memory := memory_of(record())) and memory.type is PROCEDURAL
    # a field of that name in another program's entry says nothing
    assert (memory := memory_of(record(memory="semantic"))) and not memory.is_stored


def test_what_calls_no_tool_makes_none() -> None:
    assert (
        memory_of({"type": "message", "message": {"role": "user", "content": "read this"}}) is None
    )
    assert memory_of({}) is None


@given(st.text())
def test_every_name_has_a_type(tool: str) -> None:
    assert memory_of_tool(tool).type in MemoryType
