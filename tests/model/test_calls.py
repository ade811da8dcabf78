"""Which result answers which call, where the ids of calls alone do not tell."""

from __future__ import annotations

from typing import Any

import pytest

from tau_browser.model.calls import call_of, is_result, result_id, results_of
from tau_browser.model.payload import Call, blocks_of
from tau_browser.model.session import Session
from tests.conftest import DATA, load, log_of, message, read

FIXTURES = sorted((DATA / "tau").glob("*.jsonl"))


def calling(entry_id: str, parent: str | None, *call_ids: str) -> dict[str, Any]:
    """An assistant entry that makes these calls."""
    record = message(entry_id, parent, role="assistant")
    record["message"]["content"] = [
        {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": call_id}}
        for call_id in call_ids
    ]
    return record


def answering(entry_id: str, parent: str | None, call_id: str) -> dict[str, Any]:
    """The result of a call."""
    record = message(entry_id, parent, f"from {entry_id}", role="toolResult")
    record["message"] |= {"tool_call_id": call_id, "tool_name": "bash"}
    return record


def session_of_records(*records: dict[str, Any]) -> Session:
    return read(log_of(records))


def results(session: Session, entry_id: str) -> dict[str, str]:
    """Call id to the id of its result."""
    found = results_of(session, session.find(entry_id)[0])
    return {call: session.entry_id(place) for call, place in found.items()}


def caller(session: Session, entry_id: str) -> str | None:
    """The id of the entry that made the call which this result answers."""
    found = call_of(session, session.find(entry_id)[0])
    return session.entry_id(found[0]) if found else None


@pytest.fixture(params=FIXTURES, ids=lambda path: path.stem)
def session(request: pytest.FixtureRequest) -> Session:
    return load(request.param)


def test_a_result_answers_a_call_above_it_of_its_id(session: Session) -> None:
    for place in range(len(session)):
        if is_result(session, place) and (found := call_of(session, place)):
            at, call = found
            assert at != place and session.tree.is_ancestor(at, place)
            assert call.id == result_id(session.record(place))
            assert call in blocks_of(session.record(at))


def test_what_is_found_below_a_call_finds_it_above(session: Session) -> None:
    for place in range(len(session)):
        for call_id, result in results_of(session, place).items():
            found = call_of(session, result)
            assert found is not None
            assert (found[0], found[1].id) == (place, call_id)


def test_every_finished_call_of_a_plain_session_is_answered() -> None:
    session = load(DATA / "tau" / "01-linear-tools.jsonl")
    calls = [
        block
        for place in range(len(session))
        for block in blocks_of(session.record(place))
        if isinstance(block, Call)
    ]
    answered = [call for at in range(len(session)) for call in results_of(session, at)]
    assert sorted(answered) == sorted(call.id for call in calls)


def test_a_copied_call_has_its_own_result() -> None:
    session = load(DATA / "tau" / "06-branch-copy-paste.jsonl")
    assert results(session, "d2d2c093") == {"call_000087": "0a431763"}
    assert results(session, "0e40c1e3") == {"call_000087": "7b47af10"}
    assert caller(session, "0a431763") == "d2d2c093"
    assert caller(session, "7b47af10") == "0e40c1e3"


def test_the_nearest_call_above_is_the_one() -> None:
    session = session_of_records(
        calling("a", None, "same"),
        answering("b", "a", "same"),
        calling("c", "b", "same"),
        answering("d", "c", "same"),
    )
    assert (caller(session, "b"), caller(session, "d")) == ("a", "c")
    assert results(session, "a") == {"same": "b"}
    assert results(session, "c") == {"same": "d"}


def test_a_late_result_still_finds_its_call() -> None:
    session = session_of_records(
        calling("a", None, "one"),
        message("b", "a", "next", "assistant"),
        answering("c", "b", "one"),
    )
    assert caller(session, "c") == "a"


def test_results_lie_behind_each_other_and_behind_other_entries() -> None:
    session = session_of_records(
        calling("a", None, "one", "two"),
        answering("b", "a", "one"),
        {"type": "customEntry", "id": "x", "parentId": "b", "customType": "note", "data": {}},
        answering("c", "x", "two"),
    )
    assert results(session, "a") == {"one": "b", "two": "c"}


def test_results_of_calls_at_once_stand_behind_all_of_the_calls() -> None:
    """As other programs write an answer with several calls: an entry for each."""
    session = session_of_records(
        calling("a", None, "1"),
        calling("b", "a", "2"),
        answering("r1", "b", "1"),
        answering("r2", "r1", "2"),
        calling("c", "r2", "3"),
        answering("r3", "c", "3"),
        answering("late", "r3", "1"),
    )
    assert results(session, "a") == {"1": "r1"}
    assert results(session, "b") == {"2": "r2"}
    assert (caller(session, "r1"), caller(session, "r2")) == ("a", "b")
    asked_again = session_of_records(
        calling("a", None, "1"), calling("b", "a", "1"), answering("r", "b", "1")
    )
    assert results(asked_again, "a") == {} and results(asked_again, "b") == {"1": "r"}


def test_of_two_branches_the_one_that_goes_on_answers() -> None:
    session = session_of_records(
        calling("a", None, "one"),
        answering("left", "a", "one"),
        answering("stays", "a", "one"),
        message("leaf", "stays"),
    )
    assert results(session, "a") == {"one": "stays"}
    assert caller(session, "left") == "a"


def test_calls_and_results_without_ids_are_not_paired() -> None:
    session = session_of_records(calling("a", None, ""), answering("b", "a", ""))
    assert results(session, "a") == {}
    assert caller(session, "b") is None


def test_an_orphaned_result_has_no_call() -> None:
    session = session_of_records(calling("a", None, "one"), answering("b", "a", "other"))
    assert caller(session, "b") is None
    assert results(session, "a") == {}


def test_ids_that_json_writers_spell_differently_are_found() -> None:
    odd = 'naïve "id"\n\\'
    session = session_of_records(calling("a", None, odd), answering("b", "a", odd))
    assert caller(session, "b") == "a"
    assert results(session, "a") == {odd: "b"}


def test_a_result_of_the_sdk_is_one_by_its_kind() -> None:
    session = session_of_records(
        calling("a", None, "one"),
        {
            "type": "toolResult",
            "id": "b",
            "parent_id": "a",
            "tool_call_id": "one",
            "tool_name": "bash",
            "content": "done",
        },
    )
    assert results(session, "a") == {"one": "b"}
    assert caller(session, "b") == "a"


def test_a_deep_chain_takes_no_stack() -> None:
    records = [calling("a", None, "one")]
    for depth in range(5_000):
        records.append(message(f"u{depth}", records[-1]["id"], "x"))
    records.append(answering("end", records[-1]["id"], "one"))
    session = session_of_records(*records)
    assert caller(session, "end") == "a"
    assert results(session, "a") == {"one": "end"}


def test_a_call_with_very_many_children_is_given_up_in_time() -> None:
    children = [message(f"u{number}", "a", "x") for number in range(10_500)]
    below = [answering(f"r{number}", child["id"], "one") for number, child in enumerate(children)]
    session = session_of_records(calling("a", None, "one"), *children, *below)
    assert results(session, "a") == {}
