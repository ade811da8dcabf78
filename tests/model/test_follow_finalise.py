"""A log that grows while it is read: unfinished entries, several writers, and late parents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.columns import Flag
from tau_browser.model.context import states
from tau_browser.model.decoder import Decoder
from tau_browser.model.session import Session, session_of
from tau_browser.model.state import State
from tau_browser.model.summary import summary_of
from tests.conftest import DATA, Bytes, log_of, message, read


def placeholder(name: str, parent: str | None) -> dict[str, Any]:
    return message(name, parent, role="assistant", status="incomplete")


def finished(name: str, parent: str | None, text: str = "done") -> dict[str, Any]:
    record = message(name, parent, text, role="assistant")
    record["message"] |= {"stop_reason": "stop", "usage": {"input_tokens": 7, "output_tokens": 1}}
    return record


ASK = message("ask", None, "question")


# One unfinished entry.


def test_placeholder_and_finished_line_are_one_entry_at_the_place_of_the_first() -> None:
    records = [
        ASK,
        placeholder("a", "ask"),
        message("note", "ask", "meanwhile"),
        finished("a", "ask"),
    ]
    session = read(log_of(records))
    assert session.ids(range(len(session))) == ["ask", "a", "note"]
    assert session.text(1) == "done"
    assert not session.has(1, Flag.INCOMPLETE | Flag.SAME_ID | Flag.NOTED)
    assert session.diagnostics == []


def test_entry_stands_on_the_bytes_of_its_finished_line() -> None:
    session = read(log_of([ASK, placeholder("a", "ask"), finished("a", "ask")]))
    assert json.loads(session.raw(1)) == finished("a", "ask")
    assert session.columns.line.tolist() == [2, 4]


def test_entry_that_was_never_finished_stays_incomplete_and_is_not_the_leaf() -> None:
    session = read(log_of([ASK, placeholder("a", "ask")]))
    assert session.has(1, Flag.INCOMPLETE)
    assert session.leaf == 0
    assert states(session, session.leaf).tolist() == [State.PATH, State.INCOMPLETE]


def test_leaf_moves_to_the_entry_when_it_is_finished() -> None:
    before, after = follow([log_of([ASK, placeholder("a", "ask")]), lines([finished("a", "ask")])])
    assert (before.entry_id(before.leaf), after.entry_id(after.leaf)) == ("ask", "a")
    assert summary_of(after).messages == 2


def test_place_of_an_entry_does_not_change_when_it_is_finished() -> None:
    first = log_of([ASK, placeholder("a", "ask"), message("b", "ask"), message("c", "b")])
    before, after = follow([first, lines([finished("a", "ask")])])
    assert before.ids(before.tree.order) == after.ids(after.tree.order)
    assert before.ids(range(4)) == after.ids(range(4))


def test_two_placeholders_are_one_entry() -> None:
    records = [ASK, placeholder("a", "ask"), placeholder("a", "ask")]
    unfinished = read(log_of(records))
    assert unfinished.ids(range(len(unfinished))) == ["ask", "a"]
    assert unfinished.has(1, Flag.INCOMPLETE)
    session = read(log_of([*records, finished("a", "ask")]))
    assert session.ids(range(len(session))) == ["ask", "a"]
    assert session.text(1) == "done" and session.diagnostics == []


def test_finished_twice_in_the_same_words_is_one_entry_and_a_note() -> None:
    session = read(log_of([ASK, placeholder("a", "ask"), *[finished("a", "ask")] * 2]))
    assert session.ids(range(len(session))) == ["ask", "a"]
    assert [(d.line, d.severity) for d in session.diagnostics] == [(5, "note")]
    assert "line 4" in session.diagnostics[0].reason


def test_finished_twice_in_other_words_keeps_both() -> None:
    records = [
        ASK,
        placeholder("a", "ask"),
        finished("a", "ask", "one"),
        finished("a", "ask", "two"),
    ]
    session = read(log_of(records))
    assert [session.text(at) for at in range(len(session))] == ["question", "one", "two"]
    assert session.has(1, Flag.SAME_ID) and session.has(2, Flag.SAME_ID)
    assert [(d.line, d.severity) for d in session.diagnostics] == [(5, "damage")]


@pytest.mark.parametrize(
    "other",
    [
        finished("a", None),  # elsewhere in the tree
        {**finished("a", "ask"), "type": "customMessage"},  # another kind
    ],
)
def test_what_finishes_something_else_does_not_take_its_place(other: dict[str, Any]) -> None:
    session = read(log_of([ASK, placeholder("a", "ask"), other]))
    assert session.ids(range(len(session))) == ["ask", "a", "a"]
    assert session.has(1, Flag.INCOMPLETE) and session.text(2) == "done"
    assert [d.severity for d in session.diagnostics] == ["damage"]


def test_placeholder_after_the_finished_line_does_not_undo_it() -> None:
    session = read(log_of([ASK, finished("a", "ask"), placeholder("a", "ask")]))
    assert session.ids(range(len(session))) == ["ask", "a", "a"]
    assert session.text(1) == "done"
    assert session.entry_id(session.leaf) == "a" and session.leaf == 1


def test_children_of_a_placeholder_stay_its_children() -> None:
    records = [ASK, placeholder("a", "ask"), message("child", "a"), finished("a", "ask")]
    session = read(log_of(records))
    assert session.ids(session.tree.path(2)) == ["ask", "a", "child"]


def test_tokens_are_counted_once() -> None:
    whole = log_of([ASK, placeholder("a", "ask"), finished("a", "ask")])
    for session in follow([whole.removesuffix(b"\n"), b"\n", lines([message("b", "a")])]):
        assert session.usage.tolist() == [[7, 1, 0, 0]]
        assert session.columns.usage[:2].tolist() == [-1, 0]


# Several writers.


def test_interleaved_writers_each_finish_their_own_entry() -> None:
    records = [
        ASK,
        *(placeholder("a1", "ask"), placeholder("b1", "ask")),
        *(finished("b1", "ask", "b one"), finished("a1", "ask", "a one")),
        *(placeholder("b2", "b1"), placeholder("a2", "a1")),
        *(finished("a2", "a1", "a two"), finished("b2", "b1", "b two")),
    ]
    session = read(log_of(records))
    assert session.ids(range(len(session))) == ["ask", "a1", "b1", "b2", "a2"]
    texts = {name: session.text(session.find(name)[0]) for name in ("a1", "b1", "a2", "b2")}
    assert texts == {"a1": "a one", "b1": "b one", "a2": "a two", "b2": "b two"}
    assert session.ids(session.tree.path(session.find("a2")[0])) == ["ask", "a1", "a2"]
    assert session.ids(session.tree.path(session.find("b2")[0])) == ["ask", "b1", "b2"]
    assert session.diagnostics == []
    assert session.entry_id(session.leaf) == "a2"  # the newest by its first line, as in τ


@st.composite
def interleaved(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Records of up to three writers below one question: each writes a chain, entry by entry."""
    chains = []
    for writer in "abc":
        parent, chain = "ask", []
        for number in range(draw(st.integers(0, 3))):
            name = f"{writer}{number}"
            chain += [placeholder(name, parent)] * draw(st.integers(0, 2))
            chain += [finished(name, parent, f"text of {name}")]
            parent = name
        if chain and draw(st.booleans()):
            chain += [placeholder(f"{writer}-cut", parent)]
        chains.append(chain)
    records = [ASK]
    while chains := [chain for chain in chains if chain]:
        records.append(draw(st.sampled_from(chains)).pop(0))
    return records


@given(interleaved())
def test_each_entry_has_its_own_last_words_in_the_order_of_first_words(
    records: list[dict[str, Any]],
) -> None:
    session = read(log_of(records))
    names = list(dict.fromkeys(record["id"] for record in records))
    last = {record["id"]: record for record in records}
    assert session.ids(range(len(session))) == names
    assert [session.record(at) for at in range(len(session))] == [last[name] for name in names]
    incomplete = [name for name in names if "status" in last[name]]
    found = [session.entry_id(at) for at in range(len(session)) if session.has(at, Flag.INCOMPLETE)]
    assert found == incomplete
    assert session.diagnostics == []
    assert len(session.usage) == len(names) - len(incomplete) - 1


@given(interleaved(), st.lists(st.integers(0, 5000), max_size=6))
def test_following_shows_at_each_step_what_reading_it_whole_would(
    records: list[dict[str, Any]], cuts: list[int]
) -> None:
    data = log_of(records)
    places = sorted({cut % len(data) for cut in cuts} | {0})
    steps = [data[start:end] for start, end in zip(places, [*places[1:], len(data)], strict=True)]
    assert_follows(steps)


# A log that grows.


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((DATA / "tau").glob("*.jsonl")) if path.stat().st_size < 40_000],
    ids=lambda path: path.stem,
)
def test_a_real_session_can_be_followed_line_by_line(path: Path) -> None:
    assert_follows(path.read_bytes().splitlines(keepends=True))


def test_damaged_sessions_can_be_followed_in_pieces_of_any_size() -> None:
    for path in sorted((DATA / "tau" / "corrupt").iterdir()):
        data = path.read_bytes()
        for size in (700, 5_000):
            assert_follows([data[at : at + size] for at in range(0, len(data), size)])
        # byte by byte through the marks at the start
        assert_follows([*(data[at : at + 1] for at in range(8)), data[8:]])


def test_a_parent_that_comes_late_takes_its_child_and_the_finding_goes() -> None:
    child, parent = message("child", "parent"), message("parent", None)
    before, after = follow([log_of([child]), lines([parent])])
    assert before.has(0, Flag.ORPHAN) and len(before.diagnostics) == 1
    assert not after.has(0, Flag.ORPHAN | Flag.NOTED)
    assert after.diagnostics == [] and after.tree.roots == [1]
    assert before.has(0, Flag.ORPHAN)  # what was shown before stays as it was


def test_a_ring_that_closes_late_is_cut_when_it_closes() -> None:
    before, after = follow([log_of([message("a", "b")]), lines([message("b", "a")])])
    assert before.has(0, Flag.ORPHAN) and not before.has(0, Flag.CYCLE)
    assert after.has(0, Flag.CYCLE) and not after.has(0, Flag.ORPHAN)


def test_what_was_read_before_stays_as_it_was() -> None:
    path = DATA / "tau" / "02-forked-tree.jsonl"
    steps = path.read_bytes().splitlines(keepends=True)
    sessions = follow(steps)
    for number, session in enumerate(sessions, 1):
        assert facts_of(session) == facts_of(read(b"".join(steps[:number])))


def test_feeding_nothing_changes_nothing() -> None:
    data = log_of([ASK, placeholder("a", "ask")])
    assert_follows([b"", data, b"", b""])


def test_torn_line_is_pending_until_its_end_comes() -> None:
    data = log_of([ASK, message("a", "ask", "naïve 日本語")])
    start = len(log_of([ASK]))
    for cut in range(start + 1, len(data) - 1):
        pending, whole = follow([data[:cut], data[cut:]])
        assert [(d.line, d.byte, d.severity) for d in pending.diagnostics] == [
            (3, start, "pending")
        ]
        assert (len(pending), len(whole)) == (1, 2)
        assert whole.diagnostics == []


def test_last_line_that_is_whole_counts_before_its_end_comes() -> None:
    data = log_of([ASK, message("a", "ask")])
    before, after = follow([data[:-1], data[-1:]])
    assert facts_of(before)["entries"] == facts_of(after)["entries"]


# Helpers.


def lines(records: list[dict[str, Any]]) -> bytes:
    return log_of(records, header=None)


def follow(steps: list[bytes]) -> list[Session]:
    """The session after each step, from one decoder that is fed step by step."""
    decoder, data, sessions = Decoder(), b"", []
    for step in steps:
        decoder.feed(step)
        data += step
        sessions.append(session_of(decoder.log(), Bytes(data)))
    return sessions


def assert_follows(steps: list[bytes]) -> None:
    data = b""
    for step, session in zip(steps, follow(steps), strict=True):
        data += step
        assert facts_of(session) == facts_of(read(data))


def facts_of(session: Session) -> dict[str, Any]:
    columns = session.columns
    return {
        "header": repr(session.header),
        "entries": [
            (session.entry_id(at), session.kind(at), session.role(at), *columns.row(at))
            for at in range(len(session))
        ],
        "lines": columns.line.tolist(),
        "flags": columns.flags.tolist(),
        "usage": [session.usage[at].tolist() if at >= 0 else None for at in columns.usage],
        "parents": session.tree.parent.tolist(),
        "order": session.tree.order.tolist(),
        "leaf": session.leaf,
        "diagnostics": session.diagnostics,
        "size": session.size,
    }
