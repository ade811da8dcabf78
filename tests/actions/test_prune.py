"""Pruning: what goes is what the plan named, the rest keeps its bytes, and τ opens it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan, Refused, Remedy, Way
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.rename import plan_rename
from tau_browser.actions.undo import last_undoable, take_back, undoables
from tau_browser.model.context import fold_at
from tests.actions.conftest import (
    LARGE,
    SMALL,
    CopyOf,
    in_tau,
    promised,
    reading_of,
    snapshot,
    writer_of,
)
from tests.actions.tau import ask
from tests.actions.test_fork import COMPACTED, WITH_CALLS, compaction, named
from tests.conftest import DATA, load, log_of, message


def prune(path: Path, *ids: str, journal: Journal | None = None, **request: object) -> Plan:
    roots = named(path, *ids)
    made = PruneRequest(roots, **request)  # type: ignore[arg-type]
    return plan_prune(reading_of(path, journal), made, writer_of(path))


@pytest.mark.parametrize("fixture", SMALL, ids=lambda path: path.stem)
@pytest.mark.parametrize("pairs", [False, True])
def test_tau_opens_what_is_left_of_any_pruning(
    fixture: Path, pairs: bool, copy_of: CopyOf, journal: Journal
) -> None:
    path = copy_of(fixture)
    session = load(path)
    done = 0
    for place in range(1, len(session)):
        plan = prune(path, session.entry_id(place), pairs=pairs)
        if plan.refusals:
            assert not pairs or plan.refusals[0].remedy is None
            continue
        change = writer_of(path).apply(plan, journal)
        assert in_tau(change.path) == promised(plan)
        done += 1
    assert done or fixture.stem.startswith("31")


@pytest.mark.parametrize("fixture", LARGE, ids=lambda path: path.stem)
def test_a_large_session_too(fixture: Path, copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(fixture)
    session = load(path)
    for place in (len(session) // 3, len(session) - 2):
        plan = prune(path, session.entry_id(place), pairs=True)
        assert not plan.refusals
        assert in_tau(writer_of(path).apply(plan, journal).path) == promised(plan)


@pytest.mark.parametrize("fixture", SMALL, ids=lambda path: path.stem)
def test_in_place_and_back_byte_for_byte(fixture: Path, copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(fixture)
    path.chmod(0o640)
    before = snapshot(path.parent)
    writer = writer_of(path)
    session = load(path)
    for place in range(1, len(session), 4):
        plan = prune(path, session.entry_id(place), how=How.IN_PLACE, pairs=True)
        if plan.refusals:
            continue
        change = writer.apply(plan, journal)
        assert change.path == str(path) and path.stat().st_mode & 0o777 == 0o640
        assert in_tau(change.path) == promised(plan)
        take_back(change, journal, {"tau": writer})
        assert snapshot(path.parent) == before
        assert path.stat().st_mode & 0o777 == 0o640


def test_everything_else_keeps_its_bytes(copy_of: CopyOf) -> None:
    path = copy_of(DATA / "tau" / "02-forked-tree.jsonl")
    session = load(path)
    root = session.tree.forks[0]
    branch = session.tree.children(root)[0]
    plan = prune(path, session.entry_id(branch), how=How.IN_PLACE)
    gone = {item.id for item in plan.leaving}
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [
        line
        for line in lines
        if not (found := re.search(rb'"id": "(\w+)"', line)) or found[1].decode() not in gone
    ]
    assert b"".join(plan.content.pieces()) == b"".join(kept)
    assert 0 < len(gone) < len(session)


def test_odd_spacing_stays_as_it_is(copy_of: CopyOf) -> None:
    records = [message("u1", None, "one"), message("u2", "u1", "two"), message("x", "u1", "ex")]
    head, u1, u2, gone = log_of(records).splitlines()
    path = copy_of(head + b"\r\n\n" + u1 + b"\n  \n" + gone + b"\r\n" + u2)
    plan = prune(path, "x", how=How.IN_PLACE)
    written = b"".join(plan.content.pieces())
    assert written == head + b"\r\n\n" + u1 + b"\n  \n" + u2 + b"\n"


def test_pruning_the_leaf_says_where_the_session_reopens(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    plan = prune(path, "u3")
    assert "the leaf goes: τ reopens at a3" in plan.remarks
    assert plan.leaf is not None and plan.leaf.id == "a3"
    assert plan.before is not None and plan.after is not None
    assert (plan.before.entries, plan.after.entries) == (8, 7)
    assert plan.after.tokens < plan.before.tokens


def test_half_a_pair_is_refused_unless_the_other_goes_too(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    plan = prune(path, "r2")
    assert [(at.remedy, at.entries) for at in plan.refusals] == [(Remedy.PAIRS, ("a1",))]
    plan = prune(path, "r2", pairs=True)
    assert not plan.refusals
    assert [item.id for item in plan.leaving][:2] == ["a1", "r1"]
    assert any(remark.startswith("taken along: a1") for remark in plan.remarks)


def test_a_compaction_that_would_lose_where_it_resumes(copy_of: CopyOf) -> None:
    log = log_of(
        [
            message("u1", None, "first"),
            message("b1", "u1", "aside"),
            compaction("k", "u1", "b1"),  # resumes on a branch that is not its own
            message("u2", "k", "second"),
            message("z", "u1", "last"),
        ]
    )
    path = copy_of(log)
    plan = prune(path, "b1")
    assert [(at.remedy, at.entries) for at in plan.refusals] == [(Remedy.PAIRS, ("k",))]
    plan = prune(path, "b1", pairs=True)
    assert not plan.refusals and [item.id for item in plan.leaving] == ["b1", "k", "u2"]


def test_references_into_what_goes_are_listed_and_nulled(copy_of: CopyOf, journal: Journal) -> None:
    bookmark = {
        "type": "customEntry",
        "id": "m",
        "parentId": "u1",
        "timestamp": "2026-03-01T10:00:02.000Z",
        "customType": "bookmark",
        "data": {"label": "here", "entry_id": "b1"},
    }
    records = [
        message("u1", None, "first"),
        message("b1", "u1", "aside"),
        bookmark,
        message("c1", "u1", "a copy", copiedFrom="b1"),
    ]
    path = copy_of(log_of(records))
    plan = prune(path, "b1", how=How.IN_PLACE)
    assert [(at.entry, at.field, at.target, at.becomes) for at in plan.references] == [
        ("m", "data.entry_id", "b1", None),
        ("c1", "copiedFrom", "b1", None),
    ]
    change = writer_of(path).apply(plan, journal)
    made = load(Path(change.path))
    assert made.record(made.find("m")[0])["data"] == {"label": "here", "entry_id": None}
    assert "copiedFrom" not in made.record(made.find("c1")[0])
    assert in_tau(change.path) == promised(plan)


def test_nothing_left_is_refused(copy_of: CopyOf) -> None:
    path = copy_of(COMPACTED)
    assert "nothing would be left" in prune(path, "u1").refusals[0].reason


def test_a_session_that_tau_cannot_open_is_not_pruned(copy_of: CopyOf) -> None:
    path = copy_of(COMPACTED + b"{not json\n" + log_of([message("u9", "u1", "x")], None))
    assert "fork it whole first" in prune(path, "u9").refusals[0].reason


def test_in_place_is_never_forced(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    path.touch()
    for how in (How.IN_PLACE, How.FOLD):
        plan = prune(path, "u3", how=how, force=True)
        assert [refusal.remedy for refusal in plan.refusals] == [None]
    assert not prune(path, "u3", force=True).refusals


# Folding


@pytest.mark.parametrize("fixture", SMALL, ids=lambda path: path.stem)
def test_a_fold_is_the_elide_that_tau_would_append(
    fixture: Path, copy_of: CopyOf, journal: Journal, tmp_path: Path
) -> None:
    path = copy_of(fixture)
    session = load(path)
    leaf = session.entry_id(session.leaf)
    for place in session.tree.path(session.leaf).tolist():
        first_kept = session.entry_id(place)
        other = tmp_path / "other.jsonl"
        other.write_bytes(path.read_bytes())
        try:
            plan = prune(path, first_kept, how=How.FOLD)
        except Refused:
            with pytest.raises(AssertionError, match="hide nothing"):
                ask("elide", other, leaf, first_kept)
            continue
        theirs = ask("elide", other, leaf, first_kept)
        assert plan.result is not None
        ours = plan.result.record(plan.result.leaf)
        own = ("id", "timestamp", "coveredTokens")  # the estimates differ
        assert {k: v for k, v in ours.items() if k not in own} == {
            k: v for k, v in theirs.items() if k not in own
        }
        assert list(ours) == list(theirs)
        if not plan.refusals:
            change = writer_of(path).apply(plan, journal)
            assert in_tau(change.path) == promised(plan)
            take_back(change, journal, {"tau": writer_of(path)})


def test_a_fold_hides_and_removes_nothing(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    plan = prune(path, "u2", how=How.FOLD)
    assert plan.way is Way.APPEND and plan.result is not None
    assert [item.id for item in plan.leaving] == ["u1", "a1", "r1", "r2", "a2"]
    result = plan.result
    kept = result.ids(fold_at(result, result.leaf).context)
    assert kept[1:] == ["u2", "a3", "u3"] and len(result) == 9


def test_a_fold_does_not_part_a_call_from_its_result(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    assert prune(path, "r2", how=How.FOLD).refusals[0].remedy is Remedy.PAIRS
    with pytest.raises(Refused, match="nothing would be hidden"):
        prune(copy_of(WITH_CALLS), "u1", how=How.FOLD)
    plan = prune(path, "r2", how=How.FOLD, pairs=True)
    assert not plan.refusals and [item.id for item in plan.leaving] == ["u1"]


def test_a_fold_off_the_path_is_refused(copy_of: CopyOf) -> None:
    path = copy_of(DATA / "tau" / "02-forked-tree.jsonl")
    session = load(path)
    aside = next(at for at in range(len(session)) if not session.tree.is_ancestor(at, session.leaf))
    with pytest.raises(Refused, match="not on the path"):
        prune(path, session.entry_id(aside), how=How.FOLD)


# Renaming, and taking back


@pytest.mark.parametrize("fixture", SMALL, ids=lambda path: path.stem)
def test_tau_sees_the_new_name_and_goes_on_where_it_was(
    fixture: Path, copy_of: CopyOf, journal: Journal
) -> None:
    path = copy_of(fixture)
    before, was = snapshot(path.parent), in_tau(str(path))
    plan = plan_rename(reading_of(path), "  a [bold]new[/] näme ", writer_of(path))
    change = writer_of(path).apply(plan, journal)
    seen = in_tau(str(path))
    assert seen == promised(plan) and seen["name"] == "a [bold]new[/] näme"
    assert seen["path"][:-1] == was["path"]
    take_back(last_undoable(journal, {"tau": writer_of(path)}), journal, {"tau": writer_of(path)})
    assert snapshot(path.parent) == before
    assert not (journal.trash / change.memo["before"]["digest"]).exists()  # needed no copy


def test_a_last_line_without_an_end_gets_one(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS.rstrip(b"\n"))
    change = writer_of(path).apply(plan_rename(reading_of(path), "x", writer_of(path)), journal)
    assert in_tau(change.path)["name"] == "x"


def test_two_changes_of_ours_in_a_row_are_no_other_process(
    copy_of: CopyOf, journal: Journal
) -> None:
    path = copy_of(WITH_CALLS)
    for name in ("one", "two"):
        plan = plan_rename(reading_of(path, journal), name, writer_of(path))
        writer_of(path).apply(plan, journal)
    assert in_tau(str(path))["name"] == "two"
    assert plan_rename(reading_of(path), "three", writer_of(path)).refusals


def test_undo_of_an_undo(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS)
    writers = {"tau": writer_of(path)}
    change = writer_of(path).apply(prune(path, "u3", how=How.IN_PLACE), journal)
    pruned = path.read_bytes()
    undo = take_back(change, journal, writers)
    assert path.read_bytes() == WITH_CALLS
    assert [bool(at.obstacle) for at in undoables(journal, writers)] == [False, True]
    take_back(undo, journal, writers)
    assert path.read_bytes() == pruned


def test_undo_of_a_new_file_keeps_it_in_the_trash(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS)
    writers = {"tau": writer_of(path)}
    change = writer_of(path).apply(prune(path, "u3"), journal)
    made = Path(change.path).read_bytes()
    undo = take_back(change, journal, writers)
    assert not Path(change.path).exists()
    with pytest.raises(Refused, match="nothing to undo"):
        last_undoable(journal, writers)
    take_back(undo, journal, writers)
    assert Path(change.path).read_bytes() == made


def test_undo_is_refused_once_the_target_changed(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS)
    writers = {"tau": writer_of(path)}
    change = writer_of(path).apply(prune(path, "u3", how=How.IN_PLACE), journal)
    with path.open("ab") as file:
        file.write(log_of([message("n", "a3", "new")], None))
    before = snapshot(path.parent)
    with pytest.raises(Refused, match="changed since"):
        take_back(change, journal, writers)
    assert snapshot(path.parent) == before


def test_undo_is_refused_without_the_trash(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS)
    change = writer_of(path).apply(prune(path, "u3", how=How.IN_PLACE), journal)
    for kept in journal.trash.iterdir():
        kept.unlink()
    with pytest.raises(Refused, match="no longer in the trash"):
        take_back(change, journal, {"tau": writer_of(path)})


def test_a_journal_with_a_torn_line_goes_on(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS)
    journal.folder.mkdir()
    journal.path.write_bytes(b'{"id": "half')
    change = writer_of(path).apply(prune(path, "u3"), journal)
    assert journal.changes() == [change]
