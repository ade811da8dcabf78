"""Changes on a server that are killed, each time once it has done what it was asked, and before it
could say so. What stands in the journal then takes back all that was done."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tau_browser.stores.jmfts.store import JmftsStore
from tests.cli.conftest import Run
from tests.conftest import DATA
from tests.jmfts.appliance import Appliance
from tests.jmfts.interrupting import killed_at, long_ago, said, session_at, state
from tests.jmfts.making import Making
from tests.jmfts.proxy import Proxy


@pytest.mark.parametrize(
    ("nth", "words"),
    [
        (1, ("rename", "{root}", "a name")),
        (2, ("rename", "{root}", "a name")),
        (1, ("prune", "{root}", "{second}", "--fold")),
        (1, ("fork", "{root}")),
        (3, ("fork", "{root}")),
        (5, ("fork", "{root}")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else str(value),
)
def test_killed_change_is_taken_back(
    run: Run,
    home: Path,
    server: Proxy,
    appliance: Appliance,
    making: Making,
    nth: int,
    words: tuple[str, ...],
) -> None:
    root, _, second, _ = making.chain(*"abc")
    long_ago(appliance)
    before = state(appliance)
    named = [word.format(root=root, second=second) for word in words]
    code, said = killed_at(server, nth, home, appliance, *named)
    assert code == -signal.SIGKILL, said
    assert state(appliance) != before
    undone = run("undo", "--store", "jmfts")
    assert undone.code == 0, undone.err
    assert state(appliance) == before
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back


def branches(making: Making) -> tuple[int, int, int]:
    """A conversation with two branches of three entries, and a bookmark of the last of the first:
    its root, and where each branch begins."""
    root, first, second, third = making.chain(*"abc")
    other = making.message(first, 4, "d")
    mark = {
        "type": "customEntry",
        "timestamp": "2026-03-01T10:00:09.000Z",
        "customType": "bookmark",
        "data": {"entry_id": str(third), "label": "x"},
    }
    making.entry(first, 5, mark)
    return root, second, other


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_killed_pruning_in_place_is_taken_back(
    run: Run,
    home: Path,
    server: Proxy,
    store: JmftsStore,
    appliance: Appliance,
    making: Making,
    nth: int,
) -> None:
    root, second, other = branches(making)
    long_ago(appliance)
    before = said(session_at(store, root))
    words = ("prune", str(root), str(second), str(other), "--in-place", "--confirm", "3")
    code, said_then = killed_at(server, nth, home, appliance, *words)
    assert code == -signal.SIGKILL, said_then
    undone = run("undo", "--store", "jmfts")
    assert undone.code == 0, undone.err
    back = session_at(store, root)
    assert said(back) == before
    (c,) = [at for at in range(len(back)) if back.text(at) == "c"]
    marks = [back.record(at) for at in range(len(back)) if back.kind(at) == "customEntry"]
    assert [each["data"]["entry_id"] for each in marks] == [back.entry_id(c)]
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back


def test_killed_undo_of_a_pruning_leaves_it_pruned_and_doctor_names_what_is_left(
    run: Run,
    home: Path,
    server: Proxy,
    store: JmftsStore,
    appliance: Appliance,
    making: Making,
) -> None:
    root, _, second, _ = making.chain(*"abc")
    long_ago(appliance)
    before = said(session_at(store, root))
    words = ("prune", str(root), str(second), "--in-place", "--confirm", "2", "--json")
    change = run(*words, "--store", "jmfts").json["change"]
    pruned = said(session_at(store, root))
    code, said_then = killed_at(server, 2, home, appliance, "undo")
    assert code == -signal.SIGKILL, said_then
    assert said(session_at(store, root)) == pruned
    (left,) = store.unfinished()
    (problem,) = run("doctor", "--store", "jmfts", "--json").json["problems"]
    assert f"document {left.document}: cut off" in problem
    assert f"`tau-browse undo {left.change}` removes it" in problem
    assert run("undo", left.change, "--store", "jmfts").code == 0 and store.unfinished() == []
    assert run("undo", change, "--store", "jmfts").code == 0
    assert said(session_at(store, root)) == before


@pytest.mark.parametrize("nth", [3, 4, 5, 6, 7, 8])
def test_killed_undo_of_a_pruning_goes_on_where_it_stopped(
    run: Run,
    home: Path,
    server: Proxy,
    store: JmftsStore,
    appliance: Appliance,
    making: Making,
    nth: int,
) -> None:
    root, second, other = branches(making)
    long_ago(appliance)
    before = said(session_at(store, root))
    words = ("prune", str(root), str(second), str(other), "--in-place", "--confirm", "3", "--json")
    change = run(*words, "--store", "jmfts").json["change"]
    # a root of its own, three entries, two moves, the bookmark, and that root goes
    code, said_then = killed_at(server, nth, home, appliance, "undo")
    assert code == -signal.SIGKILL, said_then
    if nth == 8:  # nothing was left to be done
        assert store.unfinished() == []
    else:
        (left,) = store.unfinished()
        (problem,) = run("doctor", "--store", "jmfts", "--json").json["problems"]
        is_whole = nth > 4
        assert (f"`tau-browse undo {change}` moves what is left" in problem) == is_whole
        assert (f"`tau-browse undo {left.change}` removes it" in problem) != is_whole
        if is_whole:  # what it would remove is nowhere else
            refused = run("undo", left.change, "--store", "jmfts")
            assert refused.code == 2 and f"`tau-browse undo {change}` goes on" in refused.err
        undone = run("undo", "--store", "jmfts")
        assert undone.code == 0, undone.err
    back = session_at(store, root)
    assert said(back) == before and store.unfinished() == []
    (c,) = [at for at in range(len(back)) if back.text(at) == "c"]
    marks = [back.record(at) for at in range(len(back)) if back.kind(at) == "customEntry"]
    assert [each["data"]["entry_id"] for each in marks] == [back.entry_id(c)]
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back


@pytest.mark.parametrize(
    ("corpus", "nth"),
    [("new", 1), ("new", 4), ("new", 11), ("there", 1), ("there", 4), ("there", 9)],
)
def test_killed_promotion_is_taken_back(
    run: Run, home: Path, server: Proxy, appliance: Appliance, making: Making, corpus: str, nth: int
) -> None:
    if corpus == "there":
        other = making.document(title="lessons", usetype="tau-browse:corpus")
        making.document(other, title="kept before", usetype="tau-browse:promoted", content="x")
    before = state(appliance)
    log = str(DATA / "tau" / "02-forked-tree.jsonl")
    words = ("promote", log, "--into", "lessons", "--kind", "user")
    code, said = killed_at(server, nth, home, appliance, *words)
    assert code == -signal.SIGKILL, said
    assert state(appliance) != before
    undone = run("undo", "--store", "jmfts")
    assert undone.code == 0, undone.err
    assert state(appliance) == before
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back
