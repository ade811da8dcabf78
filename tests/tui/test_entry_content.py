"""What is shown of stored entries, how much of it, and what never comes through."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tau_browser.model.payload import Call, blocks_of, lines_of
from tau_browser.model.session import Session
from tau_browser.model.text import safe
from tau_browser.model.usage import Ledger
from tau_browser.tui.entry.draw import Canvas
from tau_browser.tui.entry.match import find_matches
from tau_browser.tui.entry.palette import styles_of
from tau_browser.tui.entry.parts import Budget, Code, Diff, More, Part, Prose, Section, View
from tau_browser.tui.entry.present import sections_of
from tau_browser.tui.entry.stored import json_text, laid_out
from tau_browser.tui.glyphs import ASCII, UNICODE, Glyphs
from tests.conftest import load, log_of, message, read
from tests.tui.entries import (
    ACTING,
    CASES,
    EVERYWHERE,
    HOSTILE,
    PRICES,
    TAU,
    case,
    fixture,
    one_entry,
)

SESSIONS = sorted(
    [
        *(path for path in TAU.glob("*.jsonl") if path.stat().st_size < 100_000),
        *CASES.glob("28-*/sessions/*/*.jsonl"),
        *CASES.glob("29-*/sessions/*/*.jsonl"),
        *CASES.glob("39-*/sessions/*/*.jsonl"),
        *CASES.glob("40-*/sessions/*/*.jsonl"),
        *CASES.glob("41-*/sessions/*/*.jsonl"),
        *CASES.glob("08-*/sessions/*/*.jsonl"),
    ]
)
READ, THINKING, RAW = View(), View(thinking=True), View(raw=True)


def sections(session: Session, entry: int | str, view: View = READ) -> list[Section]:
    place = session.find(entry)[0] if isinstance(entry, str) else entry
    return list(sections_of(session, place, "path", view, Ledger(session, PRICES)))


def parts(session: Session, entry: int | str, view: View = READ) -> list[Part]:
    return [part for section in sections(session, entry, view) for part in section.parts]


def said(session: Session, entry: int | str, view: View = READ) -> str:
    """All that is shown of an entry, as text."""
    return "\n".join(section.text for section in sections(session, entry, view))


def drawn(
    shown: list[Section], width: int = 80, glyphs: Glyphs = UNICODE, *, pictures: bool = False
) -> list[str]:
    """Sections as rows of text."""
    canvas = Canvas(width, styles_of({}), glyphs, pictures=pictures)
    return ["".join(segment.text for segment in row) for row in canvas.rows(shown)]


def of_parts(*shown: Part) -> list[Section]:
    return [Section(None, list(shown))]


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


# What is read


def test_a_call_stands_with_its_result() -> None:
    text = said(fixture("01"), "edb2b4ad")
    assert text.index("Reading it.") < text.index("→ read") < text.index("path: auth.py")
    assert text.index("path: auth.py") < text.index("← result") < text.index("def login(user, pw)")


def test_parallel_calls_each_stand_with_their_own_result() -> None:
    text = said(fixture("01"), "0fd0fb2f")
    order = ["→ edit", "+check(pw)", "a529c152", "→ bash", "print(40+2)", "6a41a923", "42"]
    assert sorted(order, key=text.index) == order


def test_a_result_stands_with_its_call() -> None:
    text = said(fixture("01"), "27437d3f")
    assert text.index("→ read") < text.index("in edb2b4ad") < text.index("← result")


def test_families_stand_beside_names_that_do_not_say_them() -> None:
    calls = [{"type": "toolCall", "id": "c", "name": name} for name in ("Bash", "read", "Skill")]
    log = log_of([message("a", None) | {"message": {"role": "assistant", "content": calls}}])
    text = said(read(log), "a")
    assert "family shell (Bash: the word 'bash')" in text and "→ Bash" in text
    assert text.count("family") == 1


def test_what_replaces_the_history_is_shown_by_who_said_it() -> None:
    history = [{"role": "user", "content": "asked"}, {"role": "assistant", "content": "done"}]
    record = {"type": "compaction", "id": "c", "parentId": None, "history": history, "summary": ""}
    text = said(read(log_of([record])), "c")
    assert "instead of what was before, the model saw:\nuser:\nasked\nassistant:\ndone" in text
    assert text.count("asked") == 1


def test_copied_calls_show_their_own_results() -> None:
    session = fixture("06")
    assert "0a431763" in said(session, "d2d2c093")
    assert "7b47af10" in said(session, "0e40c1e3")
    assert "in 0e40c1e3" in said(session, "7b47af10")
    assert "copied from d2d2c093" in said(session, "0e40c1e3")


def test_what_failed_says_so_in_words() -> None:
    session = fixture("01")
    assert "exit 3" in said(session, "c26fa256")
    assert "error" in said(session, "a529c152").splitlines()[0]


def test_errors_and_aborts() -> None:
    session = fixture("11")
    text = said(session, "d1b94f36")
    assert "Not shown to the model: RuntimeError: upstream 502" in text
    assert "not sent to the model" in text
    assert "error: upstream 502" in said(session, "c370e7cc")
    assert "aborted" in said(session, "8794fc05").splitlines()[0]


def test_an_exception_that_the_model_did_not_see() -> None:
    text = said(fixture("20"), "9050f20f")
    assert "The tool failed with an internal error." in text
    assert "Not shown to the model: RuntimeError: jmfts_search(scope='conversation')" in text


def test_calls_within_a_call_are_listed() -> None:
    text = said(fixture("21"), "e091f2be")
    assert "↳ jmfts_search  ok  213 ms" in text
    assert "query: deploy checklist" in text


def test_a_compaction_says_what_it_folds_and_what_it_says() -> None:
    shown = parts(fixture("03"), "47944e93")
    assert any(isinstance(part, Prose) and "Ask questions." in part.text for part in shown)
    text = "\n".join(part.text for part in shown)
    assert "resumes at ba625a88" in text
    assert "tokensBefore: 160" in text


def test_thinking_is_one_line_until_it_is_unfolded() -> None:
    record = message("a", None, role="assistant")
    record["message"]["content"] = [{"type": "thinking", "thinking": "first line\nsecond line"}]
    session = one_entry(record)
    assert "first line" in said(session, 0)
    assert "second line" not in said(session, 0)
    assert "second line" in said(session, 0, THINKING)


def test_thinking_of_which_only_the_signature_is_left() -> None:
    record = message("a", None, role="assistant")
    record["message"]["content"] = [{"type": "thinking", "thinking": "", "thinking_signature": "x"}]
    assert "only the signature was kept" in said(one_entry(record), 0)


def test_strings_in_arguments_keep_their_lines_and_their_language() -> None:
    record = message("a", None, role="assistant")
    arguments = {"path": "src/x.py", "content": "a = 1\nb = 2\n", "mode": {"deep": [1, None]}}
    record["message"]["content"] = [
        {"type": "toolCall", "id": "c", "name": "write", "arguments": arguments}
    ]
    shown = parts(one_entry(record), 0)
    assert Code("a = 1\nb = 2", "x.py") in shown
    assert 'mode: {"deep": [1, null]}' in said(one_entry(record), 0)


def test_a_diff_in_the_result_stands_for_the_texts_of_the_call() -> None:
    call = message("a", None, role="assistant")
    arguments = {"path": "x.py", "oldText": "old", "newText": "new"}
    call["message"]["content"] = [
        {"type": "toolCall", "id": "c", "name": "edit", "arguments": arguments}
    ]
    result = message("b", "a", "done", role="toolResult")
    result["message"] |= {"tool_call_id": "c", "details": {"diff": "@@ -1 +1 @@\n-old\n+new\n"}}
    for entry in ("a", "b"):
        shown = parts(read(log_of([call, result])), entry)
        diffs = [part.text for part in shown if isinstance(part, Diff)]
        assert diffs == ["@@ -1 +1 @@\n-old\n+new"]
    assert Diff("-old\n+new") in parts(one_entry(call), "a")


def test_edits_of_which_one_is_odd_are_shown_as_stored() -> None:
    record = message("a", None, role="assistant")
    edits = [{"oldText": "a", "newText": "b"}, {"oldText": "only this"}]
    record["message"]["content"] = [
        {"type": "toolCall", "id": "c", "name": "edit", "arguments": {"edits": edits}}
    ]
    assert "only this" in said(one_entry(record), 0)


def test_a_call_without_edits_says_so() -> None:
    record = message("a", None, role="assistant")
    record["message"]["content"] = [
        {"type": "toolCall", "id": "c", "name": "edit", "arguments": {"edits": []}}
    ]
    assert "edits: []" in said(one_entry(record), 0)


def test_fields_that_nobody_told_us_about_are_shown() -> None:
    record = message("a", None, "x", role="assistant", later="one")
    record["message"]["later_still"] = {"two": 3}
    text = said(one_entry(record), 0)
    assert "later: one" in text
    assert 'later_still: {"two": 3}' in text


@pytest.mark.parametrize(
    "odd", [1, "text", ["a"], {"exit_code": 1, "diff": 5, "nested_calls": "n"}]
)
def test_odd_details_are_shown_whole(odd: Any) -> None:
    record = message("a", None, "x", role="toolResult")
    record["message"]["details"] = odd
    text = said(one_entry(record), 0)
    for value in odd.values() if isinstance(odd, dict) else [odd]:
        assert (value if isinstance(value, str) else json.dumps(value)) in text


def test_every_shape_of_content_is_read() -> None:
    session = case("28")
    text = "\n".join(said(session, place) for place in range(len(session)))
    texts = ["plain string alpha", "list beta", "dict delta", "bare epsilon", "block epsilon2"]
    for words in [*texts, "nested", "gamma", "inner theta"]:
        assert words in text


def test_unknown_kinds_and_blocks_are_named_and_read() -> None:
    session = case("29")
    assert said(session, "future1").startswith("hologram_v9  future1")
    assert '{"note": "from the future", "n": [1, 2]}' in said(session, "future1")
    text = said(session, "m3")
    assert "block smell" in text and "caption: cinnamon" in text
    assert "block (no type)" in text and "kind: untyped" in text
    assert "k: v" in said(session, "ce")


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.parts[-4][:2] + path.stem[-12:])
def test_all_text_of_a_message_is_shown(path: Path) -> None:
    session = load(path)
    for place in range(len(session)):
        shown = letters(said(session, place, THINKING))
        for block in blocks_of(session.record(place)):
            lines = lines_of(block.arguments) if isinstance(block, Call) else [block.text]
            values = [line.partition(": ")[2] or line for line in lines]
            for word in " ".join(values).split():
                assert letters(safe(word)) in shown


def test_markup_is_text() -> None:
    session = case("40")
    for place in range(len(session)):
        rows = "\n".join(drawn(sections(session, place)))
        for line in session.text(place).split("\n"):
            assert line.rsplit("\n")[-1].strip() in rows


def test_tokens_and_cost() -> None:
    text = said(fixture("01"), "85984200")
    assert re.search(r"entry +160 tokens \(120 in, 40 out\)  \$0\.0010", text)
    assert re.search(r"turn +335 tokens \(240 in, 95 out\)  \$0\.0021", text)
    assert re.search(r"subtree +960 tokens \(720 in, 240 out\)  \$0\.0058", text)
    assert re.search(r"entry +~8 tokens \(estimate\)", said(fixture("01"), "709dd83f"))
    assert "5 copies not counted" in said(fixture("06"), 0)
    unpriced = message("a", None, "x", role="assistant")
    unpriced["message"]["usage"] = {"input_tokens": 1_000}
    assert "1,000 tokens (1,000 in)  no price for 1 of 1" in said(one_entry(unpriced), 0)


def test_findings_about_an_entry_are_told() -> None:
    session = read(log_of([message("a", "gone", "x")]))
    assert "its parent is not in the session" in said(session, "a")


def test_an_entry_whose_bytes_are_gone() -> None:
    session = read(log_of([message("a", None, "x")]))
    session.source.data = b""  # type: ignore[attr-defined]
    assert "no longer there" in said(session, 0)


# As stored


def test_a_stored_line_keeps_its_tokens() -> None:
    line = '{"a": 1.50, "b": {}, "a": [true, {"c": "x, {y: \\u00e9\\""}]}'
    assert laid_out(line).split("\n") == [
        "{",
        '  "a": 1.50,',
        '  "b": {},',
        '  "a": [',
        "    true,",
        "    {",
        '      "c": "x, {y: \\u00e9\\""',
        "    }",
        "  ]",
        "}",
    ]


@given(st.text(alphabet='{}[]",:\\ \nab1', max_size=80))
def test_nothing_of_a_stored_line_is_lost(text: str) -> None:
    assert "".join(laid_out(text).split()) == "".join(text.split())


def test_what_is_no_json_stays_as_it_is() -> None:
    assert laid_out("not  json: [1") == "not  json: [1"


def test_deep_nesting_is_drawn_within_bounds() -> None:
    text = laid_out("{" + '"a":{' * 3_000)
    assert max(map(len, text.split("\n"))) < 50
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    assert json_text(deep, 100, in_lines=False).startswith("[[")
    assert "nested too deeply" in json_text(deep, 10**9, in_lines=False)


def test_the_raw_view_is_what_is_stored() -> None:
    session = fixture("01")
    text = said(session, "edb2b4ad", RAW)
    assert '"thinking_signature": "reasoning_content"' in text
    stored = session.raw(session.find("edb2b4ad")[0]).decode()
    assert "".join(stored.split()) in "".join(text.split())


# What never reaches a terminal


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.parts[-4][:2] + path.stem[-12:])
@pytest.mark.parametrize("view", [READ, THINKING, RAW], ids=["read", "thinking", "raw"])
def test_no_row_acts_or_overflows(path: Path, view: View) -> None:
    session = load(path)
    for width in (7, 20, 121):
        canvas = Canvas(width, styles_of({}), UNICODE, pictures=False)
        for place in range(len(session)):
            for row in canvas.rows(sections(session, place, view)):
                text = "".join(segment.text for segment in row)
                assert not ACTING.search(text)
                assert cell_len(text) <= width
                assert not any(segment.control for segment in row)
                assert not any(segment.style and segment.style.link for segment in row)


@pytest.mark.parametrize("kind", ["message", "customEntry", "compaction", None])
@pytest.mark.parametrize("view", [READ, THINKING, RAW], ids=["read", "thinking", "raw"])
def test_no_field_of_an_entry_lets_anything_through(kind: str | None, view: View) -> None:
    record = {**EVERYWHERE, "summary": HOSTILE, "data": {HOSTILE: HOSTILE}}
    if kind:
        record["type"] = kind
    if kind != "message":
        record.pop("message")
    for row in drawn(sections(one_entry(record), 0, view), 40):
        assert not ACTING.search(row)


# Markdown that hides nothing

_PIECES = [
    *("word", "__init__", "*a*", "**b c**", "x**2", "`code`", "``co`de``", "~~s~~", "\\*", "\\\n"),
    *('[l](http://u/v "t")', "![i](p)", "[ref]: http://x", "<http://x>", "http://a.b/c_d"),
    *("<b>h</b>", "&amp;", "&#x202e;", "日本語", "😀", "e\u0301", "verylongword" * 3),
    *("1.", "7)", "- ", "+ ", "* ", "> ", "# ", "### ", "```python", "```", "~~~", "---", "==="),
    *("|", "a|b", "|---|---|", "    ", "\t", "\n", "\n\n", "  \n", "*", "_", "`"),
]


@given(
    st.lists(st.sampled_from(_PIECES), max_size=60).map(" ".join) | st.text(max_size=200),
    st.integers(6, 70),
)
def test_markdown_loses_no_letter(text: str, width: int) -> None:
    text = safe(text.replace(" \n", "\n").replace("\n ", "\n"))
    rows = drawn(of_parts(Prose(text)), width)
    assert letters("".join(rows)) == letters(text)
    assert all(cell_len(row) <= width for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        "x**2 + y**2, 2*3*4 and __init__.py",
        '<attachment filename="a.png"></attachment>',
        "AT&amp;T &#27;[2J",
        "[a link](http://example.org/a_b) and ![an image](x.png)",
        "\\[esc] \\*not\\* \\",
        "a\n  kept indent\nb",
        "`code` and ``two `ticks` ``",
        "### Title",
        "[ref]: http://example.org",
    ],
)
def test_what_is_written_is_what_stands_there(text: str) -> None:
    rows = drawn(of_parts(Prose(text)))
    assert [row.rstrip() for row in rows] == text.split("\n")


def test_numbers_of_a_list_are_those_written() -> None:
    rows = drawn(of_parts(Prose("7. seven\n12. twelve\n\n3) three")))
    assert [row.strip() for row in rows if row.strip()] == ["7. seven", "12. twelve", "3) three"]


def test_a_table_that_would_lose_a_cell_is_left_as_written() -> None:
    rows = drawn(of_parts(Prose("| a |\n|---|\n| 1 | lost |")))
    assert any("lost" in row for row in rows)


def test_fences_are_kept_with_what_is_named_after_them() -> None:
    rows = drawn(of_parts(Prose("```python title=x\nreturn 1\n```")))
    assert [row.rstrip() for row in rows] == ["```python title=x", "return 1", "```"]


# How much is shown


@pytest.fixture
def handed_to_rich(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many characters are handed to Rich and to the parsers in front of it."""
    from markdown_it import MarkdownIt
    from rich.text import Text

    counts: list[int] = []
    make, append, parse = Text.__init__, Text.append, MarkdownIt.parse

    def counting_init(self: Text, text: str = "", *args: Any, **kwargs: Any) -> None:
        counts.append(len(text))
        make(self, text, *args, **kwargs)

    def counting_append(self: Text, text: Any, *args: Any, **kwargs: Any) -> Text:
        counts.append(len(text))
        return append(self, text, *args, **kwargs)

    def counting_parse(self: MarkdownIt, src: str, *args: Any, **kwargs: Any) -> Any:
        counts.append(len(src))
        return parse(self, src, *args, **kwargs)

    monkeypatch.setattr(Text, "__init__", counting_init)
    monkeypatch.setattr(Text, "append", counting_append)
    monkeypatch.setattr(MarkdownIt, "parse", counting_parse)
    yield counts


def _call(arguments: Any) -> dict[str, Any]:
    record = message("a", None, role="assistant")
    record["message"]["content"] = [
        {"type": "toolCall", "id": "c", "name": "write", "arguments": arguments}
    ]
    return record


def _result(details: Any) -> dict[str, Any]:
    record = message("a", None, "x", role="toolResult")
    record["message"]["details"] = details
    return record


LARGE = {
    "words": message("a", None, "word and more " * 100_000),
    "one line": message("a", None, "x" * 1_500_000, role="assistant"),
    "wide": message("a", None, "日本語 " * 300_000),
    "markdown": message("a", None, "## head\n\n- item `code`\n\n" * 50_000, role="assistant"),
    "argument": _call({"path": "x.py", "content": "import os\n" * 150_000}),
    "argument in one line": _call({"command": "echo " * 300_000}),
    "nested argument": _call({"list": [{"key": number, "value": "v"} for number in range(50_000)]}),
    "many arguments": _call({f"name{number}": "value" for number in range(50_000)}),
    "long name": _call({"n" * 1_500_000: 1}),
    "edits": _call({"edits": [{"oldText": "a\n" * 500, "newText": "b\n" * 500}] * 1_000}),
    "output": message("a", None, "line of output\n" * 100_000, role="toolResult"),
    "exception": _result({"exception": "boom " * 300_000}),
    "diff": _result({"diff": "+added\n" * 200_000}),
    "nested calls": _result({"nested_calls": [{"tool_name": "t", "args": {"q": 1}}] * 30_000}),
    "id": message("a" * 1_500_000, None, "x"),
    "kind": {"type": "k" * 1_500_000, "id": "a", "parentId": None},
    "unknown": {"type": "later", "id": "a", "parentId": None, "field": ["value"] * 200_000},
    "summary": {"type": "compaction", "id": "a", "parentId": None, "summary": "said " * 300_000},
}
MANY_BLOCKS = message("a", None, role="assistant")
MANY_BLOCKS["message"]["content"] = [{"type": "text", "text": "block " * 1_500}] * 200


@pytest.mark.parametrize("view", [READ, RAW], ids=["read", "raw"])
@pytest.mark.parametrize("record", [*LARGE.values(), MANY_BLOCKS], ids=[*LARGE, "many blocks"])
def test_a_large_entry_is_bounded(
    record: dict[str, Any], view: View, handed_to_rich: list[int]
) -> None:
    session = one_entry(record)
    handed_to_rich.clear()
    rows = drawn(sections(session, 0, view))
    # four full sections, counted as they are parsed, as they are laid out, and as they are wrapped
    assert sum(handed_to_rich) < 4 * 3 * 8_000 + 12_000
    assert len(rows) < 4 * 400
    assert any(" more: m shows more" in row or "..." in row for row in rows)


@pytest.mark.parametrize("record", LARGE.values(), ids=LARGE)
def test_no_more_than_is_shown_is_ever_held(record: dict[str, Any]) -> None:
    for section in sections(one_entry(record), 0):
        assert len(section.text) < 2 * 8_000 + 2_000


def test_the_size_of_what_is_left_out_is_told() -> None:
    session = one_entry(message("a", None, "x" * 4_908_000))
    assert "… 4.9 MB more: m shows more" in said(session, 0)


def test_asking_for_more_shows_four_times_as_much() -> None:
    session = one_entry(message("a", None, "x" * 200_000))
    shown = [parts(session, 0, View(more=times))[1].text for times in range(4)]
    assert [len(text) for text in shown] == [8_000, 32_000, 128_000, 200_000]
    assert not any(isinstance(part, More) for part in parts(session, 0, View(more=3)))


def test_more_than_rich_can_bear_is_laid_out_without_it(handed_to_rich: list[int]) -> None:
    session = one_entry(message("a", None, "some words " * 45_000, role="assistant"))
    handed_to_rich.clear()
    rows = drawn(sections(session, 0, View(more=3)))
    assert letters("".join(rows)).count("somewords") == 45_000
    assert sum(handed_to_rich) < 5_000


def test_a_long_line_wraps() -> None:
    rows = drawn(sections(one_entry(message("a", None, "x" * 500, role="toolResult")), 0), 50)
    assert [row for row in rows if row and set(row) == {"x"}] == ["x" * 50] * 10


def test_a_budget_is_shared_with_its_whole() -> None:
    whole = Budget(40, 400)
    assert whole.part().take("0123456789ab") == ("0123456789", "ab")
    whole.take("x" * 25)
    assert whole.part().take("0123456789") == ("01234", "56789")
    assert whole.is_spent
    assert whole.part().take("more") == ("", "more")


def test_a_budget_counts_lines() -> None:
    assert Budget(100, 2).take("a\nb\nc\n") == ("a\nb", "\nc\n")
    assert Budget(100, 3).take("a\nb\nc") == ("a\nb\nc", "")


# Pictures and signs


def test_a_picture_is_named_where_it_cannot_be_drawn() -> None:
    rows = drawn(sections(fixture("08"), "9bd4de30"))
    assert "[image image/png, about 75 B]" in rows


def test_a_picture_is_drawn_where_it_can_be() -> None:
    pytest.importorskip("rich_pixels")
    rows = drawn(sections(fixture("08"), "9bd4de30"), pictures=True)
    assert any("▄" in row or "▀" in row for row in rows)


@pytest.mark.parametrize("data", ["", "no base64 !", base64.b64encode(b"GIF89a").decode(), "QUFB"])
def test_a_picture_that_is_none_is_only_named(data: str) -> None:
    record = message("a", None)
    record["message"]["content"] = [{"type": "image", "data": data, "mime_type": "image/png"}]
    rows = drawn(sections(one_entry(record), 0), pictures=True)
    assert any(row.startswith("[image image/png") for row in rows)


def test_signs_have_a_plain_spelling() -> None:
    text = "- item\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    rows = drawn([*sections(fixture("01"), "edb2b4ad"), *of_parts(Prose(text))], glyphs=ASCII)
    assert "\n".join(rows).isascii()
    assert any(row.startswith("> read") for row in rows)


def test_what_is_stored_is_spelled_as_it_is_in_ascii_too() -> None:
    rows = drawn(sections(one_entry(message("a", None, "→ … ─")), 0), glyphs=ASCII)
    assert "→ … ─" in [row.strip() for row in rows]


# What is found


def found(rows: list[str], width: int, sought: str) -> list[list[tuple[int, int, int]]]:
    return find_matches(
        rows, width, lambda text: [match.span() for match in re.finditer(sought, text)]
    )


def test_a_match_is_found_across_the_end_of_a_row() -> None:
    assert found(["hello wor", "ld again"], 9, "world") == [[(0, 6, 9), (1, 0, 2)]]
    assert found(["hello    ", "beautiful"], 9, "hello beau") == [[(0, 0, 5), (1, 0, 4)]]


def test_lines_that_merely_follow_each_other_are_not_joined() -> None:
    assert found(["foo", "bar"], 20, "foo ?bar") == []


def test_each_occurrence_is_found_where_it_stands() -> None:
    assert found(["  ab ab", "xab"], 20, "ab") == [[(0, 2, 4)], [(0, 5, 7)], [(1, 1, 3)]]


def test_a_part_that_cannot_be_laid_out_is_drawn_plainly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(text: str) -> None:
        raise RuntimeError(text)

    monkeypatch.setattr("tau_browser.tui.entry.draw.prose", fail)
    rows = drawn(of_parts(Prose("some text")))
    assert rows == ["(drawn plainly: RuntimeError)", "some text"]
