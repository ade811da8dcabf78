"""The query language: what is meant, what is literal, what is wrong and where."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.filters import FILTERS
from tau_browser.search.query import BadQuery, Kind, Query, Term, completions, parse
from tests.conftest import DATA

NOW = datetime(2026, 3, 10, 12, 30, tzinfo=UTC)
CASE_59 = json.loads((DATA / "bugcases" / "59-search-fts-syntax" / "expect.json").read_bytes())


def terms(text: str, **options: Any) -> list[tuple[str, str]]:
    """Terms as (kind, text), the kind of an excluded one with a minus."""
    query = parse(text, now=NOW, **options)
    return [("-" * term.negated + term.kind, term.text) for term in query.terms]


def filters(text: str) -> list[tuple[str, Any]]:
    query = parse(text, now=NOW)
    return [("-" * each.negated + each.name, each.value) for each in query.filters]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssh port", [("word", "ssh"), ("word", "port")]),
        ('"ssh port"', [("phrase", "ssh port")]),
        (r'"say \"hi\" \\"', [("phrase", 'say "hi" \\')]),
        (r"/ssh-\d+/", [("regex", r"ssh-\d+")]),
        (r"/a b/ c", [("regex", "a b"), ("word", "c")]),
        (r"/a\/b/", [("regex", "a/b")]),
        ("ssh -telnet", [("word", "ssh"), ("-word", "telnet")]),
        ('ssh -"port 22" -/x+/', [("word", "ssh"), ("-phrase", "port 22"), ("-regex", "x+")]),
    ],
)
def test_terms(text: str, expected: list[tuple[str, str]]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    "word",
    [
        *(
            '"',
            '"unbalanced',
            'a"b',
            '""',
            "a*b",
            "*",
            "-",
            "--",
            "--error-on",
            "-DFOO",
            "(",
            "[x]",
        ),
        *("x:y", "col:value", "node:fs", "std::vector", "http://x/y", "role:", ":", "since:", "a:"),
        *("/", "//", "/usr/bin", "/usr/bin/", "C:\\temp\\", "\\", "^a", "a|b", "NOT", "AND", "OR"),
        *("';drop", "{curly}", "50%", "_", "?", "+", "!=", "#1234", "foo->bar", "né"),
    ],
)
def test_all_else_is_text_to_be_found_as_it_is(word: str) -> None:
    assert terms(word) == [("word", word)]


@pytest.mark.parametrize("search", CASE_59["search"], ids=lambda search: search["q"])
@pytest.mark.parametrize("typing", [False, True])
def test_case_59_never_raises(search: dict[str, Any], typing: bool) -> None:
    query = parse(search["q"], typing=typing)
    assert query.terms and not query.filters


def test_exclusions_need_something_beside_them() -> None:
    assert terms("-DFOO -x") == [("word", "-DFOO"), ("word", "-x")]
    assert terms("-role:user -x") == [("-word", "x")]
    assert terms("make -DFOO") == [("word", "make"), ("-word", "DFOO")]


@pytest.mark.parametrize("text", ["", "  ", "\t\n", "\u200b", "\u200b \ufeff"])
def test_blank(text: str) -> None:
    assert parse(text).is_blank


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("role:user", [("role", "user")]),
        ("ROLE:ToolResult", [("role", "toolResult")]),
        ("role:tool", [("role", "toolResult")]),
        ("kind:customMessage", [("kind", "custommessage")]),
        ("-tool:Bash", [("-tool", "bash")]),
        ('project:"my dir"', [("project", "my dir")]),
        (
            "branch:active is:error has:image",
            [("branch", "path"), ("is", "error"), ("has", "image")],
        ),
        ("signal:0.5 -signal:.35 signal:1", [("signal", 50), ("-signal", 35), ("signal", 100)]),
        ("severity:3 Tag:Retry", [("severity", 3), ("tag", "retry")]),
        ("stage:act metric:ms event:note", [("stage", "act"), ("metric", "ms"), ("event", "note")]),
    ],
)
def test_filters(text: str, expected: list[tuple[str, Any]]) -> None:
    assert filters(text) == expected


@pytest.mark.parametrize(
    ("since", "until", "start", "stop"),
    [
        ("2026-03-01", "2026-03-01", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("2026-03-01T14:30", "2026-03-01T14:30", "2026-03-01T14:30", "2026-03-01T14:30"),
        ("today", "today", "2026-03-10T00:00", "2026-03-11T00:00"),
        ("yesterday", "Yesterday", "2026-03-09T00:00", "2026-03-10T00:00"),
        ("2d", "2d", "2026-03-08T12:30", "2026-03-08T12:30"),
        ("3w", "12h", "2026-02-17T12:30", "2026-03-10T00:30"),
    ],
)
def test_times(since: str, until: str, start: str, stop: str) -> None:
    milliseconds = [
        datetime.fromisoformat(f"{moment}+00:00").timestamp() * 1000 for moment in (start, stop)
    ]
    assert filters(f"since:{since} until:{until}") == [
        ("since", milliseconds[0]),
        ("until", milliseconds[1]),
    ]


def test_days_are_counted_where_the_clock_is() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=13)))
    (today,) = parse("since:today", now=east).filters
    assert today.value == datetime.fromisoformat("2026-03-11T00:00+13:00").timestamp() * 1000


@pytest.mark.parametrize(
    ("text", "word", "reason"),
    [
        ("ssh /a(b/ x", "/a(b/", "not a regular expression"),
        ("x role:asistant", "role:asistant", "assistant"),
        ("since:soon x", "since:soon", "2026-03-01"),
        ("until:2026-13-01", "until:2026-13-01", "today"),
        ("x -branch:left", "-branch:left", "abandoned"),
        ("is:good", "is:good", "recall"),
        ("has:picture", "has:picture", "image"),
    ],
)
def test_what_is_wrong_and_where(text: str, word: str, reason: str) -> None:
    with pytest.raises(BadQuery) as raised:
        parse(text, now=NOW)
    assert text[raised.value.start : raised.value.stop] == word
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("how did we fix the login", False),
        ("tcp/ip and/or -x", False),
        ('"exact"', True),
        ("/x+/ y", True),
        ("!=", True),
        ("path/to/file", True),
        ("src/app.py", True),
        ("./run", True),
        ("~/.config", True),
        ("config.toml:42", True),
        ('login -"exact"', False),
    ],
)
def test_exact_queries_leave_no_room_for_likeness(text: str, exact: bool) -> None:
    assert parse(text).is_exact is exact


def test_while_typing_the_end_is_open() -> None:
    assert terms("ssh po", typing=True) == [("word", "ssh"), ("prefix", "po")]
    assert terms("ssh po ", typing=True) == [("word", "ssh"), ("word", "po")]
    assert terms('"ssh po', typing=True) == [("phrase", "ssh po")]
    assert terms("ssh role:", typing=True) == [("word", "ssh")]
    assert terms("ssh role:user", typing=True) == [("word", "ssh")]


def test_completions() -> None:
    def offered(text: str, cursor: int | None = None, **known: list[str]) -> list[str]:
        cursor = len(text) if cursor is None else cursor
        return [
            text[: each.start] + each.text + text[each.stop :]
            for each in completions(text, cursor, known)
        ]

    assert offered("ssh ro") == ["ssh role:"]
    assert offered("-is:e x", 5) == ["-is:error x", "-is:recall x"]
    assert offered("branch:ab") == ["branch:abandoned"]
    assert offered("tool:b", tool=["bash", "My Bench"]) == ["tool:bash", 'tool:"My Bench"']
    assert offered("nothing:x") == offered("ssh ") == offered('"in a ro') == []


@given(st.text(st.sampled_from('ab "/\\-:()*x\n\u200brole: since:2d é'), max_size=30))
def test_anything_parses_or_says_where_it_does_not(text: str) -> None:
    try:
        query = parse(text, now=NOW)
    except BadQuery as error:
        assert 0 <= error.start < error.stop <= len(text)
        return
    places = [(each.start, each.stop) for each in (*query.terms, *query.filters)]
    assert all(0 <= start < stop <= len(text) for start, stop in places)
    assert all(text[start:stop].strip() == text[start:stop] for start, stop in places)


@pytest.mark.parametrize(
    "unit", ["x", "word ", "- ", '"', "/", "a:", '"a ', "-a ", "a/", "(", "\n"]
)
def test_long_queries_are_read_in_one_go(unit: str) -> None:
    query = parse(unit * (100_000 // len(unit)), typing=True)
    assert len([term.is_exact for term in query.terms]) <= 50_000


def test_every_filter_says_what_it_means() -> None:
    for name, kind in FILTERS.items():
        assert kind.name == name and kind.meaning
        assert kind.values or kind.hint


def test_queries_are_values() -> None:
    assert parse("a role:user", now=NOW) == parse("a role:user", now=NOW)
    assert Query("a", (Term(Kind.WORD, "a", 0, 1),)) == parse("a")
