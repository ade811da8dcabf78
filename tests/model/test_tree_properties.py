"""Trees of any shape, their outline and its rows, against plain readings of the same rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.columns import Flag
from tau_browser.model.outline import flat_outline
from tau_browser.model.rows import Rows
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE
from tests.conftest import log_of, message, read

Record = dict[str, Any]

IDS = ["a", "b", "c", "d", "e", "f", "g"]


@st.composite
def forests(draw: st.DrawFn) -> list[Record]:
    """Records in any order: orphans, rings, parents that come later, and ids used twice."""
    records = []
    for at in range(draw(st.integers(0, 14))):
        parent = draw(st.sampled_from([None, "gone", *IDS]) | st.sampled_from(IDS))
        records.append(entry(draw, draw(st.sampled_from(IDS)), parent, at))
    return records


@st.composite
def grown_trees(draw: st.DrawFn) -> list[Record]:
    """Records as an agent writes them: each under one that is there, mostly the last one."""
    records: list[Record] = []
    for at in range(draw(st.integers(0, 24))):
        back = draw(st.sampled_from([1, 1, 1, 1, 2, 3, 5, 25]))
        parent = records[-back]["id"] if back <= len(records) else None
        records.append(entry(draw, f"e{at}", parent, at))
    return records


def entry(draw: st.DrawFn, name: str, parent: str | None, at: int) -> Record:
    kind = draw(st.sampled_from(["message"] * 8 + ["navigate", "foreign:thing", "config"]))
    role = draw(st.sampled_from(["user", "assistant"]))
    stamp = f"2026-03-01T10:00:0{draw(st.integers(0, 3))}.000Z"
    # each says something else: nothing is taken for a repeat
    return message(name, parent, f"text {at}", role, type=kind, timestamp=stamp)


any_trees = forests() | grown_trees()


# A tree, read plainly.


@dataclass
class Plain:
    """The same tree as dictionaries and recursion."""

    parent: list[int | None]
    children: list[list[int]]
    orphans: set[int]
    cut: set[int]
    leaf: int | None
    main: dict[int, int | None]  # of what has several children, or foreign ones

    @property
    def roots(self) -> list[int]:
        return [at for at, over in enumerate(self.parent) if over is None]

    def path(self, place: int) -> list[int]:
        over = self.parent[place]
        return ([] if over is None else self.path(over)) + [place]

    def below(self, place: int) -> list[int]:
        """The subtree in preorder: the branch that goes on comes last."""
        main = self.main.get(place)
        order = sorted(self.children[place], key=lambda child: child == main)
        return [place, *(at for child in order for at in self.below(child))]


def plain(records: list[Record]) -> Plain:
    parent: list[int | None] = []
    orphans = set()
    for at, record in enumerate(records):
        same_id = [i for i, other in enumerate(records) if other["id"] == record["parentId"]]
        before = [i for i in same_id if i < at]
        if record["parentId"] is not None and not same_id:
            orphans.add(at)
        parent.append(before[-1] if before else same_id[0] if same_id else None)

    def ring(at: int) -> set[int]:
        walked: list[int] = []
        place: int | None = at
        while place is not None and place not in walked:
            walked.append(place)
            place = parent[place]
        return set(walked) if place == at else set()

    cut = {min(ring(at)) for at in range(len(records)) if ring(at)}
    for at in cut:
        parent[at] = None

    children = [
        sorted(
            (i for i, over in enumerate(parent) if over == at),
            key=lambda i: records[i]["timestamp"],
        )
        for at in range(len(records))
    ]
    counted = [
        at
        for at, record in enumerate(records)
        if record["type"] != "navigate" and ":" not in record["type"]
    ]
    tree = Plain(parent, children, orphans, cut, counted[-1] if counted else None, {})
    to_leaf = [] if tree.leaf is None else tree.path(tree.leaf)
    foreign = [":" in record["type"] for record in records]

    def own_of(at: int) -> list[int]:
        return [child for child in children[at] if foreign[at] or not foreign[child]]

    def newest_in(at: int) -> int:
        return max([at, *map(newest_in, own_of(at))])

    for at, below in enumerate(children):
        own = own_of(at)
        if len(below) > 1 or own != below:
            on_path = [child for child in below if child in to_leaf]
            newest = [max(own, key=newest_in)] if own else [None]
            tree.main[at] = (on_path or newest)[0]
    return tree


def made(records: list[Record]) -> tuple[Session, Plain]:
    return read(log_of(records)), plain(records)


@given(any_trees)
def test_links_are_those_of_the_plain_tree(records: list[Record]) -> None:
    session, expected = made(records)
    tree = session.tree
    assert [None if at == NOWHERE else at for at in tree.parent.tolist()] == expected.parent
    assert tree.leaf == (NOWHERE if expected.leaf is None else expected.leaf)
    assert tree.roots == expected.roots
    assert [tree.children(at) for at in range(len(tree))] == expected.children
    assert tree.forks == [at for at, below in enumerate(expected.children) if len(below) > 1]
    assert tree.tips == [at for at, below in enumerate(expected.children) if not below]


@given(any_trees)
def test_orphans_and_cut_rings_are_marked_and_told(records: list[Record]) -> None:
    session, expected = made(records)
    everywhere = range(len(session))
    assert {at for at in everywhere if session.has(at, Flag.ORPHAN)} == expected.orphans
    assert {at for at in everywhere if session.has(at, Flag.CYCLE)} == expected.cut
    told = {d.byte for d in session.diagnostics if "detached root" in d.reason}
    marked = expected.orphans | expected.cut
    assert told == {int(session.columns.start[at]) for at in marked}


@given(any_trees)
def test_order_and_measures_are_those_of_the_plain_tree(records: list[Record]) -> None:
    session, expected = made(records)
    tree = session.tree
    order = [at for root in expected.roots for at in expected.below(root)]
    assert tree.order.tolist() == order
    assert sorted(order) == list(range(len(records)))
    assert [order[at] for at in tree.position] == list(range(len(records)))
    assert tree.size.tolist() == [len(expected.below(at)) for at in range(len(tree))]
    assert tree.depth.tolist() == [len(expected.path(at)) for at in range(len(tree))]


@given(any_trees)
def test_paths_and_ancestors_are_those_of_the_plain_tree(records: list[Record]) -> None:
    session, expected = made(records)
    tree = session.tree
    paths = [expected.path(at) for at in range(len(tree))]
    assert [tree.path(at).tolist() for at in range(len(tree))] == paths
    assert tree.path(NOWHERE).tolist() == []
    for one, path in enumerate(paths):
        for other, other_path in enumerate(paths):
            shared = [at for at in path if at in other_path]
            assert tree.common_ancestor(one, other) == (shared[-1] if shared else NOWHERE)
            assert tree.is_ancestor(other, one) == (other in path)


@given(any_trees)
def test_siblings_stand_by_time_and_then_as_written(records: list[Record]) -> None:
    session, _ = made(records)
    for fork in session.tree.forks:
        children = session.tree.children(fork)
        assert children == sorted(children, key=lambda at: (session.stamp(at), at))


@given(grown_trees(), st.data())
def test_finished_and_unfinished_entries_decide_where_to_reopen(
    records: list[Record], data: st.DataObject
) -> None:
    unfinished = data.draw(st.sets(st.integers(0, 23)))
    for at in unfinished & set(range(len(records))):
        records[at]["status"] = "incomplete"
    session = read(log_of(records))
    counts = [
        at
        for at, record in enumerate(records)
        if record["type"] in ("message", "config") and at not in unfinished
    ]
    assert session.leaf == (counts[-1] if counts else NOWHERE)


# The outline.


def plain_depths(session: Session, expected: Plain) -> dict[int, int]:
    """The indent of each entry, by walking down: `level` is the strand's, `turn` is open or not."""
    depths: dict[int, int] = {}

    def walk(place: int, level: int, in_turn: bool, branch: bool) -> None:
        opens = bool(session.is_user[place])
        if branch:
            depths[place] = level - 1
            in_turn = False  # the branch itself is the group
        else:
            depths[place] = level + (in_turn and not opens)
            in_turn = in_turn or opens
        for child in expected.children[place]:
            if child == expected.main.get(place, child):
                walk(child, level, in_turn, False)
            else:
                walk(child, depths[place] + 2, False, True)

    for root in expected.roots:
        walk(root, 0, False, False)
    return depths


@given(any_trees)
def test_each_entry_has_one_line_and_the_plain_indent(records: list[Record]) -> None:
    session, expected = made(records)
    outline = session.outline
    assert outline.entry.tolist() == session.tree.order.tolist()
    assert [outline.line[at] for at in outline.entry] == list(range(len(session)))
    depths = plain_depths(session, expected)
    assert outline.depth.tolist() == [depths[at] for at in outline.entry]


@given(any_trees)
def test_a_group_is_the_deeper_lines_below_its_head(records: list[Record]) -> None:
    outline = made(records)[0].outline
    depth = outline.depth.tolist()
    for line, size in enumerate(outline.size.tolist()):
        deeper = 0
        while line + deeper + 1 < len(depth) and depth[line + deeper + 1] > depth[line]:
            deeper += 1
        assert size == deeper + 1


@given(any_trees)
def test_indent_grows_by_one_at_a_time(records: list[Record]) -> None:
    depth = made(records)[0].outline.depth
    assert len(depth) == 0 or depth[0] == 0
    assert (np.diff(depth) <= 1).all()


@given(any_trees)
def test_branches_that_were_left_stand_before_the_one_that_goes_on(records: list[Record]) -> None:
    session, expected = made(records)
    outline = session.outline
    left = {
        child
        for fork, main in expected.main.items()
        for child in expected.children[fork]
        if child != main
    }
    assert set(np.flatnonzero(outline.branch)) == left
    for fork, main in expected.main.items():
        siblings = sorted(expected.children[fork], key=lambda at: outline.line[at])
        assert main in (None, siblings[-1])
    on_path = [] if expected.leaf is None else expected.path(expected.leaf)
    assert left.isdisjoint(on_path)


@given(any_trees)
def test_an_entry_knows_the_user_message_that_opened_its_turn(records: list[Record]) -> None:
    session, expected = made(records)
    for place, turn in enumerate(session.outline.turn.tolist()):
        path = expected.path(place)
        strand = path[max([0, *(i for i, at in enumerate(path) if session.outline.branch[at])]) :]
        asked = [at for at in strand if session.is_user[at]]
        assert turn == (asked[-1] if asked else NOWHERE)


@given(st.lists(st.sampled_from(["user", "assistant", "system"]), max_size=40))
def test_a_straight_conversation_is_flat(roles: list[str]) -> None:
    records: list[Record] = []
    for at, role in enumerate(roles):
        parent = records[-1]["id"] if records else None
        records.append(message(f"e{at}", parent, "x", role))
    outline = read(log_of(records)).outline
    assert int(outline.depth.max(initial=0)) <= 1
    tops = [at for at in range(len(roles)) if roles[at] == "user" or "user" not in roles[:at]]
    assert np.flatnonzero(outline.depth == 0).tolist() == tops


# Rows.

OPERATIONS = ["toggle", "toggle", "toggle", "fold_all", "unfold_all", "reveal"]
operations = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 99)), max_size=12)


class PlainRows:
    """The same rows, by asking of each line whether a folded group holds it."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes = sizes
        self.folded: set[int] = set()

    def holders(self, line: int) -> list[int]:
        return [head for head in range(line) if head + self.sizes[head] > line]

    def visible(self) -> list[int]:
        lines = range(len(self.sizes))
        return [line for line in lines if self.folded.isdisjoint(self.holders(line))]

    def toggle(self, row: int) -> None:
        self.folded ^= {self.visible()[row]}

    def fold_all(self) -> None:
        self.folded = {line for line, size in enumerate(self.sizes) if size > 1}

    def unfold_all(self) -> None:
        self.folded = set()

    def reveal(self, line: int) -> None:
        self.folded -= set(self.holders(line))


@given(any_trees, operations)
def test_rows_are_those_of_the_plain_rows(
    records: list[Record], operations: list[tuple[str, int]]
) -> None:
    outline = made(records)[0].outline
    rows, expected = Rows(outline), PlainRows(outline.size.tolist())
    assert_rows(rows, expected)
    for name, number in operations if len(outline) else ():
        if name == "toggle":
            row = number % len(rows)
            rows.toggle(row)
            expected.toggle(row)
        elif name == "reveal":
            line = number % len(outline)
            entry = int(outline.entry[line])
            row = rows.reveal(entry)
            expected.reveal(line)
            assert rows.entry(row) == entry and rows.shows(entry)
        else:
            getattr(rows, name)()
            getattr(expected, name)()
        assert_rows(rows, expected)


def assert_rows(rows: Rows, expected: PlainRows) -> None:
    visible = expected.visible()
    outline = rows.outline
    assert rows.lines.tolist() == visible
    assert len(rows) == len(visible)
    for row, line in enumerate(visible):
        size = expected.sizes[line]
        assert rows.entry(row) == outline.entry[line]
        assert rows.is_foldable(row) == (size > 1)
        assert rows.is_folded(row) == (size > 1 and line in expected.folded)
        assert rows.hidden(row) == (size - 1 if line in expected.folded else 0)
        holders = expected.holders(line)
        assert rows.parent(row) == (visible.index(holders[-1]) if holders else row)
    for line, entry in enumerate(outline.entry.tolist()):
        hiding = [at for at in expected.holders(line) if at in expected.folded]
        assert rows.shows(entry) == (not hiding)
        assert rows.row(entry) == visible.index(hiding[0] if hiding else line)


@given(any_trees, operations)
def test_folds_survive_in_a_new_set_of_rows(
    records: list[Record], operations: list[tuple[str, int]]
) -> None:
    outline = made(records)[0].outline
    rows = Rows(outline)
    for name, number in operations if len(outline) else ():
        if name == "toggle":
            rows.toggle(number % len(rows))
        elif name != "reveal":
            getattr(rows, name)()
    assert Rows(outline, rows.folded.copy()).lines.tolist() == rows.lines.tolist()


@given(grown_trees(), st.data())
def test_a_flat_outline_shows_some_entries_and_says_that_it_lacks_the_others(
    records: list[Record], data: st.DataObject
) -> None:
    session = read(log_of(records))
    order = session.tree.order.tolist()
    chosen = data.draw(st.lists(st.sampled_from(order), unique=True)) if order else []
    outline = flat_outline(np.array(chosen, np.int32), len(session))
    rows = Rows(outline)
    assert [rows.entry(row) for row in range(len(rows))] == chosen
    assert [at for at in range(len(session)) if rows.shows(at)] == sorted(chosen)
    if chosen:
        for place in order:
            row = rows.reveal(place)
            assert (rows.entry(row) == place) == (place in chosen)
