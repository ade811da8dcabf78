"""How many entries of a session make memory of each type, and call tools of each family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tau_browser.model.calls import ResultNames
from tau_browser.model.families import Family, family_of
from tau_browser.model.heads import decode_record
from tau_browser.model.memory import memory_of
from tau_browser.model.session import Session, records_at
from tau_browser.model.tools import tools_of

_SLICE = 2000  # entries


@dataclass
class Tallies:
    """Entries by type of memory, and by family of tools: an entry counts once for each family
    that it calls or answers."""

    memories: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Tallies) -> Tallies:
        return Tallies(self.memories + other.memories, self.families + other.families)

    def __str__(self) -> str:
        memories = [f"{self.memories[each]:,} {each}" for each in sorted(self.memories)]
        most_first = self.families.most_common()
        families = [f"{count:,} {family}" for family, count in most_first]
        parts = {"memory": memories, "tools": families}
        return " · ".join(f"{name}: {', '.join(some)}" for name, some in parts.items() if some)


def tallied(session: Session) -> Iterator[tuple[int, Tallies]]:
    """The tallies of a session as they grow, with how many entries were looked at; the last time
    of all of them."""
    tallies, names = Tallies(), ResultNames(session)
    places = np.arange(len(session), dtype=np.int32)
    for first in range(0, len(places), _SLICE):
        some = places[first : first + _SLICE]
        raws = records_at(session.source, session.columns, some)
        for place, raw in zip(some.tolist(), raws, strict=True):
            record = names.named(place, session.format.record(decode_record(raw)))
            if memory := memory_of(record):
                tallies.memories[memory.type.value] += 1
            tallies.families.update(_families(tools_of(record)))
        yield min(first + _SLICE, len(places)), tallies
    yield len(places), tallies


def _families(tools: Iterator[str]) -> set[Family]:
    return {family for tool in tools if (family := family_of(tool))}
