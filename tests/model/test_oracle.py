"""What the reader makes of real sessions, field by field, against what τ itself made of them."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tau_browser.model.columns import Flag
from tau_browser.model.context import (
    ANCHORS,
    config_at,
    context_messages,
    fold_at,
    legacy_cursor,
    subagent_heads,
)
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.payload import Call, Record, blocks_of
from tau_browser.model.session import Session
from tau_browser.model.summary import session_name, summary_of, user_text
from tau_browser.model.text import safe_line
from tau_browser.model.times import parse_time
from tests.conftest import DATA, load

FIXTURES = sorted((DATA / "tau").glob("*.jsonl"))


class Case(NamedTuple):
    session: Session
    expected: dict[str, Any]


@cache
def expected_of(path: Path) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads(
        (path.parent / "expected" / f"{path.stem}.json").read_bytes()
    )
    return expected


@cache
def read_case(path: Path) -> Case:
    return Case(load(path), expected_of(path))


@pytest.fixture(params=FIXTURES, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> Case:
    return read_case(request.param)


def test_every_fixture_is_here() -> None:
    assert len(FIXTURES) == 26


def test_header_and_number_of_entries(case: Case) -> None:
    session, expected = case
    assert session.header == expected["header"]
    assert session.id == expected["header"]["id"]
    assert len(session) == expected["entries_after_fold"]


def test_nothing_is_wrong_with_what_tau_wrote(case: Case) -> None:
    assert [str(finding) for finding in case.session.diagnostics] == []


def test_default_leaf_and_the_path_to_it(case: Case) -> None:
    session, expected = case
    assert session.entry_id(session.leaf) == expected["default_leaf"]
    assert session.ids(session.tree.path(session.leaf)) == expected["path"]


def test_context_entries(case: Case) -> None:
    session, expected = case
    assert session.ids(fold_at(session, session.leaf).context) == expected["context_entry_ids"]


def test_context_messages(case: Case) -> None:
    session, expected = case
    messages = context_messages(session, session.leaf)
    if expected["context"] is None:  # too large to be stored
        shown = ("message", "customMessage", "compaction", "branch_summary")
        context = fold_at(session, session.leaf).context
        assert len(messages) == sum(session.kind(at) in shown for at in context) > 1000
    else:  # as text: NaN is not equal to itself
        assert json.dumps(messages) == json.dumps(expected["context"])


def test_configuration_in_force(case: Case) -> None:
    assert config_at(case.session, case.session.leaf) == case.expected["config"]


def test_name_and_title(case: Case) -> None:
    session, expected = case
    assert session_name(session) == (expected["name"] or "")
    assert summary_of(session).title == expected["display_title"]


def test_shape_of_the_tree(case: Case) -> None:
    session, expected = case
    tree = session.tree
    assert session.ids(tree.roots) == expected["roots"]
    assert sorted(session.ids(tree.tips)) == sorted(expected["tips"])
    forks = {session.entry_id(fork): session.ids(tree.children(fork)) for fork in tree.forks}
    assert forks == expected["forks"]


def test_preorder_holds_the_same_entries_each_below_its_parent(case: Case) -> None:
    session, expected = case
    order = session.tree.order.tolist()
    assert sorted(session.ids(order)) == sorted(expected["preorder"])
    seen = set()
    for place in order:
        parent = int(session.tree.parent[place])
        assert parent == -1 or parent in seen
        seen.add(place)


def test_incomplete_entries(case: Case) -> None:
    session, expected = case
    found = [session.entry_id(at) for at in range(len(session)) if session.has(at, Flag.INCOMPLETE)]
    assert found == expected["incomplete"]


def test_row_of_the_session_list(case: Case) -> None:
    session, expected = case
    summary, listing = summary_of(session), expected["listing"]
    assert summary.parent == expected["header"].get("parent")
    if listing is None:
        pytest.fail("τ lists every fixture")
    assert summary.messages == listing["message_count"]
    assert summary.parent == listing["parent"]
    assert parse_time(summary.modified) == parse_time(listing["modified"])


def test_every_entry_is_found_by_its_id(case: Case) -> None:
    session = case.session
    for place in range(0, len(session), 1 + len(session) // 20):
        entry_id = session.entry_id(place)
        assert session.find(entry_id) == [place]
        assert place in session.find_prefix(entry_id[:3])
    assert session.find("no such entry") == session.find("") == []


# What τ did not state, but its manifest of the fixtures does.


def test_branches_that_narrow_tools_or_carry_the_old_mark_are_subagents() -> None:
    heads = {path.stem[:2]: subagent_heads(read_case(path).session) for path in FIXTURES}
    found = {number: len(places) for number, places in heads.items() if places}
    assert found == {"09": 2, "10": 2, "33": 1}


def test_a_log_of_0_9_that_ends_with_a_move_has_two_places_to_reopen() -> None:
    cursors = {path.stem[:2]: legacy_cursor(read_case(path).session) for path in FIXTURES}
    assert {number for number, cursor in cursors.items() if cursor} == {"31"}
    session = load(DATA / "tau" / "31-legacy-0.9.0-ends-with-navigate.jsonl")
    cursor = legacy_cursor(session)
    assert cursor and cursor[1]
    (target,) = session.find(cursor[1])
    assert (session.text(target), session.text(session.leaf)) == ("r1", "r2")


# Row previews: other words, the same meaning. τ's were too many to be stored for two fixtures.

PREVIEWED = [path for path in FIXTURES if expected_of(path)["previews"] is not None]


@pytest.fixture(params=PREVIEWED, ids=lambda path: path.stem)
def previews(request: pytest.FixtureRequest) -> list[tuple[str, str, Record]]:
    """τ's preview, our label and the record, of each entry."""
    session, expected = read_case(request.param)
    entries = [(place, session.record(place)) for place in range(len(session))]
    return [
        (expected["previews"][session.entry_id(place)], label_of(session, place, record), record)
        for place, record in entries
    ]


LONGEST_ROW = 1000  # characters of a label
Previews = list[tuple[str, str, Record]]


def test_previews_are_stored_for_all_but_the_two_large_fixtures() -> None:
    assert len(PREVIEWED) == 24


def test_messages_read_as_in_tau(previews: Previews) -> None:
    for preview, label, record in previews:
        if "message" in record and "[" not in preview and "image" not in label:
            if record["type"] == "customMessage":  # there the speaker has a column of its own
                speaker = f"{speaker_of(record)}: "
                preview = preview.replace(" (hidden): ", ": ").removeprefix(speaker)
            whole = preview if len(label) < LONGEST_ROW else preview[:LONGEST_ROW]
            assert normalised(label) == normalised(whole)


def test_tool_calls_are_named_in_taus_order(previews: Previews) -> None:
    for preview, label, record in previews:
        names = [block.name for block in blocks_of(record) if isinstance(block, Call)]
        assert re.findall(r"→ (\S+)", label) == names
        in_tau = re.findall(r"\[tool_call: (\w+)\(", preview)
        assert in_tau == names or ("\n" in user_text(record) and in_tau == [])


def test_anchors_tell_the_same_count_and_resume_point(previews: Previews) -> None:
    for preview, label, record in previews:
        if record["type"] in ANCHORS:
            assert normalised(label) == normalised(preview)
            assert re.match(r"(folds|hides) [1-9]\d* entr(y|ies), resumes at \w+", label)


def test_configurations_tell_the_same_facts(previews: Previews) -> None:
    for preview, label, record in previews:
        if record.get("customType") == "config":
            facts = preview.removeprefix("config: ").replace("no tools", "0 tools").split("; ")
            said = label.split("; ")
            assert len(said) == len(facts)
            for here, in_tau in zip(said, facts, strict=True):
                # names that τ leaves out are told here: "+2 more", "2 extensions"
                shortened = re.sub(r" \+\d+ more$", ",", in_tau).replace(
                    "1 extensions", "1 extension"
                )
                assert here.startswith(shortened)


def test_a_legacy_agent_spec_tells_its_model_and_tools(previews: Previews) -> None:
    for preview, label, record in previews:
        if record.get("customType") == "agent_spec":
            facts = preview.removeprefix("agent_spec: ").split(" · ")
            assert label.split("; ")[: len(facts)] == [f"model {facts[0]}", *facts[1:]]


def test_what_tau_previews_is_never_empty_here(previews: Previews) -> None:
    for preview, label, _ in previews:
        assert label or preview.strip() in ("", "[interrupted]")


def test_names_are_shown_where_tau_shows_only_the_kind(previews: Previews) -> None:
    for preview, label, record in previews:
        if record["type"] == "session_info":
            assert (preview, label) == ("", safe_line(record["name"].strip()))


def normalised(text: str) -> str:
    """What both are compared by: blank space, and the end of a line, do not count."""
    return " ".join(safe_line(text).rstrip("␍").split())
