"""Names of tools cut into words, and the families that they tell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.audit.tools import KNOWN_TOOLS
from tau_browser.model.families import FAMILIES, Family, family_of, is_called
from tau_browser.model.tools import words_of


@pytest.fixture(autouse=True)
def no_own_rules() -> Iterator[None]:
    yield
    FAMILIES.use({})


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("read_file", ["read", "file"]),
        ("readFile", ["read", "file"]),
        ("HTTPGet", ["http", "get"]),
        ("mcp__git_hub__createIssue", ["create", "issue", "git", "hub"]),
        ("", []),
    ],
)
def test_names_are_cut_into_words(tool: str, words: list[str]) -> None:
    assert words_of(tool) == words


# By program, as their sessions name them.
NAMES = {
    "read": "read Read NotebookRead view_image ReadMcpResourceTool read_file fs.readFile cat",
    "write": "write Write create_file write_file mcp__fs__write_file",
    "edit": "edit Edit MultiEdit NotebookEdit apply_patch str_replace_based_edit_tool",
    "shell": "bash Bash BashOutput KillShell shell local_shell exec_command container.exec"
    " write_stdin run_terminal_cmd unified_exec run execute_python code_execution",
    "search": "grep find ls Grep Glob LS WebSearch web_search ToolSearch grep_files list_dir"
    " codebase_search mcp__brave__web_search run_query execute_retrieval",
    "fetch": "WebFetch webfetch mcp__http__download fetch_url browser_navigate",
    "memory": "jmfts_search jmfts_read jmfts_ingest mcp__memory__search_nodes search_memory"
    " mcp__memory__write remember rag.answer.run:lazy-loading-f70cbea892ed rag.promote.run",
    "agent": "Task Agent spawn_agent wait_agent list_agents subagent",
    "": "TodoWrite update_plan TaskUpdate TaskOutput ExitPlanMode AskUserQuestion Skill"
    " splinter_cell breadcrumb thread",
}


@pytest.mark.parametrize(
    ("tool", "family"),
    [(tool, family) for family, tools in NAMES.items() for tool in tools.split()],
)
def test_families_of_the_tools_of_each_program(tool: str, family: str) -> None:
    assert (family_of(tool) or "") == family


def test_every_tool_of_a_memory_that_the_audit_knows_is_of_that_family() -> None:
    for name, _, _ in KNOWN_TOOLS.tools:
        assert family_of(name) is Family.MEMORY, name


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ("Bash", "the word 'bash'"),
        ("Task", "the name 'task'"),
        ("mcp__memory__read_graph", "the name 'read_graph'"),
        ("read_memory", "the word 'memory'"),
        ("run_python_query", "the word 'query'"),
        ("run_listdir", "the word 'run'"),
        ("listdir", "'listdir' begins with 'list'"),
        ("nonesuch", "no rule holds"),
    ],
)
def test_the_rule_is_told(tool: str, rule: str) -> None:
    assert FAMILIES.of(tool).rule == rule


def test_rules_of_the_person_come_first() -> None:
    FAMILIES.use({"deploy": Family.SHELL, "Read": Family.FETCH})
    assert FAMILIES.of("DeployNow") == (Family.SHELL, "your rule 'deploy'")
    assert FAMILIES.of("redeployer") == (Family.SHELL, "your rule 'deploy', in the name")
    assert family_of("read") is Family.FETCH
    FAMILIES.use({"deploy": Family.AGENT})
    assert family_of("DeployNow") is Family.AGENT


def test_a_tool_is_called_by_its_name_and_by_its_family() -> None:
    assert is_called("Bash", "bash") and is_called("Bash", "shell")
    assert not is_called("Bash", "read") and not is_called("TodoWrite", "write")


@given(st.text())
def test_every_name_is_told_of(tool: str) -> None:
    assert FAMILIES.of(tool).rule and family_of(tool) in (None, *Family)
