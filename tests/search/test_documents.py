"""What of an entry is searched, and by which facts it is filtered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.columns import Flag
from tau_browser.model.payload import text_of
from tau_browser.model.times import NO_TIME
from tau_browser.search.documents import (
    LONGEST_PIECE,
    Part,
    content_of,
    document_of,
    is_error,
    pieces,
)
from tests.conftest import DATA, load, message

SESSIONS = sorted([*(DATA / "tau").glob("*.jsonl"), *(DATA / "bugcases").rglob("*.jsonl")])


def texts(record: dict[str, Any]) -> list[tuple[Part, str]]:
    return document_of(record, is_error=False).texts


def said(role: str, *content: Any, **fields: Any) -> dict[str, Any]:
    return message("m", None) | {"message": {"role": role, "content": [*content], **fields}}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": "c", "name": name, "arguments": arguments}


def test_texts_are_apart_by_who_said_them() -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    record = said(
        "assistant", thinking, {"type": "text", "text": "now"}, call("bash", command="ls")
    )
    assert texts(record) == [
        (Part.THINKING, "hm"),
        (Part.ASSISTANT, "now"),
        (Part.TOOL, "bash"),
        (Part.ARGUMENTS, "command: ls"),
    ]
    assert texts(said("user", {"type": "text", "text": "hi"})) == [(Part.USER, "hi")]
    output = said("toolResult", {"type": "text", "text": "a.py"}, details={"exception": "E: x"})
    assert texts(output) == [(Part.OUTPUT, "a.py"), (Part.OUTPUT, "E: x")]
    assert texts(said("system", {"type": "text", "text": "be"})) == [(Part.NOTE, "be")]
    assert texts({"type": "session_info", "name": "My work"}) == [(Part.TITLE, "My work")]
    assert texts({"type": "compaction", "summary": "so far"}) == [(Part.NOTE, "so far")]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name)
def test_nothing_that_is_shown_is_left_out(path: Path) -> None:
    session = load(path)
    for place in range(len(session)):
        record = session.record(place)
        shown = text_of(record)
        found = [text for _, text in texts(record)]
        assert all(text in shown for text in found)
        assert sum(map(len, found)) + max(0, len(found) - 1) >= len(shown.strip("\n"))
        assert is_error(record) == session.has(place, Flag.ERROR)


def test_facts() -> None:
    picture = {"type": "image", "mime_type": "image/png", "data": "QUFB"}
    facts = document_of(
        said("assistant", call("Bash"), call("jmfts_search", query="x"), picture), is_error=True
    ).facts
    assert facts.role == "assistant" and facts.kind == "message"
    assert facts.tools == ("Bash", "jmfts_search")
    assert set(facts.traits) == {"error", "recall", "image"}
    assert facts.time == 1772359201000
    result = document_of(said("toolResult", tool_name="jmfts_search"), is_error=False).facts
    assert result.role == "toolresult" and result.tools == ("jmfts_search",)
    assert result.traits == ()  # what came back is no recall
    assert document_of({"type": "x"}, is_error=False).facts.time == NO_TIME


def test_facts_of_an_event() -> None:
    event = {
        "kind": "Checkpoint",
        "stage": "act",
        "tags": ["Retry"],
        "metrics": {"latency_ms": 30},
        "severity": 4,
        "signal": 0.5,
        "text": "said",
        "outputs": [{"name": "rows", "value": 15}],
    }
    document = document_of(
        said("custom", {"type": "text", "text": "said"}) | {"event": event}, is_error=False
    )
    facts = document.facts
    assert facts.facets == ("event:checkpoint", "stage:act", "tag:retry", "metric:latency_ms")
    assert (facts.severity, facts.signal) == (4, 50)
    assert any("outputs[0].name: rows" in text for _, text in document.texts)
    failed = said("toolResult")
    assert document_of(failed, is_error=False).facts.severity == 3
    failed["message"]["is_error"] = True
    assert document_of(failed, is_error=True).facts.severity == 5


def test_text_that_names_a_recall_is_none() -> None:
    record = said("assistant", {"type": "text", "text": "toolCall jmfts_search"})
    assert document_of(record, is_error=False).facts.traits == ()


def test_recalls_by_way_of_other_tools() -> None:
    """Of τ's own: a tool that searches by itself, and a tool that calls a tool."""
    session = load(DATA / "tau" / "21-recall-nested.jsonl")
    recalls = []
    for place in range(len(session)):
        record = session.record(place)
        if "recall" in document_of(record, is_error=False).facts.traits:
            recalls.append(record["message"].get("tool_name", "a call"))
    assert recalls == ["research", "a call"]
    for odd in ({"nested_calls": 3}, {"nested_calls": [3, {}]}, "x"):
        assert document_of(said("toolResult", details=odd), is_error=False).facts.traits == ()


def test_copies_are_one_content_and_nothing_else_is() -> None:
    one = message("a", None, "same words")
    assert content_of(one) == content_of({**one, "parentId": "other"})
    assert content_of(one) == content_of(dict(reversed(one.items())))
    pasted = {**message("b", "x", "same words"), "copiedFrom": "a"}
    assert content_of(one) == content_of(pasted)
    others = [
        message("b", None, "same words"),
        message("a", None, "same word"),
        {**one, "timestamp": "2026-03-01T10:00:02.000Z"},
        message("a", None, "same words", "assistant"),
    ]
    assert len({content_of(each) for each in [one, *others]}) == 5


def test_what_json_writers_refuse_is_a_content_too() -> None:
    odd = [message("a", None, "\ud800"), message("a", None, "\ud801")]
    assert content_of(odd[0]) != content_of(odd[1])
    assert 0 <= content_of({"type": "x", "id": "a", "value": float("nan")}) < 2**63


@given(st.text(st.sampled_from("ab \n"), max_size=3).map(lambda unit: unit * 1500))
def test_pieces_are_the_whole_text(text: str) -> None:
    found = pieces(text)
    assert "".join(text[start:stop] for start, stop in found) == text
    assert all(0 < stop - start <= LONGEST_PIECE for start, stop in found)


def test_pieces_end_at_paragraphs() -> None:
    text = "word " * 300 + "\n\n" + "next " * 300
    assert pieces(text) == [(0, 1501), (1501, len(text))]
