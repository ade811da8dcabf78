"""What kind of memory an entry makes: what was done, what is known, or how it is done.

agmem stores the type of what it holds, and that is never overruled. Elsewhere the type is derived
from the name of the tool that was called (`model.tools`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tau_browser.model.payload import Record
from tau_browser.model.tools import Rules, Told, tools_of


class MemoryType(StrEnum):
    """agmem's three types."""

    EPISODIC = "episodic"  # what was done, and what came of it
    SEMANTIC = "semantic"  # what is known
    PROCEDURAL = "procedural"  # how something is done


@dataclass(frozen=True, slots=True)
class Memory:
    """A type, and the rule that gave it in words; `is_stored`: it is the store's own."""

    type: MemoryType
    rule: str
    is_stored: bool = False


MEMORY_TYPES = Rules(
    names={
        "create_file": MemoryType.EPISODIC,
        "todowrite": MemoryType.PROCEDURAL,
        "update_plan": MemoryType.PROCEDURAL,
        "exitplanmode": MemoryType.PROCEDURAL,
    },
    words={
        MemoryType.EPISODIC: (
            "run exec execute shell bash sh terminal command python write edit multiedit patch"
            " apply delete remove rm move mv copy cp mkdir rename save git commit push merge deploy"
            " build test tests lint format kill stop start restart send post upload click type"
            " press navigate task agent spawn delegate"
        ),
        MemoryType.SEMANTIC: (
            "read search retrieve fetch get list ls query lookup find browse grep glob cat view"
            " show open describe inspect info status web http api database recall remember memory"
            " docs rag definition references diff log history ask"
        ),
        MemoryType.PROCEDURAL: (
            "generate refactor implement create setup configure config install workflow pipeline"
            " template scaffold plan skill migrate automate schedule"
        ),
    },
    otherwise=Told(MemoryType.EPISODIC, "no rule holds: something was done"),
)
"""The types of memory that tools make."""

_STORED = {type.value for type in MemoryType}


def memory_of(record: Record) -> Memory | None:
    """The memory that an entry makes: as stored, or by its first tool; None where it has none."""
    return stored_memory(record) or next(map(memory_of_tool, tools_of(record)), None)


def stored_memory(record: Record) -> Memory | None:
    """The type that the store itself keeps of an entry."""
    stored = record.get("memory")
    if "origin" in record and isinstance(stored, str) and stored in _STORED:
        return Memory(MemoryType(stored), "stored", is_stored=True)
    return None


def memory_of_tool(tool: str) -> Memory:
    """The memory that a call of a tool makes."""
    return Memory(*MEMORY_TYPES.of(tool))
