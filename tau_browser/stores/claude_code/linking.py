"""What only a whole log tells: which call started a sub-agent, what an answer cost, and in which
order the model saw the results of calls that it made at once."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tau_browser.model.columns import NO_KEY, PREVIOUS_KEY, ROLES, Columns, Flag, Int64s
from tau_browser.model.format import Links

_RESULT = ROLES.index("toolResult")


class Link(NamedTuple):
    """What a line tells. One that tells only its answer is a link of that string alone.

    answer: id of the model's answer that it is a part of · prompts: hashes of what it asks
    sub-agents to do, if it calls any · agent: id of the sub-agent whose result it is · root: for
    the first entry of a sidechain, the id of its sub-agent and the hash of what it says ·
    is_progress: whether it only tells that a tool is at work.
    """

    answer: str | None = None
    prompts: tuple[int, ...] | None = None
    agent: str | None = None
    root: tuple[str | None, int] | None = None
    is_progress: bool = False


def linked(columns: Columns, links: Links) -> Columns:
    """The columns with sidechains under their calls, the results of an answer's calls one after
    the other, and each answer's usage counted once."""
    parent, usage = columns.parent.copy(), columns.usage.copy()
    telling = [(place, link) for place, link in links if isinstance(link, Link)]
    answers = long_answers(links)
    for lines in answers:
        usage[lines[:-1]] = -1  # each line has the usage so far: the last one counts
    _put_results_in_a_row(columns, parent, answers)
    _put_progress_aside(columns, parent, [place for place, link in telling if link.is_progress])
    calls = _Calls(columns, telling)
    for place, link in telling:
        if link.root is not None and parent[place] == NO_KEY:
            key = calls.key_for(place, *link.root)
            parent[place] = NO_KEY if key is None else key
    return replace(columns, parent=parent, usage=usage)


def long_answers(links: Links) -> list[list[int]]:
    """The lines of each answer of the model that has several, in file order."""
    answers: dict[str, list[int]] = {}
    for place, link in links:
        answer = link.answer if isinstance(link, Link) else link
        if isinstance(answer, str):
            answers.setdefault(answer, []).append(place)
    return [lines for lines in answers.values() if len(lines) > 1]


def _put_results_in_a_row(columns: Columns, parent: Int64s, answers: list[list[int]]) -> None:
    """An answer with several calls is a row of lines, and the result of each call hangs under its
    own line: as a tree, all but the last would be branches that were left. The model saw them all,
    after the answer and before what came next, so that is where they are hung."""
    rows = [row for lines in answers for row in _rows(columns, lines) if len(row) > 1]
    given: dict[int, list[int]] = {}  # by the place of the last line of a row
    for row, results in zip(rows, _results(columns, rows), strict=True):
        if any(columns.parent[result] != columns.key[row[-1]] for result in results):
            given[row[-1]] = results
    for last, results in given.items():
        parent[results] = columns.key[[last, *results[:-1]]]
    together = {int(columns.key[each]): results for results in given.values() for each in results}
    follows = np.isin(columns.parent, list(together))
    follows[[each for results in given.values() for each in results]] = False
    for place in np.flatnonzero(follows).tolist():
        before = [each for each in together[int(columns.parent[place])] if each < place]
        if before:
            parent[place] = columns.key[before[-1]]


def _put_progress_aside(columns: Columns, parent: Int64s, progress: list[int]) -> None:
    """What tells that a tool is at work, and leads to nothing else, stands where it was written:
    it is no branch that was left."""
    proper = np.ones(len(columns), np.bool_)
    proper[progress] = False
    lead_on = set(columns.parent[proper].tolist()) if progress else set()
    for place in reversed(progress):
        if int(columns.key[place]) in lead_on:
            lead_on.add(int(columns.parent[place]))
        else:
            parent[place] = PREVIOUS_KEY


def _rows(columns: Columns, lines: list[int]) -> Iterator[list[int]]:
    """The lines of an answer in rows, in each of which one hangs under the other."""
    row: list[int] = []
    for line in lines:
        if row and columns.parent[line] != columns.key[row[-1]]:
            yield row
            row = []
        row.append(line)
    yield row


def _results(columns: Columns, rows: list[list[int]]) -> list[list[int]]:
    """For each row, the results of its calls in file order: of each call the first, for whatever
    else hangs there is another branch."""
    row_of = {int(columns.key[line]): at for at, row in enumerate(rows) for line in row}
    found: list[dict[int, int]] = [{} for _ in rows]
    called = (columns.role == _RESULT) & np.isin(columns.parent, list(row_of))
    for place in np.flatnonzero(called).tolist():
        call = int(columns.parent[place])
        found[row_of[call]].setdefault(call, place)
    return [list(results.values()) for results in found]


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
