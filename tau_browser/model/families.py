"""What a tool is for, whatever its program calls it: "Bash", "exec_command" and "shell" are one
family. Told by the name alone (`model.tools`), which is always shown beside it."""

from __future__ import annotations

from enum import StrEnum

from tau_browser.model.payload import Record
from tau_browser.model.tools import Rules, Told, tools_of


class Family(StrEnum):
    """What tools do."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    SHELL = "shell"
    SEARCH = "search"
    FETCH = "fetch"
    MEMORY = "memory"
    AGENT = "agent"


_OF_A_MEMORY = (
    "search_nodes open_nodes read_graph create_entities create_relations add_observations"
    " delete_entities delete_observations delete_relations"
)
_OF_NONE = "todowrite todoread update_plan tasklist write_plan"

FAMILIES: Rules[Family | None] = Rules(
    names={
        "task": Family.AGENT,
        "write_stdin": Family.SHELL,
        "create_file": Family.WRITE,
        "insert": Family.EDIT,
        "ls": Family.SEARCH,
        **dict.fromkeys(_OF_A_MEMORY.split(), Family.MEMORY),
        **dict.fromkeys(_OF_NONE.split(), None),
    },
    anywhere={
        Family.MEMORY: "memory memories recall remember rag jmfts agmem graphiti mem0",
        Family.AGENT: "agent agents subagent subagents delegate spawn",
    },
    words={
        Family.READ: "read view cat open",
        Family.WRITE: "write save",
        Family.EDIT: "edit multiedit patch replace",
        Family.SHELL: "bash sh zsh shell command cmd terminal powershell repl",
        Family.SEARCH: "search grep glob find list rg lookup query retrieve retrieval",
        Family.FETCH: "fetch http url curl download browse browser",
    },
    generic={Family.SHELL: "exec execute run"},
    otherwise=Told(None, "no rule holds"),
)
"""The families of tools; None: of no family."""


def family_of(tool: str) -> Family | None:
    """The family of a tool, None if it is of none."""
    return FAMILIES.of(tool).value


def told_families(record: Record) -> dict[str, Told[Family | None]]:
    """What the names of an entry's tools tell, each name once."""
    return {tool: FAMILIES.of(tool) for tool in tools_of(record)}


def is_called(tool: str, wanted: str) -> bool:
    """Whether a tool is the wanted one, by its name or by its family. `wanted` is folded."""
    return tool.casefold() == wanted or family_of(tool) == wanted
