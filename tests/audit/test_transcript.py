"""What a session says, read in one pass, against its records one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.audit.said import Passage
from tau_browser.audit.tools import KNOWN_TOOLS
from tau_browser.audit.transcript import Transcript, transcript_of
from tau_browser.model.payload import Call, Text, Thinking, blocks_of, lines_of, text_of
from tau_browser.model.session import Session
from tests.audit.labelled import STORIES
from tests.conftest import DATA, load, log_of, read

LOGS = sorted([*(DATA / "tau").glob("*.jsonl"), *(DATA / "tau" / "corrupt").glob("*.jsonl")])
BLOCKS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": st.sampled_from(["", "one", "two\n"])}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": st.just("hm")}),
    st.fixed_dictionaries({"type": st.just("image"), "data": st.just("AA==")}),
    st.fixed_dictionaries(
        {
            "type": st.just("toolCall"),
            "id": st.sampled_from(["c1", ""]),
            "name": st.sampled_from(["bash", "jmfts_search", "mcp__notes__recall"]),
            "arguments": st.sampled_from([None, {}, {"command": "ls"}, {"a": {"b": [1]}}, "x"]),
        }
    ),
    st.fixed_dictionaries({"type": st.sampled_from(["text", "other"]), "text": st.just(None)}),
    st.just("loose"),
    st.just(5),
)
MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "toolResult"]),
        "content": st.one_of(st.lists(BLOCKS, max_size=4), st.just("plain"), st.just(None)),
    },
    optional={
        "details": st.sampled_from([{}, {"nested_calls": []}, {"exception": "Boom"}]),
        "error_message": st.sampled_from([None, "failed"]),
        "timestamp": st.just(1),
    },
)
EXTRAS = st.fixed_dictionaries(
    {}, optional={"event": st.just({"tags": ["a"]}), "copiedFrom": st.just("0")}
)


def passages(place: int, record: dict[str, Any]) -> Iterator[Passage]:
    blocks = blocks_of(record)
    for block in blocks:
        if isinstance(block, Text | Thinking) and block.text:
            yield Passage(place, "text" if isinstance(block, Text) else "thinking", block.text)
    for block in blocks:
        if isinstance(block, Call):
            yield Passage(place, "arguments", "\n".join(said(block.arguments)))


def said(arguments: Any) -> list[str]:
    """Texts alone, without the names of the arguments, where there is nothing else."""
    texts = arguments.values() if isinstance(arguments, dict) else [None]
    all_texts = all(isinstance(text, str) for text in texts)
    return list(texts) if all_texts else lines_of(arguments)


def is_true_to(transcript: Transcript, session: Session) -> None:
    records = [session.record(place) for place in range(len(session))]
    answers = [at for at in range(len(session)) if session.role(at) == "assistant"]
    for at in answers:
        assert transcript.said_at(at) == list(passages(at, records[at]))
    assert {passage.place for passage in transcript.passages} <= set(answers)
    assert transcript.calls == [
        (at, block.id, asked)
        for at in answers
        for block in blocks_of(records[at])
        if isinstance(block, Call)
        if (asked := KNOWN_TOOLS.asked(block.name, block.arguments)) is not None
    ]
    assert transcript.users == [
        (at, text_of(records[at])) for at in range(len(session)) if session.is_user[at]
    ]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_logs_of_every_kind(path: Any) -> None:
    session = load(path)
    is_true_to(transcript_of(session, KNOWN_TOOLS), session)


@pytest.mark.parametrize("tell", STORIES, ids=lambda tell: tell().records[0]["name"])
def test_stories(tell: Any) -> None:
    session = read(tell().log)
    is_true_to(transcript_of(session, KNOWN_TOOLS), session)


@given(st.lists(st.tuples(MESSAGES, EXTRAS), max_size=6))
def test_messages_however_they_are_spelled(told: list[tuple[dict[str, Any], Any]]) -> None:
    records = (
        {"type": "message", "id": f"{at:08x}", "parentId": None, "message": message} | extra
        for at, (message, extra) in enumerate(told)
    )
    session = read(log_of(records))
    transcript = transcript_of(session, KNOWN_TOOLS)
    is_true_to(transcript, session)
    assert transcript.telling == [
        at
        for at, (message, _) in enumerate(told)
        if message["role"] == "toolResult" and "nested_calls" in message.get("details", {})
    ]
