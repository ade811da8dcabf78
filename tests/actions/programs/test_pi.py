"""Copies of pi's sessions, as pi reads them: its own rules, told naively, are the judge."""

from __future__ import annotations

import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.log_writers import PiWriter
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.reading import Reading
from tau_browser.actions.rename import plan_rename
from tau_browser.actions.undo import last_undoable, take_back
from tau_browser.actions.writers import writers
from tests.actions.conftest import LONG_AGO, snapshot
from tests.actions.programs.reopening import (
    Record,
    pi_context,
    pi_entries,
    pi_name,
    pi_path,
    records_in,
)
from tests.conftest import DATA
from tests.stores.logs.writing import pi, pi_header, pi_message, write_lines

CASE = DATA / "bugcases" / "35-mixed-versions" / "pi" / "sessions" / "--proj-demo--"


class Place:
    """A session of pi's in a store, and a journal beside it."""

    def __init__(self, folder: Path, lines: list[Record] | bytes) -> None:
        self.path = folder / "sessions" / "--proj-demo--" / "2026-03-01T10-00-00-000Z_p1.jsonl"
        if isinstance(lines, bytes):
            self.path.parent.mkdir(parents=True)
            self.path.write_bytes(lines)
        else:
            write_lines(self.path, lines)
        os.utime(self.path, ns=(LONG_AGO, LONG_AGO))
        self.journal = Journal(folder / "state")
        self.writer = PiWriter.beside(str(self.path))

    def reading(self) -> Reading:
        return self.writer.read(str(self.path), self.journal)

    def at(self, name: str) -> int:
        return self.reading().session.find(name)[0]

    def fork(self, **request: Any) -> Plan:
        return plan_fork(self.reading(), ForkRequest(**request), self.writer)

    def prune(self, *names: str, **request: Any) -> Plan:
        roots = tuple(map(self.at, names))
        return plan_prune(self.reading(), PruneRequest(roots, **request), self.writer)

    def made(self, plan: Plan) -> Change:
        return self.writer.apply(plan, self.journal)


def call(entry_id: str, parent: str, *calls: str) -> Record:
    record = pi_message(entry_id, parent, "let me look", "assistant")
    record["message"]["content"] += [
        {"type": "toolCall", "id": name, "name": "read", "arguments": {}} for name in calls
    ]
    return record


def result(entry_id: str, parent: str, call_id: str) -> Record:
    return pi_message(entry_id, parent, "seen", "toolResult", toolCallId=call_id, toolName="read")


TALK = [
    pi_header(version=3),
    pi("model_change", "m", None, provider="prov", modelId="big"),
    pi_message("u1", "m", "first"),
    call("a1", "u1", "c1", "c2"),
    result("r1", "a1", "c1"),
    result("r2", "r1", "c2"),
    pi_message("a2", "r2", "done", "assistant"),
    pi_message("u2", "a2", "second"),
    pi("label", "l", "u2", targetId="u1", label="keep"),
    pi("branch_summary", "s", "a2", fromId="u2", summary="tried"),
    pi_message("u3", "s", "third"),
    pi("compaction", "k", "u3", summary="so far", firstKeptEntryId="u3", tokensBefore=9),
    pi_message("a3", "k", "yes", "assistant"),
]


def test_the_copy_is_all_of_it_under_an_id_of_its_own(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    before = snapshot(place.path.parent)
    made = Path(place.made(place.fork()).path)
    assert before.items() <= snapshot(place.path.parent).items()
    assert made.parent == place.path.parent and made.stat().st_mode & 0o777 == 0o600
    assert made.read_bytes().split(b"\n")[1:] == place.path.read_bytes().split(b"\n")[1:]
    header = records_in(made)[0]
    assert header["parentSession"] == str(place.path) and header["id"] != "p1"
    assert made.name.endswith(f"_{header['id']}.jsonl")
    assert header | {"id": 0, "timestamp": 0, "parentSession": 0} == TALK[0] | {
        "id": 0,
        "timestamp": 0,
        "parentSession": 0,
    }


def test_it_goes_on_at_the_entry_that_was_forked_at(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    plan = place.fork(at=place.at("u2"), cwd="/else/where", name="a try")
    made = Path(place.made(plan).path)
    header, entries = pi_entries(made)
    assert (header["cwd"], made.parent.name) == ("/else/where", "--else-where--")
    path = [entry["id"] for entry in pi_path(entries)]
    assert path[:-1] == ["m", "u1", "a1", "r1", "r2", "a2", "u2"]
    assert pi_name(entries) == "a try"


def test_labels_go_along_with_what_they_are_on(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    plan = place.fork(at=place.at("a2"))
    _, entries = pi_entries(place.made(plan).path)
    assert [entry["targetId"] for entry in entries if entry["type"] == "label"] == ["u1"]
    assert entries[-1]["id"] == "a2"  # where pi goes on
    assert [(at.entry, at.field, at.becomes) for at in plan.references] == [("l", "parentId", "a2")]


def test_what_refers_to_what_goes_is_told_and_set_anew(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    plan = place.fork(only=(place.at("a2"), place.at("s"), place.at("a3")))
    loose = {(at.entry, at.field): at.becomes for at in plan.references}
    assert loose["s", "fromId"] is None
    made = {entry["id"]: entry for entry in pi_entries(place.made(plan).path)[1]}
    assert made["s"]["fromId"] == "root"  # as pi writes it


def test_a_compaction_that_would_keep_what_goes_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    plan = place.fork(only=(place.at("k"),))
    assert plan.refusals and plan.refusals[0].entries == ("k",)


def test_pruned_to_a_copy_only(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    plan = place.prune("s")
    _, entries = pi_entries(place.made(plan).path)
    assert [entry["id"] for entry in entries][-1] == "l"
    assert any("pi reopens at l" in remark for remark in plan.remarks)
    for how in (How.IN_PLACE, How.FOLD):
        with pytest.raises(Refused, match="a session of pi is pruned in a copy only"):
            place.prune("s", how=how)


def test_calls_are_not_parted_from_results(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    plan = place.fork(at=place.at("r1"))
    assert plan.refusals[0].entries == ("r2",)
    plan = place.fork(at=place.at("r1"), pairs=True)
    assert plan.leaf is not None and plan.leaf.id == "r2"
    assert place.prune("r2").refusals and not place.prune("a1").refusals


def test_a_new_name_is_written_as_pi_writes_it_and_taken_back(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    before = snapshot(place.path.parent)
    place.made(plan_rename(place.reading(), "another", place.writer))
    _, entries = pi_entries(place.path)
    assert pi_name(entries) == "another" and pi_path(entries)[-2]["id"] == "a3"
    take_back(last_undoable(place.journal, writers()), place.journal, writers())
    assert snapshot(place.path.parent) == before


def test_the_first_format_is_copied_from_its_beginning(tmp_path: Path) -> None:
    place = Place(tmp_path, next(CASE.glob("*pi1.jsonl")).read_bytes())
    session = place.reading().session
    for at in range(len(session)):
        plan = place.fork(at=at)
        header, entries = pi_entries(place.made(plan).path)
        assert "version" not in header and header["branchedFrom"] == str(place.path)
        assert len(entries) == at + 1
    whole = pi_context(pi_path(entries))
    assert whole == pi_context(pi_path(pi_entries(place.path)[1]))
    plan = place.fork(only=(1,))
    assert "brought up to date" in plan.refusals[0].reason


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (pi_header(version=4), "newer pi"),
        ({"type": "session", "version": 3}, "no header with an id"),
    ],
)
def test_what_pi_would_not_read_so_is_refused(header: Record, reason: str, tmp_path: Path) -> None:
    place = Place(tmp_path, [header, *TALK[1:]])
    assert reason in place.fork().refusals[0].reason
    assert reason in place.prune("s").refusals[0].reason


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in TALK)
    place = Place(tmp_path, lines.replace(b'"tokensBefore": 9', b'"tokensBefore": NaN'))
    assert "could not read what lines 12 hold" in place.fork().refusals[0].reason


# Any tree, any plan


@st.composite
def talks(draw: st.DrawFn) -> list[Record]:
    """Sessions of some entries of all kinds, under parents that came before them."""
    entries: list[Record] = []
    above: dict[str, str | None] = {}

    def path(leaf: str | None) -> list[str]:
        found = []
        while leaf is not None:
            found.append(leaf)
            leaf = above[leaf]
        return found

    for at in range(draw(st.integers(2, 14))):
        ids = [entry["id"] for entry in entries]
        parent = draw(st.sampled_from(ids[-3:])) if ids else None
        name = f"e{at}"
        kind = draw(
            st.sampled_from(["user", "assistant", "call", "label", "compaction", "branch", "name"])
        )
        match kind:
            case "call":
                entries += [call(name, parent or "", f"c{at}"), result(f"r{at}", name, f"c{at}")]
                entries[-2]["parentId"] = parent
                above[f"r{at}"] = name
            case "label" if ids:
                target = draw(st.sampled_from(ids))
                entries.append(pi("label", name, parent, targetId=target, label="here"))
            case "compaction" if parent:
                kept = draw(st.sampled_from(path(parent)))
                more = {"summary": f"until {at}", "firstKeptEntryId": kept, "tokensBefore": 1}
                entries.append(pi("compaction", name, parent, **more))
            case "branch" if ids:
                left = draw(st.sampled_from(ids))
                entries.append(pi("branch_summary", name, parent, fromId=left, summary=f"l {at}"))
            case "name":
                entries.append(pi("session_info", name, parent, name=f"name {at}"))
            case _:
                role = "assistant" if kind == "assistant" else "user"
                entries.append(pi_message(name, parent, f"text {at}", role))
        above[name] = parent
    return [pi_header(), *entries]


@settings(max_examples=150)
@given(talks(), st.randoms(use_true_random=False))
def test_any_tree_any_plan(lines: list[Record], choice: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), lines)
        before = snapshot(place.path.parent)
        _, source = pi_entries(place.path)
        at = choice.randrange(len(source))
        name = source[at]["id"]
        how = choice.choice(["whole", "at", "only", "prune"])
        pairs = choice.random() < 0.5
        plan = {
            "whole": lambda: place.fork(),
            "at": lambda: place.fork(at=at, pairs=pairs),
            "only": lambda: place.fork(only=(at,)),
            "prune": lambda: place.prune(name, pairs=pairs),
        }[how]()
        if plan.refusals:
            assert all(refusal.reason for refusal in plan.refusals)
            return
        change = place.made(plan)
        header, entries = pi_entries(change.path)
        assert plan.result is not None and plan.leaf is not None
        assert (header["id"], entries[-1]["id"]) == (plan.result.id, plan.leaf.id)

        kept, known = {entry["id"] for entry in entries}, {entry["id"]: entry for entry in source}
        changed = {(loose.entry, loose.field) for loose in plan.references}
        for entry in entries:
            stored = known[entry["id"]]
            differs = {name for name in entry if entry[name] != stored[name]}
            assert {(entry["id"], name) for name in differs} <= changed
            for field in ("parentId", "firstKeptEntryId", "targetId"):
                assert entry.get(field) is None or entry[field] in kept
            assert entry.get("fromId") in kept | {None, "root"}
        made = pi_context(pi_path(entries))
        if how == "at":
            assert made == pi_context(pi_path(source, plan.leaf.id))
            assert plan.leaf.id == name or pairs
        elif how == "whole" or all(entry["id"] in kept for entry in pi_path(source)):
            assert made == pi_context(pi_path(source))
        take_back(last_undoable(place.journal, writers()), place.journal, writers())
        assert snapshot(place.path.parent) == before
