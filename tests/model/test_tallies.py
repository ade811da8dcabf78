"""Entries by the memory that they make and by the tools that they call."""

from __future__ import annotations

from collections import Counter

from tau_browser.model.families import family_of
from tau_browser.model.memory import memory_of
from tau_browser.model.tallies import Tallies, tallied
from tau_browser.model.tools import tools_of
from tests.actions.observe.sessions import call, calls
from tests.conftest import DATA, load, log_of, message, read


def test_the_last_tells_of_all_entries() -> None:
    session = load(DATA / "tau" / "01-linear-tools.jsonl")
    records = [session.record(place) for place in range(len(session))]
    *_, (done, tallies) = tallied(session)
    assert done == len(session)
    memories = (memory_of(record) for record in records)
    assert tallies.memories == Counter(memory.type.value for memory in memories if memory)
    families = Counter(
        family for record in records for family in {*map(family_of, tools_of(record))} if family
    )
    assert tallies.families == families and families


def test_told_in_a_line() -> None:
    both = call(9, "bash", {}, ...)[0]
    both["message"]["content"] += call(10, "Read", {}, ...)[0]["message"]["content"]
    *_, (_, tallies) = tallied(read(log_of([*calls(3), both])))
    assert str(tallies) == ("memory: 3 episodic, 2 procedural, 2 semantic · tools: 3 shell, 3 read")
    *_, (_, nothing) = tallied(read(log_of([message("a", None)])))
    assert nothing == Tallies() and str(nothing) == ""
