"""How a tree is laid out in lines: indented by forks and turns, never by messages.

A user message opens a **turn**, which holds what follows until the next user message. At a fork,
the branch that goes on stays at its level; each branch that was left is one group under the fork.
So a straight conversation is flat however long it is.

A **strand** is what stays at one level: a root, or the first entry of a branch that was left,
with everything that goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tau_browser.model.columns import Bools, Int32s
from tau_browser.model.tree import NOWHERE, Tree


@dataclass(frozen=True, slots=True)
class Outline:
    """One line per entry, in the tree's preorder.

    By line: entry, its place · depth, its indent from 0 · size, the lines of the group that it
    heads, itself included (1: nothing to fold). By place: line · turn, the user message that
    opened the entry's turn, or NOWHERE · branch, whether it opens a branch that was left.
    """

    entry: Int32s
    depth: Int32s
    size: Int32s
    line: Int32s
    turn: Int32s
    branch: Bools

    def __len__(self) -> int:
        return len(self.entry)


def outline_of(tree: Tree, opens_turn: Bools) -> Outline:
    """Lay out a tree. `opens_turn`: by place, whether the entry is a user's message."""
    runs = tree.runs
    places = np.arange(len(tree), dtype=np.int32)
    latest = np.maximum.accumulate(np.where(opens_turn, places, NOWHERE))
    run_start = np.repeat(runs.start, runs.size)
    turn = np.where(latest >= run_start, latest, NOWHERE).astype(np.int32)

    last = (runs.start + runs.size - 1).tolist()
    turn_at_end: list[int] = turn[last].tolist()
    inherited = [NOWHERE] * len(last)
    strand: list[int] = runs.start.tolist()
    level = [0] * len(last)
    branch = np.zeros(len(tree), np.bool_)
    for run in runs.order:
        over = runs.parent[run]
        if over != NOWHERE and runs.main[over] == run:
            strand[run], level[run] = strand[over], level[over]
            inherited[run] = turn_at_end[over]
        elif over != NOWHERE:
            branch[strand[run]] = True
            fork = _indent(last[over], turn_at_end[over], strand[over], level[over], branch)
            level[run] = fork + 2
        if turn_at_end[run] == NOWHERE:
            turn_at_end[run] = inherited[run]

    turn = np.where(turn == NOWHERE, runs.spread(inherited), turn)
    strands, levels = runs.spread(strand), runs.spread(level)
    in_turn = (turn != NOWHERE) & (turn != places) & ~(branch[strands] & (turn == strands))
    depth = levels + in_turn - branch
    size = _group_sizes(tree, opens_turn, strands, branch)
    return Outline(
        entry=tree.order,
        depth=depth[tree.order].astype(np.int32),
        size=size[tree.order],
        line=tree.position,
        turn=turn,
        branch=branch,
    )


def _indent(place: int, turn: int, strand: int, level: int, branch: Bools) -> int:
    """The indent of one entry: the rule that `outline_of` applies to all at once."""
    if branch[place]:
        return level - 1
    heads_branch = turn == strand and branch[strand]
    return level + (turn != NOWHERE and turn != place and not heads_branch)


def _group_sizes(tree: Tree, opens_turn: Bools, strand: Int32s, branch: Bools) -> Int32s:
    """By place: how many lines an entry heads, itself included."""
    runs, position = tree.runs, tree.position
    size = np.ones(len(tree), np.int32)
    # a fork holds the branches that were left: what stands before the one that goes on
    holding = [run for run, below in enumerate(runs.children) if len(below) > 1]
    forks = np.array([runs.last(run) for run in holding], np.int32)
    going_on = runs.start[[runs.main[run] for run in holding]] if holding else forks
    size[forks] = position[going_on] - position[forks]
    # where only what is foreign hangs, nothing goes on: all of it is held
    ends = [run for run, below in enumerate(runs.children) if below and runs.main[run] == NOWHERE]
    last = np.array([runs.last(run) for run in ends], np.int32)
    size[last] = tree.size[last]
    # a turn reaches to the next turn of its strand, or to the end of the strand
    turns = np.flatnonzero(opens_turn)
    turns = turns[np.argsort((strand[turns].astype(np.int64) << 32) | position[turns])]
    end = position[strand[turns]] + tree.size[strand[turns]]
    same = strand[turns[1:]] == strand[turns[:-1]]
    end[:-1][same] = position[turns[1:]][same]
    size[turns] = end - position[turns]
    # a branch that was left is one group
    size[branch] = tree.size[branch]
    return size


def nested_outline(tree: Tree) -> Outline:
    """Each entry under its parent, one step in: a hierarchy, which has no turns and no branches."""
    return Outline(
        entry=tree.order,
        depth=tree.depth[tree.order] - 1,
        size=tree.size[tree.order],
        line=tree.position,
        turn=np.full(len(tree), NOWHERE, np.int32),
        branch=np.zeros(len(tree), np.bool_),
    )


def flat_outline(places: Int32s, total: int) -> Outline:
    """Some entries of a session of `total`, one under the other, in the order given.

    `line` is NOWHERE for entries that are not among them.
    """
    line = np.full(total, NOWHERE, np.int32)
    line[places] = np.arange(len(places), dtype=np.int32)
    nothing = np.zeros(total, np.bool_)
    return Outline(
        entry=places,
        depth=np.zeros(len(places), np.int32),
        size=np.ones(len(places), np.int32),
        line=line,
        turn=np.full(total, NOWHERE, np.int32),
        branch=nothing,
    )
