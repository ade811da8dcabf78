"""Forks: τ opens what was made, exactly where the plan said, with what it said."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan, Refused, Remedy
from tau_browser.model.columns import Flag
from tests.actions.conftest import (
    FIXTURES,
    SMALL,
    CopyOf,
    in_tau,
    promised,
    reading_of,
    snapshot,
    writer_of,
)
from tests.conftest import DATA, load, log_of, message


def fork(path: Path, **request: object) -> Plan:
    return plan_fork(reading_of(path), ForkRequest(**request), writer_of(path))  # type: ignore[arg-type]


def named(path: Path, *ids: str) -> tuple[int, ...]:
    session = load(path)
    return tuple(session.find(entry_id)[0] for entry_id in ids)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_tau_opens_a_copy_of_everything(fixture: Path, copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(fixture)
    before = snapshot(path.parent)
    plan = fork(path)
    change = writer_of(path).apply(plan, journal)
    assert in_tau(change.path) == promised(plan)
    session = load(path)
    assert plan.leaf is not None and plan.leaf.id == session.entry_id(session.leaf)
    assert plan.result is not None and plan.result.header["parent"] == session.id
    assert before.items() <= snapshot(path.parent).items()  # the source as it was


@pytest.mark.parametrize("fixture", SMALL, ids=lambda path: path.stem)
def test_tau_goes_on_at_every_entry_forked_at(
    fixture: Path, copy_of: CopyOf, journal: Journal
) -> None:
    path = copy_of(fixture)
    session = load(path)
    for place in range(len(session)):
        plan = fork(path, at=place, pairs=True)
        if plan.refusals:
            assert fixture.stem.startswith(("12", "13", "31", "33"))
            continue
        change = writer_of(path).apply(plan, journal)
        assert in_tau(change.path) == promised(plan)
        assert plan.leaf is not None and plan.result is not None
        if not plan.remarks:
            assert plan.leaf.id == session.entry_id(place)
            made, path_ids = plan.result, session.ids(session.tree.path(place))
            assert made.ids(range(len(path_ids))) == path_ids
            # and then what others put there
            beside = range(len(path_ids), len(made))
            assert {made.kind(at) for at in beside} <= {"jmfts:document"}


def test_lines_keep_their_bytes(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(DATA / "tau" / "16-weird-text.jsonl")
    plan = fork(path)
    change = writer_of(path).apply(plan, journal)
    ours = Path(change.path).read_bytes().split(b"\n")[1:]
    session = load(path)
    assert ours == [*(session.raw(place) for place in range(len(session))), b""]


def test_a_fork_has_a_place_and_a_mode_of_its_own(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(DATA / "tau" / "02-forked-tree.jsonl")
    plan = fork(path, cwd="/else/where:x", name="a try")
    change = writer_of(path).apply(plan, journal)
    made = Path(change.path)
    assert made.parent.name == "--else-where-x--" and made.parent.parent == path.parent.parent
    assert (made.stat().st_mode & 0o777, made.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    seen = in_tau(change.path)
    assert seen["name"] == "a try" and seen == promised(plan)
    source = load(path)
    assert seen["path"][:-1] == source.ids(source.tree.path(source.leaf))


def test_at_an_interrupted_entry_the_fork_ends_above_it(copy_of: CopyOf) -> None:
    path = copy_of(DATA / "tau" / "12-incomplete-crashed.jsonl")
    session = load(path)
    place = next(at for at in range(len(session)) if session.has(at, Flag.INCOMPLETE))
    plan = fork(path, at=place)
    assert plan.leaf is not None
    assert plan.leaf.id == session.entry_id(int(session.tree.parent[place]))
    assert any("was interrupted" in remark for remark in plan.remarks)


def test_at_a_move_the_fork_ends_above_it(copy_of: CopyOf) -> None:
    path = copy_of(DATA / "tau" / "31-legacy-0.9.0-ends-with-navigate.jsonl")
    session = load(path)
    place = session.places_of_kind("navigate")[-1]
    plan = fork(path, at=place)
    assert plan.leaf is not None
    assert plan.leaf.id == session.entry_id(int(session.tree.parent[place]))


def test_nothing_above_at_which_tau_could_go_on(copy_of: CopyOf) -> None:
    path = copy_of(log_of([{"type": "navigate", "id": "n", "parentId": None, "targetId": None}]))
    with pytest.raises(Refused, match="cannot go on at n"):
        fork(path, at=0)


def call(entry_id: str, parent: str, *calls: str) -> dict:
    record = message(entry_id, parent, "let me look", "assistant")
    record["message"]["content"] += [
        {"type": "toolCall", "id": name, "name": "look", "arguments": {}} for name in calls
    ]
    return record


def result(entry_id: str, parent: str, call_id: str) -> dict:
    record = message(entry_id, parent, "seen", "toolResult")
    record["message"] |= {"tool_call_id": call_id, "tool_name": "look"}
    return record


WITH_CALLS = log_of(
    [
        message("u1", None, "first"),
        call("a1", "u1", "c1", "c2"),
        result("r1", "a1", "c1"),
        result("r2", "r1", "c2"),
        message("a2", "r2", "done", "assistant"),
        message("u2", "a2", "second"),
        message("a3", "u2", "yes", "assistant"),
        message("u3", "a3", "third"),
    ]
)


def test_a_call_is_not_parted_from_its_results(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    (at,) = named(path, "r1")
    plan = fork(path, at=at)
    assert [refusal.remedy for refusal in plan.refusals] == [Remedy.PAIRS]
    assert plan.refusals[0].entries == ("r2",)
    plan = fork(path, at=at, pairs=True)
    assert not plan.refusals and plan.leaf is not None and plan.leaf.id == "r2"


def test_only_the_marked_turns(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS)
    plan = fork(path, only=named(path, "u1", "u3"))
    assert not plan.refusals and plan.result is not None
    assert plan.result.ids(range(len(plan.result))) == ["u1", "a1", "r1", "r2", "a2", "u3"]
    assert [(loose.entry, loose.field, loose.becomes) for loose in plan.references] == [
        ("u3", "parentId", "a2")
    ]
    change = writer_of(path).apply(plan, journal)
    assert in_tau(change.path) == promised(plan)


def test_a_marked_result_brings_its_call_and_the_other_results(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    plan = fork(path, only=named(path, "r1"))
    assert plan.result is not None
    assert plan.result.ids(range(len(plan.result))) == ["a1", "r1", "r2"]


@pytest.mark.parametrize("fixture", SMALL, ids=lambda path: path.stem)
def test_what_is_marked_opens_in_tau(fixture: Path, copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(fixture)
    session = load(path)
    for place in range(0, len(session), 3):
        plan = fork(path, only=(place, session.leaf))
        if plan.refusals:
            continue
        change = writer_of(path).apply(plan, journal)
        assert in_tau(change.path) == promised(plan)


def compaction(entry_id: str, parent: str, first_kept: str) -> dict:
    envelope = message(entry_id, parent)
    del envelope["message"]
    return envelope | {"type": "compaction", "summary": "so far", "firstKeptId": first_kept}


COMPACTED = log_of(
    [
        message("u1", None, "first"),
        message("a1", "u1", "one", "assistant"),
        message("u2", "a1", "second"),
        message("a2", "u2", "two", "assistant"),
        compaction("k", "a2", "u2"),
        message("u3", "k", "third"),
    ]
)


def test_a_compaction_resumes_at_the_next_that_is_kept(copy_of: CopyOf) -> None:
    path = copy_of(COMPACTED)
    plan = fork(path, only=named(path, "u1", "a2", "k", "u3"))
    assert not plan.refusals and plan.result is not None
    (anchor,) = plan.result.places_of_kind("compaction")
    assert plan.result.record(anchor)["firstKeptId"] == "a2"


def test_a_compaction_that_cannot_resume_is_named(copy_of: CopyOf) -> None:
    path = copy_of(COMPACTED)
    plan = fork(path, only=named(path, "k", "u3"))
    assert [refusal.entries for refusal in plan.refusals] == [("k",)]
    assert plan.refusals[0].remedy is None


def test_what_cannot_be_read_is_not_copied_and_said(copy_of: CopyOf, journal: Journal) -> None:
    log = log_of([message("u1", None, "first"), message("a1", "u1", "one", "assistant")])
    path = copy_of(log + b"{not json\n" + log_of([message("u2", "a1", "second")], None))
    plan = fork(path)
    assert any("not copied" in remark for remark in plan.remarks)
    change = writer_of(path).apply(plan, journal)
    assert in_tau(change.path) == promised(plan)
    assert in_tau(change.path)["path"] == ["u1", "a1", "u2"]


def test_an_entry_that_lost_its_parent_becomes_a_root_and_that_is_said(
    copy_of: CopyOf, journal: Journal
) -> None:
    path = copy_of(log_of([message("u1", None, "first"), message("o1", "gone", "lost")]))
    plan = fork(path)
    assert [(at.entry, at.target, at.becomes) for at in plan.references] == [("o1", "gone", None)]
    assert in_tau(writer_of(path).apply(plan, journal).path) == promised(plan)


def test_one_id_for_two_entries_is_refused(copy_of: CopyOf) -> None:
    path = copy_of(log_of([message("u1", None, "first"), message("u1", None, "other")]))
    assert "one id stands for different entries (lines 2, 3)" in fork(path).refusals[0].reason


@pytest.mark.parametrize("raw", [b'"\xff"', b'"\x01"', b'"\\udcb2"'], ids=repr)
def test_text_that_tau_could_not_read_is_spelled_so_that_it_can(
    raw: bytes, copy_of: CopyOf, journal: Journal
) -> None:
    log = log_of([message("u1", None, "MARK"), message("a1", "u1", "one", "assistant")])
    path = copy_of(log.replace(b'"MARK"', raw))
    plan = fork(path)
    assert in_tau(writer_of(path).apply(plan, journal).path) == promised(plan)


@pytest.mark.parametrize("name", ["legacy-sdk", "pi"])
def test_sessions_of_other_formats_are_to_be_imported(name: str, copy_of: CopyOf) -> None:
    header = {"id": "x", "type": "session", "timestamp": 1700000000000, "parent_id": None}
    if name == "pi":
        header = {"type": "session", "version": 3, "id": "x", "timestamp": "2026-03-01T10:00:00Z"}
    path = copy_of(log_of([message("u1", None, "first")], header))
    assert "import it" in fork(path).refusals[0].reason


def test_a_session_that_is_being_written_is_copied_only_by_force(copy_of: CopyOf) -> None:
    path = copy_of(DATA / "tau" / "02-forked-tree.jsonl")
    path.touch()
    assert [refusal.remedy for refusal in fork(path).refusals] == [Remedy.FORCE]
    assert not fork(path, force=True).refusals


def test_a_torn_last_line_is_left_out_by_force(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(DATA / "bugcases/01-truncated-last-line/sessions/--proj-demo--"
                   "/2026-03-01T10-00-00-000Z_s1.jsonl")  # fmt: skip
    assert [refusal.remedy for refusal in fork(path).refusals] == [Remedy.FORCE]
    plan = fork(path, force=True)
    assert in_tau(writer_of(path).apply(plan, journal).path) == promised(plan)


def test_a_plan_made_of_what_changed_since_is_refused(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(DATA / "tau" / "02-forked-tree.jsonl")
    plan = fork(path)
    stamp = path.stat().st_mtime_ns
    data = path.read_bytes()
    path.write_bytes(data.replace(b"a", b"b", 1))  # same size; and the time is put back
    os.utime(path, ns=(stamp, stamp))
    before = snapshot(path.parent)
    with pytest.raises(Refused, match="changed since it was read"):
        writer_of(path).apply(plan, journal)
    assert snapshot(path.parent) == before and journal.changes() == []


def test_the_journal_tells_what_was_done(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(DATA / "tau" / "02-forked-tree.jsonl")
    change = writer_of(path).apply(fork(path), journal)
    assert journal.changes() == [change]
    assert json.loads(journal.path.read_bytes())["verb"] == "fork"
    assert (journal.path.stat().st_mode & 0o777, journal.folder.stat().st_mode & 0o777) == (
        0o600,
        0o700,
    )
