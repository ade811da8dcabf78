"""Stored text is shown safely and wholly; times are read in every spelling."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tau_browser.model.label import call_label, label_of, speaker_of
from tau_browser.model.payload import (
    Call,
    Image,
    Other,
    Text,
    Thinking,
    blocks_of,
    config_line,
    lines_of,
    message_of,
    text_of,
)
from tau_browser.model.summary import stamp_text, summary_of
from tau_browser.model.text import first_line, safe, safe_line, size_of
from tau_browser.model.times import NO_TIME, format_time, parse_time
from tests.conftest import DATA, load, log_of, message, read

# Safe text.

# A strategy for text that does harm: what acts, hides or reorders, among plain words.
HARMFUL = [
    *("\x00", "\x07", "\x08", "\x1b", "\x7f", "\x85", "\x9b", "\x9d", "\r", "\t", "\n", "\r\n"),
    *("\u00ad", "\u061c", "\u200b", "\u200d", "\u200e", "\u202e", "\u2066", "\u2028", "\u2029"),
    *("\ufeff", "\ufff9", "\ud800", "\udcff", "\U000e0041", "\U000e0101", "\u3164"),
]
texts = st.lists(st.sampled_from(HARMFUL) | st.text(max_size=3), max_size=12).map("".join)


EVERY_CHARACTER = "".join(map(chr, range(0x110000)))
BIDI_CONTROLS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
WITHOUT_WIDTH = {
    *map(chr, (0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0)),
    *map(chr, (*range(0x200B, 0x200E), *range(0x2060, 0x2070), *range(0xFFF0, 0xFFFC))),
    *map(chr, (*range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000))),
}
# The characters with which a terminal or a layout does something, or shows nothing.
ACTING = {
    *(char for char in EVERY_CHARACTER if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")),
    *(char for char in EVERY_CHARACTER if unicodedata.bidirectional(char) in BIDI_CONTROLS),
    *("\u061c", "\u200e", "\u200f"),
    *WITHOUT_WIDTH,
}


def acts(char: str) -> bool:
    return char in ACTING


def test_no_character_at_all_acts_in_a_line() -> None:
    assert ACTING.isdisjoint(safe_line(EVERY_CHARACTER))


def test_only_tab_and_newline_act_in_lines() -> None:
    assert ACTING.intersection(safe(EVERY_CHARACTER)) == {"\t", "\n"}


def test_format_characters_that_are_left_are_seen() -> None:
    shown = safe_line(EVERY_CHARACTER)
    left = {char for char in shown if unicodedata.category(char) == "Cf"}
    names = {unicodedata.name(char).split()[0] for char in left}
    assert names <= {"ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN"}  # signs with a shape of their own


@given(texts)
@example("a\r\nb\r\r\n\n\r")
def test_safe_text_is_one_for_one(text: str) -> None:
    assert len(safe(text)) == len(safe_line(text)) == len(text)
    for at, char in enumerate(text):
        if not acts(char):
            assert safe(text)[at] == safe_line(text)[at] == char


@given(texts)
def test_safe_text_is_safe_and_stays_as_it_is(text: str) -> None:
    for made_safe in (safe, safe_line):
        once = made_safe(text)
        assert not any(acts(char) for char in once if char not in "\t\n")
        assert made_safe(once) == once
        assert once.encode().decode() == once  # no surrogate is left
    assert not any(acts(char) for char in safe_line(text))


def test_printable_ascii_is_left_alone() -> None:
    printable = "".join(map(chr, range(0x20, 0x7F)))
    assert safe(printable) == safe_line(printable) == printable


@given(st.text(alphabet=st.characters(categories=["L", "N", "Mn", "Mc", "So", "Sm", "Sc"])))
def test_words_and_signs_in_every_script_are_left_alone(text: str) -> None:
    readable = "".join(char for char in text if char not in WITHOUT_WIDTH)
    assert safe(readable) == safe_line(readable) == readable


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("a\x00b\x7fc", "a␀b␡c"),
        ("\x9b31m \x9d0;title", "�31m �0;title"),
        ("user\u202etxt.exe", "user�txt.exe"),
        ("ad\u200bmin", "ad·min"),
        ("two\nlines\tand a tab", "two␤lines and a tab"),
        ("lone \udcb2 half", "lone � half"),
        ("emoji 👍🏽 é ä 日本語 שלום", "emoji 👍🏽 é ä 日本語 שלום"),
        ("[bold]markup[/] \\[x]", "[bold]markup[/] \\[x]"),
    ],
)
def test_what_acts_is_shown_as_a_mark(stored: str, shown: str) -> None:
    assert safe_line(stored) == shown


def test_text_with_lines_keeps_them_and_windows_ends_leave_no_mark() -> None:
    assert safe("one\r\ntwo\tthree\rfour\n") == "one \ntwo\tthree␍four\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("  \n\n \t ", ""),
        ("\n\n  first\nsecond", "first"),
        ("first\r\nsecond", "first"),
        ("tab\there", "tab here"),
        ("\x1b[2J\nx", "␛[2J"),
    ],
)
def test_first_line_is_the_first_that_says_something(text: str, line: str) -> None:
    assert first_line(text) == line


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (1500, "1.5 KB"),
        (9_949, "9.9 KB"),
        (9_951, "10 KB"),
        (37_400_000, "37 MB"),
        (999_499, "999 KB"),
        (999_500, "1.0 MB"),
        (999_949_999, "1.0 GB"),
        (5_000_000_000_000, "5000 GB"),
    ],
)
def test_sizes_for_people(count: int, text: str) -> None:
    assert size_of(count) == text


@given(st.integers(0, 10**15))
def test_sizes_are_short_and_near_the_truth(count: int) -> None:
    number, unit = size_of(count).split(" ")
    factor = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}[unit]
    assert abs(float(number) * factor - count) <= max(0.051 * factor, 0.051 * count)
    assert unit == "GB" or len(number) <= 3


# What an entry says.


def said(content: Any, **fields: Any) -> str:
    return text_of({"type": "message", "message": {"role": "user", "content": content, **fields}})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([], ""),
        ("", ""),
        ({"type": "text", "text": "one block"}, "one block"),
        (["bare", None, {"type": "text", "text": "block"}], "bare\nblock"),
        ([{"type": "text", "text": None}, {"type": "text"}], ""),
        ([{"type": "text", "text": ["nested", {"text": "deeper"}, [["deepest"]]]}], None),
        ([{"type": "tool_result", "content": [{"type": "text", "text": "inner"}]}], "inner"),
        ([{"type": "smell", "caption": "cinnamon", "strength": 3}], None),
        ([5, True], "5\ntrue"),
        ([{"type": "thinking", "thinking": "hm"}], "hm"),
        ([{"type": "image", "data": "QUFB", "mime_type": "image/png"}], "[image image/png ≈3 B]"),
        ([{"type": "image", "data": None, "url": "x"}], "data: null\nurl: x"),
    ],
)
def test_text_is_found_in_every_shape_of_content(content: Any, text: str | None) -> None:
    special = {"nested": "nested\ndeeper\ndeepest", "smell": "caption: cinnamon\nstrength: 3"}
    expected = text if text is not None else special[next(k for k in special if k in str(content))]
    assert said(content) == expected


def test_bugcase_of_content_shapes_gives_each_text() -> None:
    (path,) = DATA.glob("bugcases/28-*/sessions/*/*.jsonl")
    session = load(path)
    assert {session.entry_id(at): session.text(at) for at in range(len(session))} == {
        "a": "plain string alpha",
        "b": "list beta",
        "c": "",
        "d": "dict delta",
        "e": "bare epsilon\nblock epsilon2",
        "f": "",
        "g": "nested\ngamma",
        "h": "",
        "i": "inner theta",
    }
    assert session.diagnostics == []


def test_blocks_of_each_kind() -> None:
    record = message("m", None)
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}}
    image = {"type": "image", "data": "QUFBQQ==", "mimeType": "image/jpeg"}
    record["message"]["content"] = [
        {"type": "text", "text": "t"},
        {"type": "thinking", "thinking": ""},
        call,
        image,
        {"type": "new", "x": 1},
    ]
    assert blocks_of(record) == [
        Text("t"),
        Thinking(""),
        Call("c1", "read", {"path": "a.py"}),
        Image("image/jpeg", "QUFBQQ=="),
        Other("new", {"x": 1}),
    ]


def test_message_may_be_a_string_missing_or_the_record_itself() -> None:
    assert message_of({"message": "text"}) == {"content": "text"}
    assert message_of({"type": "elide"}) == {}
    assert message_of({"message": None, "content": "x"}) == {"message": None, "content": "x"}
    assert text_of({"type": "custom_message", "content": "pi note"}) == "pi note"


def test_errors_that_stand_beside_the_content_are_part_of_the_text() -> None:
    assert said("failed", details={"exception": "OSError: no"}) == "failed\nOSError: no"
    assert said([], error_message="upstream 502") == "upstream 502"


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"type": "session_info", "name": "My session"}, "My session"),
        ({"type": "compaction", "summary": "what was said"}, "what was said"),
        ({"type": "branch_summary", "summary": "it failed", "fromId": None}, "it failed"),
        (
            {"type": "elide", "firstKeptId": "a1"},
            "history folded here, context resumes at entry a1",
        ),
        ({"type": "navigate", "targetId": "a1"}, "moved to a1"),
        ({"type": "navigate", "targetId": None}, "moved to before the first entry"),
        ({"type": "model_change", "model": "m", "backend": "b"}, "m b"),
        ({"type": "thinking_change", "level": "high"}, "high"),
        ({"type": "jmfts:document", "usetype": "note", "title": "Notes"}, "Notes"),
        ({"type": "hologram", "id": "h", "note": {"from": "the future"}}, "note.from: the future"),
        ({"type": "hologram", "id": "h", "parentId": None}, ""),
        (
            {"type": "customEntry", "customType": "todo", "data": {"text": "tests", "done": False}},
            "todo\ntext: tests\ndone: false",
        ),
    ],
)
def test_every_kind_has_its_text(record: dict[str, Any], text: str) -> None:
    assert text_of(record) == text


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"model": "m", "cwd": "/x"}, "model m; cwd /x"),
        ({"model_spec": {"id": "big-1"}, "thinking": None}, "model big-1; thinking default"),
        ({"model": {"id": "qwen3"}, "tools": ["read"]}, "model qwen3; 1 tool: read"),
        ({"model": "m", "model_spec": {"id": "big-1"}}, "model m"),
        ({"tools": [], "extensions": ["a", "b"]}, "0 tools; 2 extensions: a, b"),
        ({"system_prompt_digest": "ab"}, "prompt changed"),
        ("odd", "odd"),
        ({"tools": "all", "cwd": 5}, "tools: all; cwd: 5"),
    ],
)
def test_config_tells_what_it_sets(data: Any, line: str) -> None:
    assert config_line(data) == line


def test_values_are_spelled_as_paths_and_leaves() -> None:
    value = {"a": {"b": [1, {"c": "x y"}]}, "d": None, "e": {}, "f": [], "g": 'say "hi"\nthere'}
    assert lines_of(value) == [
        *("a.b[0]: 1", "a.b[1].c: x y", "d: null", "e: {}", "f: []", 'g: say "hi"\nthere')
    ]
    assert lines_of("bare") == ["bare"]
    assert lines_of(float("nan")) == ["NaN"]
    assert lines_of([["a"]]) == ["[0][0]: a"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict) and value:
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list) and value:
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


@given(json_values)
def test_every_leaf_of_a_value_has_its_line(value: Any) -> None:
    expected = [leaf if isinstance(leaf, str) else json.dumps(leaf) for leaf in leaves(value)]
    lines = lines_of(value)
    assert len(lines) == len(expected)
    assert all(line.endswith(leaf) for line, leaf in zip(lines, expected, strict=True))


record_names = st.sampled_from(
    [
        *("type", "message", "content", "data", "customType", "summary", "firstKeptId", "name"),
        *("role", "text", "thinking", "arguments", "tool_name", "details", "exception", "tools"),
        *("model", "model_spec", "id", "title", "level", "targetId", "error_message", "cwd"),
    ]
)
kinds = st.sampled_from(
    [
        *("message", "customMessage", "customEntry", "compaction", "elide", "branch_summary"),
        *("session_info", "config", "text", "thinking", "toolCall", "image", "navigate", "x:y"),
    ]
)
odd_records = st.dictionaries(
    record_names,
    st.recursive(
        kinds | json_values,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(record_names, inner),
        max_leaves=10,
    ),
)


@given(odd_records)
def test_a_record_of_any_shape_can_be_shown(odd: dict[str, Any]) -> None:
    record = {**odd, "id": "m1", "parentId": "m0"}
    session = read(log_of([message("m0", None, "x"), record]))
    stored = session.record(1)
    assert json.dumps(stored) == json.dumps(record)
    for shown in (speaker_of(stored), label_of(session, 1, stored)):
        assert not any(acts(char) for char in shown)
    assert isinstance(text_of(stored), str)
    assert summary_of(session).entries == 2


def test_tool_calls_are_labelled_by_their_first_words() -> None:
    assert (
        call_label(Call("c", "bash", {"timeout": 5, "command": "\n ls -l\n pwd"})) == "bash ls -l"
    )
    assert call_label(Call("c", "read", {})) == "read"
    assert call_label(Call("c", "odd", "loose text")) == "odd loose text"
    assert call_label(Call("c", "none", None)) == "none"


@pytest.mark.parametrize(
    ("record", "speaker"),
    [
        (message("m", None, role="assistant"), "assistant"),
        ({"type": "message", "message": {"role": "toolResult", "tool_name": "bash"}}, "tool bash"),
        ({"type": "message", "message": {"role": "toolResult", "toolName": "read"}}, "tool read"),
        ({"type": "message", "message": {"role": "toolResult"}}, "tool"),
        ({"type": "customMessage", "customType": "note", "message": {"role": "custom"}}, "note"),
        ({"type": "customEntry", "customType": "config"}, "config"),
        ({"type": "compaction"}, "compaction"),
        ({"type": "evil\x1b[2J"}, "evil␛[2J"),
        ({}, "(no type)"),
        ({"type": "message", "message": {"role": 5}}, "message"),
    ],
)
def test_speaker_is_a_role_a_tool_or_a_kind(record: dict[str, Any], speaker: str) -> None:
    assert speaker_of(record) == speaker


# Times.

MARCH = 1772359200123  # 2026-03-01T10:00:00.123Z


@pytest.mark.parametrize(
    ("value", "milliseconds"),
    [
        ("2026-03-01T10:00:00.123Z", MARCH),
        ("2026-03-01T10:00:00.123000+00:00", MARCH),
        ("2026-03-01T10:00:00.123456Z", MARCH),
        ("2026-03-01T12:00:00.123+02:00", MARCH),
        ("2026-03-01 10:00:00.123", MARCH),
        (" 2026-03-01T10:00:00.123Z\n", MARCH),
        ("20260301T100000Z", MARCH - 123),
        ("2026-03-01T10:00:00Z", MARCH - 123),
        ("2026-03-01", MARCH - 123 - 36_000_000),
        (MARCH, MARCH),
        (float(MARCH), MARCH),
        (MARCH // 1000, MARCH - 123),
        (MARCH / 1000, MARCH),
        (0, 0),
        (-1, -1000),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0001-01-01T00:00:00+14:00", -62135596800000 - 14 * 3_600_000),
    ],
)
def test_time_is_read_in_every_spelling(value: Any, milliseconds: int) -> None:
    assert parse_time(value) == milliseconds


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", "  ", "yesterday", "2026-13-01", True, False, [], {}, "2026-03-01T25:00:00Z"),
        *(float("nan"), float("inf"), -float("inf"), 10**18, -(10**18), 10**400, "9" * 5000),
        "10000-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert parse_time(value) == NO_TIME
    assert stamp_text(value) == (value if isinstance(value, str) else "")


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (MARCH, "2026-03-01T10:00:00.123Z"),
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62135596800000, "0001-01-01T00:00:00.000Z"),
        (253402300799999, "9999-12-31T23:59:59.999Z"),
        (NO_TIME, None),
        (-62135596800001, None),
        (253402300800000, None),
    ],
)
def test_time_is_written_as_tau_writes_it(milliseconds: int, text: str | None) -> None:
    assert format_time(milliseconds) == text


@given(st.integers(-62135596800000, 253402300799999))
def test_every_time_survives_being_written_and_read(milliseconds: int) -> None:
    text = format_time(milliseconds)
    assert text is not None and len(text) == 24
    assert parse_time(text) == milliseconds


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),
    st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
def test_offsets_move_a_time_by_exactly_their_minutes(moment: datetime, zone: timezone) -> None:
    there = moment.replace(tzinfo=zone)
    exact = (there - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert parse_time(there.isoformat()) == exact


@given(st.integers(10**11, 253402300799999))
def test_large_numbers_are_milliseconds(milliseconds: int) -> None:
    assert parse_time(milliseconds) == milliseconds
    assert stamp_text(milliseconds) == format_time(milliseconds)


@given(st.integers(-(10**8), 10**9 * 9))
def test_small_numbers_are_seconds(seconds: int) -> None:
    assert parse_time(seconds) == seconds * 1000
    assert parse_time(seconds + 0.25) == seconds * 1000 + 250
