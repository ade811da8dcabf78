"""What only a whole log tells: which call started a sub-agent, and what an answer cost."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

from tau_browser.model.columns import NO_KEY, Columns, Flag, Int32s
from tau_browser.model.format import Links


class Link(NamedTuple):
    """What a line tells. One that tells only its answer is a link of that string alone.

    answer: id of the model's answer that it is a part of · prompts: hashes of what it asks
    sub-agents to do, if it calls any · agent: id of the sub-agent whose result it is · root: for
    the first entry of a sidechain, the id of its sub-agent and the hash of what it says.
    """

    answer: str | None = None
    prompts: tuple[int, ...] | None = None
    agent: str | None = None
    root: tuple[str | None, int] | None = None


def linked(columns: Columns, links: Links) -> Columns:
    """The columns with sidechains under their calls, and each answer's usage counted once."""
    parent, usage = columns.parent.copy(), columns.usage.copy()
    _count_once(usage, links)
    telling = [(place, link) for place, link in links if isinstance(link, Link)]
    calls = _Calls(columns, telling)
    for place, link in telling:
        if link.root is not None and parent[place] == NO_KEY:
            key = calls.key_for(place, *link.root)
            parent[place] = NO_KEY if key is None else key
    return replace(columns, parent=parent, usage=usage)


def _count_once(usage: Int32s, links: Links) -> None:
    """An answer is written in several lines, each with the usage so far: the last one counts."""
    latest: dict[str, int] = {}
    for place, link in links:
        answer = link if isinstance(link, str) else link.answer
        if answer is not None:
            if (before := latest.get(answer)) is not None:
                usage[before] = -1
            latest[answer] = place


class _Calls:
    """The entries that call sub-agents, by what tells them apart."""

    def __init__(self, columns: Columns, links: Links) -> None:
        self._by_agent: dict[str, int] = {}
        self._by_prompt: dict[int, list[int]] = defaultdict(list)
        self._places: list[int] = []
        self._keys: list[int] = []
        for place, link in links:
            key = int(columns.key[place])
            if link.agent is not None:  # a result hangs under its call
                self._by_agent[link.agent] = int(columns.parent[place])
            for prompt in link.prompts or ():
                self._by_prompt[prompt].append(key)
            if link.prompts is not None and not columns.flags[place] & Flag.LANE:
                self._places.append(place)
                self._keys.append(key)

    def key_for(self, place: int, agent: str | None, prompt: int) -> int | None:
        """The key of the call that started a sidechain: that whose result names its sub-agent,
        else one that asked for what it begins with, else the last before it."""
        if agent is not None and agent in self._by_agent:
            return self._by_agent[agent]
        if asked := self._by_prompt.get(prompt):
            return asked.pop(0)
        before = bisect(self._places, place) - 1
        return self._keys[before] if before >= 0 else None
