"""Harmed and odd logs: all that can be read is in the tree, once, and the rest is spoken of."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tau_browser.model.columns import Flag
from tau_browser.model.context import context_messages, fold_at, legacy_cursor, states
from tau_browser.model.decoder import Decoder
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.rows import Rows
from tau_browser.model.session import Session, session_of
from tau_browser.model.state import State
from tau_browser.model.summary import stamp_text, summary_of
from tau_browser.model.tree import NOWHERE
from tests.conftest import DATA, HEADER, Bytes, load, log_of, message, read

CORRUPT = DATA / "tau" / "corrupt"
BUGCASES = DATA / "bugcases"
IN_TAU = json.loads((DATA / "tau" / "EVALUATION.json").read_bytes())

# The session that most corrupt files were made from has 19 entries and this leaf.
LEAF = "bb72f5c4"

# By file: entries, leaf, and (line, byte, severity, what the reason says) of each finding.
EXPECTED: dict[str, tuple[int, str | None, list[tuple[int | None, int | None, str, str]]]] = {
    "c01-truncated-last-line": (19, "be15d268", [(27, 9360, "pending", "473 bytes")]),
    "c02-no-trailing-newline": (19, LEAF, []),
    "c03-blank-lines": (19, LEAF, []),
    "c04-invalid-json-mid-file": (19, LEAF, [(7, 1331, "unreadable", "not JSON")]),
    "c05-duplicate-id": (20, "8cbe5f57", [(28, 9953, "damage", "same id as line 6")]),
    "c06-dangling-parent": (21, "dang0002", [(28, 9953, "damage", "parent is not in the")]),
    "c07-cycle": (5, "cyc00002", [(5, 690, "damage", "ring is cut")]),
    "c08-self-parent": (4, "self0001", [(5, 690, "damage", "ring is cut")]),
    "c09-unknown-entry-type": (21, "unk00002", []),
    "c10-missing-header": (19, LEAF, [(1, 0, "damage", "no session header")]),
    "c11-empty": (0, None, [(None, None, "note", "empty")]),
    "c12-header-only": (0, None, []),
    "c13-bom": (19, LEAF, [(1, 0, "note", "byte order mark")]),
    "c14-crlf": (19, LEAF, []),
    "c15-nul-bytes": (19, LEAF, [(8, 1530, "damage", "512 NUL bytes")]),
    "c16-nul-tail": (19, LEAF, [(28, 9953, "damage", "4,096 NUL bytes")]),
    "c18-invalid-utf8": (
        7,
        "bad8",
        [(8, 1530, "damage", "not UTF-8"), (8, 1530, "damage", "parent is not in the session")],
    ),
    "c19-raw-utf8-not-escaped": (20, "raw00001", []),
    "c20-not-an-object": (
        19,
        LEAF,
        [
            (6, 1089, "unreadable", "an array"),
            (7, 1097, "unreadable", "a number"),
            (8, 1100, "unreadable", "null"),
            (9, 1105, "unreadable", "a string"),
        ],
    ),
    "c21-entry-without-id": (20, LEAF, [(28, 9953, "damage", "no id")]),
    "c22-entry-without-type": (20, "not00001", [(28, 9953, "damage", "no type")]),
    "c23-mixed-timestamps": (22, "mix00002", []),
    "c24-finalize-without-incomplete-and-late": (19, LEAF, []),
    "c25-header-missing-id": (19, LEAF, [(1, 0, "damage", "header has no id")]),
    "c26-header-version-99": (19, LEAF, [(1, 0, "note", "newer version")]),
    "c27-header-twice": (
        20,
        "7768d191c3d24c6a9f03a36a0a5697c9",
        [(28, 9953, "damage", "second session header")],
    ),
    "c28-two-sessions-concatenated": (
        42,
        "29990503",
        [(28, 9953, "damage", "second session header")],
    ),
    "c29-message-not-a-dict": (20, "mnd00001", [(28, 9953, "damage", "message is a string")]),
    "c30-content-null": (20, "cn000001", []),
    "c31-compaction-dangling-firstkept": (21, "cdf00002", []),
    "c32-descendant-of-incomplete": (21, "inc00002", []),
    "c33-gz": (0, None, [(None, None, "unreadable", "gzip")]),
    "c34-entry-before-its-parent": (3, "par00001", []),
    "c35-partial-staging-file": (0, None, [(2, 158, "pending", "125 bytes")]),
    "c36-unterminated-then-append": (20, "app00001", [(27, 9360, "unreadable", "not JSON")]),
}


def corrupt(name: str) -> Path:
    (path,) = CORRUPT.glob(f"{name}*")
    return path


def test_every_corrupt_file_has_its_expectation() -> None:
    assert sorted(path.name.split(".")[0] for path in CORRUPT.iterdir()) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_corrupt_file_gives_its_entries_leaf_and_findings(name: str) -> None:
    session = load(corrupt(name))
    entries, leaf, findings = EXPECTED[name]
    assert len(session) == entries
    assert leaf_of(session) == leaf
    found = [(d.line, d.byte, d.severity) for d in session.diagnostics]
    assert found == [finding[:3] for finding in findings]
    for diagnostic, (*_, words) in zip(session.diagnostics, findings, strict=True):
        assert words in diagnostic.reason


@pytest.mark.parametrize("name", EXPECTED)
def test_corrupt_file_has_each_readable_record_in_the_tree_once(name: str) -> None:
    if name != "c33-gz":
        assert_all_readable_records_are_entries(corrupt(name).read_bytes())


# What τ loads without trouble, and reads as we do.
SOUND_IN_TAU = [
    name
    for name in EXPECTED
    if IN_TAU[f"corrupt/{corrupt(name).name}"]["load"] == "ok"
    and name not in ("c05-duplicate-id", "c21-entry-without-id", "c25-header-missing-id")
]


@pytest.mark.parametrize("name", SOUND_IN_TAU)
def test_odd_but_loadable_file_reads_as_in_tau(name: str) -> None:
    session, in_tau = load(corrupt(name)), IN_TAU[f"corrupt/{corrupt(name).name}"]
    assert session.id == in_tau["id"]
    assert len(session) == in_tau["entries"]
    assert leaf_of(session) == in_tau["leaf"]
    if row := re.fullmatch(r"row: (\d+) msgs, title '(.*)'", in_tau["list"]):
        summary = summary_of(session)
        assert (summary.messages, summary.title) == (int(row[1]), row[2])
    if isinstance(in_tau["context"], int) and name != "c29-message-not-a-dict":
        assert len(context_messages(session, session.leaf)) == in_tau["context"]


# Where the reading differs from τ's on purpose (tau-format 1.9).


def test_torn_last_line_is_pending_where_tau_loses_the_session() -> None:
    session = load(corrupt("c01-truncated-last-line"))
    assert summary_of(session).pending
    assert session.has(session.find(LEAF)[0], Flag.INCOMPLETE)  # its placeholder


def test_bad_line_costs_one_line_where_tau_loses_the_session() -> None:
    harmed, whole = load(corrupt("c04-invalid-json-mid-file")), load(DATA / "tau" / MADE_FROM)
    assert harmed.ids(harmed.tree.order) == whole.ids(whole.tree.order)
    assert summary_of(harmed).unreadable == 1


def test_record_appended_to_a_torn_line_is_found_where_tau_loses_the_session() -> None:
    session = load(corrupt("c36-unterminated-then-append"))
    (place,) = session.find("app00001")
    assert session.entry_id(session.tree.parent[place]) == LEAF
    assert session.has(place, Flag.NOTED)
    assert session.record(place)["id"] == "app00001"


def test_reused_id_keeps_both_where_tau_lets_the_later_swallow_the_earlier() -> None:
    session = load(corrupt("c05-duplicate-id"))
    first, second = session.find("8cbe5f57")
    assert session.text(first) == "Read auth.py and tell me what is wrong."
    assert session.text(second) == "impostor with a reused id"
    assert session.has(first, Flag.SAME_ID) and session.has(second, Flag.SAME_ID)
    # the links go on as they were written: no ring, nothing detached
    assert session.tree.roots == [0]
    assert session.tree.size[0] == 20


def test_ring_is_cut_and_shown_where_tau_draws_none_of_it() -> None:
    session = load(corrupt("c07-cycle"))
    first, second = session.find("cyc00001")[0], session.find("cyc00002")[0]
    assert session.tree.children(first) == [second]
    assert first in session.tree.roots
    assert session.has(first, Flag.CYCLE) and not session.has(second, Flag.CYCLE)
    assert states(session, session.leaf)[[first, second]].tolist() == [State.DETACHED] * 2


def test_missing_header_leaves_the_entries_where_tau_refuses_the_file() -> None:
    session = load(corrupt("c10-missing-header"))
    assert session.header == {} and session.id == ""
    assert summary_of(session).title == "fix the login check"


def test_header_without_id_leaves_the_entries_where_tau_fails() -> None:
    session = load(corrupt("c25-header-missing-id"))
    assert session.id == ""
    assert summary_of(session).cwd == "/x"


def test_lines_that_are_no_objects_are_listed_where_tau_loses_the_whole_directory() -> None:
    summary = summary_of(load(corrupt("c20-not-an-object")))
    assert (summary.unreadable, summary.damage, summary.entries) == (4, 0, 19)


def test_message_that_is_a_string_is_its_text_where_tau_loses_the_whole_directory() -> None:
    session = load(corrupt("c29-message-not-a-dict"))
    place = session.leaf
    said = session.record(place)["message"]
    assert session.text(place) == label_of(session, place, session.record(place)) == said


def test_entry_without_id_is_in_the_tree_where_every_view_of_tau_fails() -> None:
    session = load(corrupt("c21-entry-without-id"))
    place = session.find("line-28")[0]
    assert session.entry_id(place) == "line-28"
    assert session.text(place) == "no id"
    assert session.entry_id(session.tree.parent[place]) == LEAF
    assert session.leaf != place  # τ could not name it either


def test_siblings_with_times_of_several_types_have_an_order_where_tau_fails() -> None:
    session = load(corrupt("c23-mixed-timestamps"))
    siblings = session.ids(session.tree.children(session.find(LEAF)[0]))
    assert siblings == ["mix00001", "mix00000", "mix00002"]  # none, a number, ISO: as text


def test_null_content_is_an_empty_entry_where_export_fails_in_tau() -> None:
    session = load(corrupt("c30-content-null"))
    assert session.text(session.leaf) == ""


def test_unreachable_resume_point_is_told_where_tau_drops_the_history_in_silence() -> None:
    session = load(corrupt("c31-compaction-dangling-firstkept"))
    (anchor,) = session.places_of_kind("compaction")
    label = label_of(session, anchor, session.record(anchor))
    assert "(not on this path)" in label
    fold = fold_at(session, session.leaf)
    assert (fold.anchor, fold.resumes) == (anchor, NOWHERE)
    assert [session.kind(int(at)) for at in fold.context][1:] == ["compaction", "message"]


def test_what_grows_from_an_incomplete_entry_is_shown_where_tau_refuses_the_context() -> None:
    session = load(corrupt("c32-descendant-of-incomplete"))
    (interrupted,) = session.find("inc00001")
    assert states(session, session.leaf)[interrupted] == State.INCOMPLETE
    assert session.tree.children(interrupted) == [session.leaf]


def test_second_header_is_an_entry_and_a_root_as_in_tau() -> None:
    session = load(corrupt("c27-header-twice"))
    assert session.kind(session.leaf) == "session"
    assert session.tree.roots == [0, session.leaf]


def test_byte_order_mark_and_nul_bytes_cost_nothing_where_tau_loses_the_session() -> None:
    whole = load(DATA / "tau" / MADE_FROM)
    for name in ("c13-bom", "c15-nul-bytes", "c16-nul-tail"):
        session = load(corrupt(name))
        assert session.ids(session.tree.order) == whole.ids(whole.tree.order)


def test_bytes_that_are_not_utf8_are_shown_as_marks_where_tau_loses_the_session() -> None:
    session = load(corrupt("c18-invalid-utf8"))
    record = session.record(session.leaf)
    assert label_of(session, session.leaf, record) == "caf� ��"


MADE_FROM = "01-linear-tools.jsonl"


# Bug cases: what broke other browsers.


def bugcase_files() -> Iterator[Any]:
    for case in sorted(BUGCASES.glob("*/expect.json")):
        for name, expect in json.loads(case.read_bytes()).get("files", {}).items():
            path = case.parent / name
            if path.exists():  # the large ones are made below
                yield pytest.param(path, expect, id=f"{case.parent.name}-{path.stem}")


@pytest.mark.parametrize(("path", "expect"), list(bugcase_files()))
def test_bugcase_gives_the_numbers_it_states(path: Path, expect: dict[str, Any]) -> None:
    session = load(path)
    expect = dict(expect)
    expect.pop("after_play", None)
    facts = facts_of(session)
    if expect.pop("listed", False):
        assert session.header or session.diagnostics
    assert len(session) >= expect.pop("min_nodes", 0)
    assert {name: facts[name] for name in expect} == expect


@pytest.mark.parametrize(("path", "expect"), list(bugcase_files()))
def test_bugcase_has_each_readable_record_in_the_tree_once(path: Path, expect: Any) -> None:
    if "utf16" not in path.name:
        assert_all_readable_records_are_entries(path.read_bytes())


def search_cases() -> Iterator[Any]:
    for case in sorted(BUGCASES.glob("*/expect.json")):
        paths = sorted((case.parent / "sessions").glob("*/*.jsonl"))
        for search in json.loads(case.read_bytes()).get("search", ()):
            if paths and search.get("hits") and "mode" not in search:
                yield pytest.param(paths, search, id=f"{case.parent.name}-{search['q']}")


@pytest.mark.parametrize(("paths", "search"), list(search_cases()))
def test_bugcase_texts_hold_what_is_to_be_found(paths: list[Path], search: Any) -> None:
    def folded(text: str) -> str:
        return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())

    query = folded(search["q"])
    holders = {
        session.entry_id(place)
        for session in map(load, paths)
        for place in range(len(session))
        if query in folded(session.text(place))
    }
    assert holders if search["hits"] == ["*"] else sorted(holders) == sorted(search["hits"])


def bugcase(prefix: str, name: str = "*.jsonl") -> Path:
    (path,) = BUGCASES.glob(f"{prefix}-*/sessions/*/{name}")
    return path


@pytest.mark.parametrize("prefix", ["01", "02"])
def test_torn_last_line_becomes_an_entry_once_when_the_rest_is_written(prefix: str) -> None:
    path = bugcase(prefix)
    case = path.parents[2]
    expect = json.loads((case / "expect.json").read_bytes())["files"]
    after = expect[str(path.relative_to(case))]["after_play"]
    first, rest = path.read_bytes(), (case / "rest.bin").read_bytes()
    decoder = Decoder()
    decoder.feed(first)
    assert summary_of(session_of(decoder.log(), Bytes(first))).pending
    decoder.feed(rest)
    session = session_of(decoder.log(), Bytes(first + rest))
    assert {name: facts_of(session)[name] for name in after} == after
    assert session.diagnostics == []
    assert entries_of(session) == entries_of(read(first + rest))


def test_text_whose_character_was_torn_is_whole_when_the_rest_is_written() -> None:
    path = bugcase("02")
    session = read(path.read_bytes() + (path.parents[2] / "rest.bin").read_bytes())
    assert session.text(session.leaf) == "naïve 日本語 done"


def test_grown_file_has_the_new_entry_and_a_replaced_one_only_its_own() -> None:
    path = bugcase("44")
    case = path.parents[2]
    orig, extra = path.read_bytes(), (case / "extra").read_bytes()
    decoder = Decoder()
    decoder.feed(orig)
    before = session_of(decoder.log(), Bytes(orig))
    decoder.feed(extra)
    grown = session_of(decoder.log(), Bytes(orig + extra))
    assert (len(before), len(grown)) == (4, 5)
    assert entries_of(grown) == entries_of(read(orig + extra))
    assert len(load(case / "short")) == 2
    assert set(entries_of(load(case / "other"))).isdisjoint(entries_of(before))


def test_entry_whose_bytes_are_gone_is_an_empty_record() -> None:
    data = bugcase("44").read_bytes()
    decoder = Decoder()
    decoder.feed(data)
    session = session_of(decoder.log(), Bytes(data))
    assert isinstance(session.source, Bytes)
    session.source.data = data[:400]  # truncated while it is open
    assert session.record(3) == {}
    assert session.text(3) == session.entry_id(3) == session.stamp(3) == ""


def test_unreadable_line_is_named_by_its_number() -> None:
    session = load(bugcase("03"))
    assert [d.line for d in session.diagnostics if d.severity == "unreadable"] == [4]
    assert session.find("m3") == []
    assert session.ids(session.tree.path(session.leaf))[0] == "m4"


def test_glued_records_keep_their_own_bytes() -> None:
    session = load(bugcase("05"))
    assert [session.record(at)["id"] for at in range(5)] == ["m1", "m2", "m3", "m4", "m5"]
    assert session.columns.line.tolist() == [2, 3, 4, 4, 5]
    assert [d.severity for d in session.diagnostics] == ["note"]


def test_invalid_bytes_and_lone_surrogates_are_shown_as_marks() -> None:
    invalid, lone = load(bugcase("07")), load(bugcase("08"))
    assert label_of(invalid, 2, invalid.record(2)) == "before ��� after"
    assert label_of(lone, 1, lone.record(1)) == "area 5 m� ok 😀 tail"


def test_no_carriage_return_is_left_of_windows_line_ends() -> None:
    session = load(bugcase("10"))
    assert all(session.raw(at).endswith(b"}") for at in range(len(session)))
    assert not any("\r" in session.text(at) for at in range(len(session)))


def test_utf16_file_is_refused_with_a_reason() -> None:
    session = load(bugcase("11", "*utf16.jsonl"))
    (finding,) = session.diagnostics
    assert len(session) == 0
    assert "UTF-16" in finding.reason and finding.severity == "unreadable"
    assert str(finding).startswith("whole file: ")


def test_odd_records_are_entries_and_other_lines_are_listed() -> None:
    session = load(bugcase("13"))
    unreadable = [d.line for d in session.diagnostics if d.severity == "unreadable"]
    assert unreadable == [3, 4, 5, 6]
    assert session.ids(range(len(session))) == [
        *("m1", "line-7", "line-8", "line-9", "line-10", "7", "line-12", "k2", "m2")
    ]
    assert session.find("7") == [5] and session.find("line-12") == [6]
    damaged = {d.line for d in session.diagnostics if d.severity == "damage"}
    assert damaged == {7, 8, 9, 10, 11, 12}


def test_time_does_not_order_a_chain() -> None:
    session = load(bugcase("16"))
    stamps = [session.stamp(int(at)) for at in session.tree.order]
    assert stamps != sorted(stamps)
    assert session.tree.path(session.leaf).tolist() == session.tree.order.tolist()


def test_identical_repeat_is_shown_once_and_a_different_one_twice() -> None:
    session = load(bugcase("17"))
    assert session.ids(range(len(session))) == ["m1", "m2", "d", "d", "m5"]
    repeat, clash = session.diagnostics
    assert (repeat.line, repeat.severity) == (4, "note") and "line 3" in repeat.reason
    assert (clash.line, clash.severity) == (6, "damage") and "line 5" in clash.reason
    # a child belongs to the newest entry of that id which was there when it was written
    assert int(session.tree.parent[4]) == 3
    assert [session.has(at, Flag.SAME_ID) for at in range(5)] == [False, False, True, True, False]


def test_rings_are_cut_at_their_first_entry() -> None:
    session = load(bugcase("19"))
    cut = [session.entry_id(at) for at in range(7) if session.has(at, Flag.CYCLE)]
    assert cut == ["s", "p", "x"]
    assert session.ids(session.tree.path(session.leaf)) == ["x", "y", "z"]


def test_alternatives_stand_at_their_fork_before_the_branch_that_goes_on() -> None:
    session = load(bugcase("23"))
    order = session.ids(session.tree.order)
    assert order[:2] == ["A", "B"] and order[-3:] == ["E1", "E2", "E3"]
    branches = {session.entry_id(int(at)) for at in session.outline.branch.nonzero()[0]}
    assert branches == {"C1", "D1"}
    sizes = {name: int(session.tree.size[session.find(name)[0]]) for name in branches}
    assert sizes == {"C1": 2, "D1": 1}


@pytest.mark.parametrize(
    ("name", "cursor"),
    [
        ("*nav.jsonl", ("n1", "m2")),
        ("*navnull.jsonl", ("n1", None)),
        ("*navbad.jsonl", ("n1", "gone")),
        ("*bsum.jsonl", None),
    ],
)
def test_the_place_where_tau_0_9_would_reopen_is_known(name: str, cursor: Any) -> None:
    assert legacy_cursor(load(bugcase("24", name))) == cursor


def test_chained_compactions_leave_every_entry_and_the_last_one_decides() -> None:
    session = load(bugcase("25", "*two.jsonl"))
    context = session.ids(fold_at(session, session.leaf).context)
    assert context == ["k2", "n1", "n2", "p1", "p2"]
    folded = states(session, session.leaf) == State.FOLDED
    assert session.ids(folded.nonzero()[0]) == ["m1", "m2", "m3", "m4", "k1"]


def test_compaction_that_keeps_from_another_branch_says_so() -> None:
    session = load(bugcase("25", "*badkept.jsonl"))
    labels = [label_of(session, at, session.record(at)) for at in session.find("k1")]
    assert labels == [
        "folds 2 entries, resumes at m3 (not on this path) — kept id is on the sibling branch"
    ]
    assert session.ids(fold_at(session, session.leaf).context) == ["k2", "x2"]


def test_unknown_kinds_and_blocks_are_rows_with_their_text() -> None:
    session = load(bugcase("29"))
    assert speaker_of(session.record(1)) == "hologram_v9"
    assert "note: from the future" in session.text(1)
    assert "caption: cinnamon" in session.text(2)
    assert all(label_of(session, at, session.record(at)) for at in range(len(session)))


def test_old_header_formats_are_read() -> None:
    old = load(bugcase("35", "old.jsonl"))
    assert old.tree.roots == [0] and old.diagnostics == []
    assert stamp_text(old.record(0)["timestamp"]) == "2026-06-18T09:10:42.190Z"
    late = load(bugcase("35", "*hdr-later.jsonl"))
    assert late.id == "late"
    assert [(d.line, d.severity) for d in late.diagnostics] == [(2, "note")]


def test_chain_without_ids_is_linked_in_file_order() -> None:
    (path,) = BUGCASES.glob("35-*/pi/sessions/*/*pi1.jsonl")
    session = load(path)
    assert session.tree.parent.tolist() == [-1, 0, 1]
    assert session.ids(range(3)) == ["line-2", "line-3", "line-4"]
    assert session.diagnostics == []


def test_escapes_never_get_into_a_row() -> None:
    for path in sorted(BUGCASES.glob("39-*/sessions/*/*.jsonl")):
        session = load(path)
        for place in range(len(session)):
            record = session.record(place)
            row = label_of(session, place, record) + speaker_of(record)
            assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", row)


def test_markup_is_left_as_it_is() -> None:
    session = load(bugcase("40"))
    labels = [label_of(session, at, session.record(at)) for at in range(len(session))]
    assert any("[/bold]" in label for label in labels)
    assert any("list[int]" in label for label in labels)


# Large ones, made here.


def test_chain_of_fifty_thousand_is_read_walked_and_flat() -> None:
    n = 50_000
    records = [message("n0", None, "step 0")]
    records += [
        message(f"n{i}", f"n{i - 1}", f"step {i}", ("user", "assistant")[i % 2])
        for i in range(1, n)
    ]
    session = read(log_of(records))
    assert len(session) == n
    assert leaf_of(session) == "n49999"
    assert int(session.tree.depth[session.leaf]) == n
    assert session.tree.path(session.leaf).tolist() == list(range(n))
    assert session.text(session.leaf) == "step 49999"
    assert int(session.outline.depth.max()) == 1
    assert len(fold_at(session, session.leaf).context) == n


def test_fork_of_twenty_thousand_is_one_fold_of_rows() -> None:
    n = 20_000
    records = [message("root", None, "ask")]
    records += [message(f"n{i}", "root", f"try {i}", "assistant") for i in range(n)]
    session = read(log_of(records))
    assert session.tree.forks == [0]
    assert len(session.tree.children(0)) == len(session.tree.tips) == n
    assert int(session.outline.depth.max()) == 1
    rows = Rows(session.outline)
    assert len(rows) == n + 1
    rows.toggle(0)
    assert len(rows) == 1 and rows.hidden(0) == n


def test_deep_nest_of_forks_is_walked_without_recursion() -> None:
    n = 3_000
    records = [message("m0", None)]
    for i in range(1, n):  # each m forks: a dead end, and the next m
        records += [message(f"x{i}", f"m{i - 1}"), message(f"m{i}", f"m{i - 1}")]
    session = read(log_of(records))
    assert session.entry_id(int(session.tree.order[-1])) == f"m{n - 1}"
    assert int(session.tree.depth.max()) == n
    rows = Rows(session.outline)
    rows.fold_all()
    assert rows.entry(rows.reveal(session.leaf)) == session.leaf


def test_argument_of_four_megabytes_is_an_entry_with_all_its_text() -> None:
    script = "x = 1; " * 600_000 + "needle-at-end"
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": script}}
    assistant = message("m2", "m1", role="assistant")
    assistant["message"]["content"] = [call]
    session = read(log_of([message("m1", None, "go"), assistant, message("m3", "m2", "done")]))
    assert len(session) == 3
    assert session.text(1).endswith("needle-at-end")
    assert label_of(session, 1, session.record(1)).startswith("→ bash x = 1;")


def test_image_line_shows_its_size_and_none_of_its_data() -> None:
    image = {"type": "image", "data": "QUFB" * 2_000_000, "mime_type": "image/png"}
    result = message("m2", "m1", "screenshot taken", role="toolResult")
    result["message"]["content"].append(image)
    session = read(log_of([message("m1", None, "look"), result, message("m3", "m2", "thanks")]))
    assert len(session) == 3
    assert session.text(1) == "screenshot taken\n[image image/png ≈6.0 MB]"
    assert "QUFB" not in label_of(session, 1, session.record(1))


def test_line_of_five_megabytes_reads_as_in_tau() -> None:
    in_tau = IN_TAU["corrupt/c17-huge-20mb-line.jsonl"]
    huge = message("huge0001", LEAF, "y" * 5_000_000)
    session = read((DATA / "tau" / MADE_FROM).read_bytes() + json.dumps(huge).encode() + b"\n")
    assert len(session) == in_tau["entries"]
    assert leaf_of(session) == in_tau["leaf"]
    assert len(session.text(session.leaf)) == 5_000_000


def test_each_of_many_scraps_on_a_line_is_found_at_its_own_byte() -> None:
    before = log_of([message("m1", None)])
    data = before + '"é" '.encode() + b"[]" * 20_000 + b"\n"
    session = read(data)
    assert len(session) == 1
    assert len(session.diagnostics) == 20_001
    assert session.diagnostics[-1].byte == len(data) - len(b"[]\n")


# Kinds of damage that no stored file has.


def test_whole_record_before_a_torn_last_one_on_its_line_is_shown() -> None:
    whole = json.dumps(message("m2", "m1", "whole")).encode()
    session = read(log_of([message("m1", None)]) + whole + whole[:50])
    assert session.ids(range(len(session))) == ["m1", "m2"]
    assert session.text(1) == "whole"
    (finding,) = [d for d in session.diagnostics if d.severity == "pending"]
    assert finding.line == 3
    assert finding.byte == session.columns.stop[1] and "50 bytes" in finding.reason


def test_record_appended_to_a_torn_line_counts_before_its_own_line_ends() -> None:
    torn = json.dumps(message("m2", "m1", "torn")).encode()[:60]
    whole = json.dumps(message("m3", "m1", "whole")).encode()
    session = read(log_of([message("m1", None)]) + torn + whole)
    assert session.ids(range(len(session))) == ["m1", "m3"]
    assert [d.severity for d in session.diagnostics] == ["unreadable"]


def test_tool_call_inside_a_torn_record_is_not_taken_for_an_entry() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    record = message("m2", "m1", role="assistant")
    record["message"]["content"] = [call]
    line = json.dumps(record).encode()
    torn = line[: line.index(b"]") - 0]  # just behind the call
    whole = json.dumps(message("m3", "m1")).encode()
    before = log_of([message("m1", None)])
    for data in (before + torn, before + torn + b"\n", before + torn + whole + b"\n"):
        session = read(data)
        assert set(session.ids(range(len(session)))) <= {"m1", "m3"}
        assert len(session.diagnostics) == 1


def test_glued_records_beside_a_blank_line_keep_their_own_bytes() -> None:
    # two values and two line ends: the counts agree, the lines do not
    records = [message(name, None, f"text of {name}") for name in ("a", "b", "c")]
    one, two, three = (json.dumps(record).encode() for record in records)
    session = read(log_of([]), one + two + b"\n\n" + three + b"\n")
    assert [session.text(at) for at in range(3)] == ["text of a", "text of b", "text of c"]
    assert session.columns.line.tolist() == [2, 2, 4]


def test_record_spread_over_lines_is_reported_and_costs_no_other() -> None:
    spread = b'{"type":\n"x", "id": "p", "parentId": null}'
    records = [json.dumps(message(name, None)).encode() for name in ("a", "b")]
    session = read(log_of([]), spread + records[0] + b"\n" + records[1] + b"\n\n")
    assert {"a", "b"} <= set(session.ids(range(len(session))))
    assert [session.record(at)["id"] for at in range(len(session))] == session.ids(
        range(len(session))
    )
    assert summary_of(session).unreadable


def test_header_after_blank_lines_is_still_the_first_record() -> None:
    assert read(b"\n\n\n\n" + log_of([message("m1", None)])).diagnostics == []


def test_header_after_a_short_record_is_not_the_first() -> None:
    session = read(b"{}\n" + log_of([]))
    assert session.id == "s1"
    assert any("not the first record" in d.reason for d in session.diagnostics)


@pytest.mark.parametrize("depth", [300, 600, 900, 2_000, 100_000])
def test_nesting_of_any_depth_is_an_entry_and_shown(depth: int) -> None:
    nest = "[" * depth + "]" * depth
    texts = [
        f'"message": {{"role": "user", "content": [{{"type": "text", "text": {nest}}}]}}',
        f'"message": {{"role": "user", "content": {nest}}}',
        f'"message": {{"role": "user", "content": [{{"type": "toolCall", "arguments": {nest}}}]}}',
        f'"customType": "config", "data": {{"tools": [{nest}], "model": {nest}}}',
        f'"payload": {nest}',
    ]
    lines = [
        f'{{"type": "customEntry", "id": "e{i}", "parentId": null, {text}}}\n'
        for i, text in enumerate(texts)
    ]
    session = read(log_of([]) + "".join(lines).encode())
    assert session.ids(range(len(session))) == [f"e{i}" for i in range(len(texts))]
    for place in range(len(session)):
        record = session.record(place)
        assert isinstance(session.text(place), str)
        assert isinstance(label_of(session, place, record) + speaker_of(record), str)
    harmed = [at for at in range(len(session)) if session.has(at, Flag.NOTED)]
    if depth != 2_000:  # how deep Python can read differs from version to version
        assert harmed == (list(range(len(texts))) if depth > 2_000 else [])
    assert {d.severity for d in session.diagnostics} <= {"damage"}


def test_same_id_on_two_deep_records_is_compared_without_recursion() -> None:
    deep = "[" * 900 + "]" * 900
    lines = [
        f'{{"type": "x", "id": "e", "parentId": null, "n": {n}}}\n' for n in (deep, deep + " ")
    ]
    assert len(read(log_of([]) + "".join(lines).encode())) in (1, 2)


def test_numbers_too_large_for_a_machine_word_are_kept() -> None:
    record = json.dumps(message("m1", None, role="assistant"))
    usage = '"usage": {"input_tokens": 18446744073709551615, "output_tokens": 7}, "role"'
    line = record.replace('"role"', usage, 1)
    digits = "9" * 5_000
    other = f'{{"type": "x", "id": "m2", "parentId": "m1", "n": {digits}}}'
    session = read(log_of([]) + f"{line}\n{other}\n".encode())
    assert session.ids(range(2)) == ["m1", "m2"]
    assert session.usage.tolist() == [[0, 7, 0, 0]]
    assert session.text(1) == f"n: {digits}"


def test_failed_tool_of_an_sdk_file_is_an_error() -> None:
    result = {
        "type": "toolResult",
        "id": "t",
        "tool_name": "bash",
        "content": "no",
        "is_error": True,
    }
    for link in ({"parent_id": "s1"}, {"parentId": "s1"}):
        session = read(log_of([]), log_of([{**result, **link}], header=None))
        assert session.has(0, Flag.ERROR)
        assert session.tree.roots == [0] and session.diagnostics == []


def test_an_id_that_looks_like_a_line_number_is_found() -> None:
    session = read(log_of([message("line-9", None)]))
    assert session.find("line-9") == [0]


def test_more_kinds_than_codes_leave_the_known_ones_known() -> None:
    records: list[dict[str, Any]] = []
    for i in range(300):
        records.append({**message(f"k{i}", None), "type": f"kind-{i}"})
    records += [message("u", None, "hello"), {**message("n", "u"), "type": "navigate"}]
    session = read(log_of(records))
    assert [session.kind(at) for at in (0, 299, 300, 301)] == [
        *("kind-0", "kind-299", "message", "navigate")
    ]
    assert leaf_of(session) == "u"
    assert session.is_user.nonzero()[0].tolist() == [300]


def test_findings_have_line_byte_and_reason() -> None:
    for path in [*CORRUPT.iterdir(), *BUGCASES.glob("*/sessions/*/*.jsonl")]:
        data = path.read_bytes()
        for finding in read(data).diagnostics:
            assert finding.reason
            assert (finding.line is None) == (finding.byte is None)
            if finding.line is not None and finding.byte is not None:
                start = finding.byte
                assert 0 <= start <= len(data)
                assert data.count(b"\n", 0, start) == finding.line - 1


# Helpers.


def leaf_of(session: Session) -> str | None:
    return session.entry_id(session.leaf) if session.leaf != NOWHERE else None


def entries_of(session: Session) -> list[tuple[Any, ...]]:
    """What a session holds, in a form that can be compared."""
    return [
        (session.entry_id(at), int(session.tree.parent[at]), *session.columns.row(at))
        for at in range(len(session))
    ]


def facts_of(session: Session) -> dict[str, Any]:
    """The numbers that the bug cases state, under their names."""
    summary, tree = summary_of(session), session.tree
    detached = Flag.ORPHAN | Flag.CYCLE
    return {
        "nodes": len(session),
        "leaf": leaf_of(session),
        "forks": session.ids(tree.forks),
        "max_depth": int(tree.depth.max(initial=0)),
        "title": summary.title,
        "project": summary.cwd,
        "bad_lines": summary.unreadable,
        "incomplete_tail": int(summary.pending),
        "active_path": session.ids(tree.path(session.leaf)),
        "compactions": len(session.places_of_kind("compaction")),
        "detached": session.ids(at for at in range(len(session)) if session.has(at, detached)),
        "order": session.ids(tree.order),
    }


def assert_all_readable_records_are_entries(data: bytes) -> None:
    session = read(data)
    order = session.tree.order.tolist()
    assert sorted(order) == list(range(len(session)))
    assert sorted(session.outline.entry.tolist()) == list(range(len(session)))
    in_tree = sorted(spelled(session.record(place)) for place in order)
    assert in_tree == sorted(map(spelled, readable_records(data)))


def readable_records(data: bytes) -> list[dict[str, Any]]:
    """What a naive reader finds: JSON objects, on lines of their own or one behind the other.

    The first header is none of them; an unfinished entry gives way to what finishes it, and a
    record that says the same again counts once.
    """
    records: list[dict[str, Any]] = []
    latest: dict[str | None, int] = {}  # by id
    headers = 0
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        for record in objects_on(line.decode("utf-8", "surrogateescape")):
            if record.get("type") == "session" and not headers:
                headers += 1
                continue
            name = spelled(record["id"]) if "id" in record else None
            earlier = records[latest[name]] if name in latest else None
            if earlier is not None and finishes(record, earlier):
                records[latest[name]] = record
            elif earlier is None or spelled(earlier) != spelled(record):
                records.append(record)
                if name is not None:
                    latest[name] = len(records) - 1
    return records


def finishes(record: dict[str, Any], earlier: dict[str, Any]) -> bool:
    same_place = all(record.get(key) == earlier.get(key) for key in ("type", "parentId"))
    return earlier.get("status") == "incomplete" and same_place


def objects_on(line: str) -> Iterator[dict[str, Any]]:
    rest, torn = line.strip("\x00 \t\r\n"), False
    while rest:
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(rest)
        except ValueError:
            torn, end = True, rest.find('{"type"', 1)
            if end < 0:
                return
        else:
            # behind a tear there may be objects from inside the torn record
            if isinstance(value, dict) and (not torn or "parentId" in value):
                yield value
        rest = rest[end:].lstrip("\x00 \t\r\n")


def spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def test_the_naive_reader_reads_what_it_should() -> None:
    one, two = message("a", None, "x"), message("b", "a", "y")
    unfinished = {**two, "status": "incomplete", "message": {"role": "assistant"}}
    torn = json.dumps(two)[:40].encode()
    data = log_of([one, unfinished, two, two]) + torn + json.dumps(one).encode() + b"\n[1]\n"
    assert readable_records(data) == [one, two]
    assert readable_records(log_of([HEADER])) == [HEADER]
