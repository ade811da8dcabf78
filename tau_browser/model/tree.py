"""The tree of entries: parents, children, forks, paths (tau-format 2.1 to 2.3).

Nothing here recurses, and nothing loops over entries where the tree is a plain chain: entries are
grouped into **runs**, stretches of consecutive places in which each entry is the only child of the
one before it. A session of a million entries with twenty thousand forks is about forty thousand
runs; only those are walked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from tau_browser.model.columns import (
    NO_KEY,
    PREVIOUS_KEY,
    Bools,
    Columns,
    Flag,
    Flags,
    Int32s,
    Names,
)
from tau_browser.model.entries import Entries

NOWHERE = -1
"""Stands for no entry: the parent of a root, the leaf of an empty session."""

Stamps = Callable[[Int32s], list[str]]
"""The timestamps of the entries at some places as written, "" where they have none."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a tree, in file order of their first entries.

    start: place of the first entry · size: entries · parent: the run it hangs under ·
    children: the runs that hang under each, siblings by time · main: the child that goes on, or
    NOWHERE · foreign: whether it is of documents that τ did not write; none goes on with such ·
    order: all runs in preorder, the branches that were left before the one that goes on.
    """

    start: Int32s
    size: Int32s
    parent: list[int]
    children: list[list[int]]
    main: list[int]
    foreign: list[bool]
    order: list[int]

    def of(self, place: int) -> int:
        """The run that holds an entry."""
        return int(np.searchsorted(self.start, place, "right")) - 1

    def own(self, run: int) -> list[int]:
        """The runs under a run that are not foreign to it."""
        below, foreign = self.children[run], self.foreign
        return below if foreign[run] else [child for child in below if not foreign[child]]

    def last(self, run: int) -> int:
        """The last entry of a run: the only one that can be a fork or a tip."""
        return int(self.start[run] + self.size[run]) - 1

    def spread(self, values: list[int]) -> Int32s:
        """One value per run, as one value per entry."""
        return np.repeat(np.array(values, np.int32), self.size)


@dataclass(frozen=True, slots=True)
class Tree:
    """Entries by place (0 to n-1, in file order), linked by parent.

    parent: place or NOWHERE · order: places in preorder · position: where a place stands in
    `order` · size: entries in the subtree, itself included · depth: entries from the root down,
    itself included · leaf: where τ reopens the session, or NOWHERE.
    """

    parent: Int32s
    runs: Runs
    order: Int32s
    position: Int32s
    size: Int32s
    depth: Int32s
    leaf: int

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def roots(self) -> list[int]:
        """Entries without a parent, in file order."""
        return np.flatnonzero(self.parent == NOWHERE).tolist()

    @property
    def forks(self) -> list[int]:
        """Entries with several children, in file order."""
        children = enumerate(self.runs.children)
        return [self.runs.last(run) for run, below in children if len(below) > 1]

    @property
    def own_forks(self) -> list[int]:
        """Entries with several children that are not foreign to them, in file order."""
        runs = range(len(self.runs.start))
        return [self.runs.last(run) for run in runs if len(self.runs.own(run)) > 1]

    @property
    def tips(self) -> list[int]:
        """Entries without children, in file order."""
        children = enumerate(self.runs.children)
        return [self.runs.last(run) for run, below in children if not below]

    def children(self, place: int) -> list[int]:
        """The children of an entry, by time, then by file order."""
        run = self.runs.of(place)
        if place < self.runs.last(run):
            return [place + 1]
        return [int(self.runs.start[child]) for child in self.runs.children[run]]

    def path(self, place: int) -> Int32s:
        """The entries from the root to this one, itself included."""
        pieces = []
        while place != NOWHERE:
            start = int(self.runs.start[self.runs.of(place)])
            pieces.append(np.arange(start, place + 1, dtype=np.int32))
            place = int(self.parent[start])
        return np.concatenate(pieces[::-1]) if pieces else np.empty(0, np.int32)

    def is_ancestor(self, above: int, below: int) -> bool:
        """Whether `above` lies on the path to `below`, which counts as its own ancestor."""
        offset = int(self.position[below]) - int(self.position[above])
        return 0 <= offset < int(self.size[above])

    def common_ancestor(self, one: int, other: int) -> int:
        """The last entry that the paths to both share, or NOWHERE."""
        shorter, longer = self.path(one), self.path(other)
        n = min(len(shorter), len(longer))
        shared = np.flatnonzero(shorter[:n] == longer[:n])
        return int(shorter[shared[-1]]) if len(shared) else NOWHERE


def tree_of(
    entries: Entries, header_id: str | None, leaf: int, stamps: Stamps, foreign: Bools
) -> Tree:
    """Link the entries. Marks ORPHAN and CYCLE in their flags: those are drawn as roots."""
    return _tree(entries, header_id, leaf, stamps, foreign)


def hierarchy_of(entries: Entries, header_id: str | None) -> Tree:
    """Link entries that are no conversation: siblings in file order, no leaf."""
    foreign = np.zeros(len(entries.columns), np.bool_)
    return _tree(entries, header_id, NOWHERE, None, foreign)


def _tree(
    entries: Entries, header_id: str | None, leaf: int, stamps: Stamps | None, foreign: Bools
) -> Tree:
    parent = _parents(entries, header_id)
    _break_rings(parent, entries.columns.flags)
    _splice(parent, entries.columns)
    runs = _runs(parent, leaf, stamps, foreign)

    run_sizes, run_depths = _subtree_sizes(runs), _depths(runs)
    places = np.arange(len(parent), dtype=np.int32)
    within = places - runs.spread(runs.start.tolist())
    starts = np.zeros(len(runs.start), np.int32)
    in_order = np.array(runs.order, np.int32)
    starts[in_order[1:]] = np.cumsum(runs.size[in_order])[:-1]
    position = np.repeat(starts, runs.size) + within
    order = np.empty_like(position)
    order[position] = places
    return Tree(
        parent=parent,
        runs=runs,
        order=order,
        position=position,
        size=runs.spread(run_sizes) - within,
        depth=runs.spread(run_depths) + within,
        leaf=leaf,
    )


def is_foreign(columns: Columns, kinds: Names) -> Bools:
    """Which entries τ did not write: those of a namespaced kind."""
    return kinds.where(columns.kind, *(kind for kind in kinds if ":" in kind))


def _parents(entries: Entries, header_id: str | None) -> Int32s:
    columns = entries.columns
    n = len(columns)
    places = np.arange(n, dtype=np.int32)
    parent = np.full(n, NOWHERE, np.int32)
    follows = np.zeros(n, np.bool_)
    follows[1:] = (columns.parent[1:] == columns.key[:-1]) | (columns.parent[1:] == PREVIOUS_KEY)
    parent[follows] = places[follows] - 1

    root = (columns.parent == NO_KEY) | (columns.parent == PREVIOUS_KEY)
    if header_id is not None:  # the root of τ's SDK files (tau-format 1.10)
        root |= columns.parent == hash(header_id)
    linked = np.flatnonzero(~follows & ~root)
    wanted = columns.parent[linked]
    left, right = (np.searchsorted(entries.keys, wanted, side) for side in ("left", "right"))
    found = right > left
    parent[linked[found]] = entries.by_key[left[found]]
    for at in np.flatnonzero(right - left > 1):  # several entries of that id
        same_id = entries.by_key[left[at] : right[at]]
        before = same_id[same_id < linked[at]]
        parent[linked[at]] = before[-1] if len(before) else same_id[0]
    columns.flags[linked[~found]] |= Flag.ORPHAN | Flag.NOTED
    return parent


def _break_rings(parent: Int32s, flags: Flags) -> None:
    """Cut each ring at its earliest entry. A ring holds a link to itself or to a later place."""
    seen = np.zeros(len(parent), np.int32)
    suspects = np.flatnonzero(parent >= np.arange(len(parent)))
    for walk, start in enumerate(suspects.tolist(), 1):
        place = start
        while place != NOWHERE and not seen[place]:
            seen[place] = walk
            place = int(parent[place])
        if place != NOWHERE and seen[place] == walk:
            ring = [place]
            while (above := int(parent[ring[-1]])) != place:
                ring.append(above)
            cut = min(ring)
            parent[cut] = NOWHERE
            flags[cut] |= Flag.CYCLE | Flag.NOTED


def _splice(parent: Int32s, columns: Columns) -> None:
    """What hangs where it was written (PREVIOUS) stands over what came under the entry before it
    later, and at the start of a log over its root: else every such record would make a fork, or
    look like a branch that was left."""
    aside = columns.parent == PREVIOUS_KEY
    if not aside.any() or aside.all():
        return
    n = len(parent)
    places = np.arange(n, dtype=np.int32)
    proper = np.where(aside, n, places)
    after = np.minimum.accumulate(proper[::-1])[::-1]  # the first that is no aside, from here on
    end = (np.append(after[1:], n) - 1).astype(np.int32)  # the last aside that follows at once
    moved = ~aside & (parent != NOWHERE) & (places > end[parent])
    parent[moved] = end[parent[moved]]
    first = int(after[0])
    if columns.parent[first] == NO_KEY:
        parent[first] = first - 1


def _runs(parent: Int32s, leaf: int, stamps: Stamps | None, foreign: Bools) -> Runs:
    """`stamps`: what siblings are ordered by, or None if they stay as they are in the file."""
    n = len(parent)
    places = np.arange(n, dtype=np.int32)
    children = np.bincount(parent[parent != NOWHERE], minlength=n)
    goes_on = (parent == places - 1) & (parent != NOWHERE)
    goes_on[1:] &= (children[:-1] == 1) & (foreign[1:] == foreign[:-1])
    start = np.flatnonzero(~goes_on).astype(np.int32)
    size = np.diff(np.append(start, n)).astype(np.int32)
    above = parent[start]
    run_parent = np.where(
        above == NOWHERE, NOWHERE, np.searchsorted(start, above, "right") - 1
    ).tolist()

    runs = Runs(
        start=start,
        size=size,
        parent=run_parent,
        children=_children(run_parent),
        main=[NOWHERE] * len(run_parent),
        foreign=foreign[start].tolist(),
        order=[],
    )
    if stamps is None:
        runs.main[:] = [below[-1] if below else NOWHERE for below in runs.children]
    else:
        _sort_by_time(runs.children, start, stamps)
        _choose_main(runs, leaf)
    _preorder(runs)
    return runs


def _children(parent: list[int]) -> list[list[int]]:
    """The runs below each run, in file order."""
    nothing: list[int] = []  # shared by all that have none: most, where there are many
    below = [nothing] * len(parent)
    for run, over in enumerate(parent):
        if over != NOWHERE:
            if below[over] is nothing:
                below[over] = []
            below[over].append(run)
    return below


def _sort_by_time(below: list[list[int]], start: Int32s, stamps: Stamps) -> None:
    """Sort siblings by what their timestamps say. A log is written in time order but for copies
    and long answers."""
    # in the order of the file: neighbours are read at once
    rivals = sorted(run for siblings in below if len(siblings) > 1 for run in siblings)
    stamp = dict(zip(rivals, stamps(start[rivals]), strict=True)) if rivals else {}
    for siblings in below:
        if len(siblings) > 1:
            siblings.sort(key=stamp.__getitem__)


def _preorder(runs: Runs) -> None:
    """Fill `order`: the main child of a run comes last among its siblings."""
    runs.order.clear()
    stack = [run for run, over in enumerate(runs.parent) if over == NOWHERE][::-1]
    while stack:
        run = stack.pop()
        runs.order.append(run)
        below, main = runs.children[run], runs.main[run]
        if main != NOWHERE:
            stack.append(main)
        stack += [child for child in reversed(below) if child != main]


def _choose_main(runs: Runs, leaf: int) -> None:
    """The branch that goes on at a fork holds the leaf, or else the newest entry."""
    newest = (runs.start + runs.size - 1).tolist()
    for run in _leaves_first(runs):
        if runs.children[run] and (below := runs.own(run)):
            runs.main[run] = max(below, key=newest.__getitem__)
            newest[run] = max(newest[run], newest[runs.main[run]])
    run = runs.of(leaf) if leaf != NOWHERE else NOWHERE
    while run != NOWHERE and (over := runs.parent[run]) != NOWHERE:
        runs.main[over] = run
        run = over


def _leaves_first(runs: Runs) -> Iterable[int]:
    """All runs, each before the one it hangs under."""
    if all(over < run for run, over in enumerate(runs.parent)):
        return range(len(runs.parent) - 1, -1, -1)
    _preorder(runs)
    return runs.order[::-1]


def _subtree_sizes(runs: Runs) -> list[int]:
    sizes: list[int] = runs.size.tolist()
    for run in reversed(runs.order):
        if (over := runs.parent[run]) != NOWHERE:
            sizes[over] += sizes[run]
    return sizes


def _depths(runs: Runs) -> list[int]:
    sizes, depths = runs.size.tolist(), [1] * len(runs.size)
    for run in runs.order:
        if (over := runs.parent[run]) != NOWHERE:
            depths[run] = depths[over] + sizes[over]
    return depths
