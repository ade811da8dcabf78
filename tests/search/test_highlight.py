"""Highlights lie on what was found, in any Unicode."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.analysis import fold_words, words
from tau_browser.search.clauses import How, Widened
from tau_browser.search.highlight import Highlighter, spans_of
from tau_browser.search.query import parse
from tests.search.test_folding import TRICKY


def marked(query: str, text: str, **widened: Widened) -> list[str]:
    """What is marked in a text."""
    marks = Highlighter(parse(query), widened).marks(text)
    return [text[start:stop] for start, stop in spans_of(marks)]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("run", "run, running; runs prune", ["run", "running", "runs"]),
        ('"run"', "run, running", ["run"]),
        ("ärger", "ÄRGER arger A\u0308rger", ["ÄRGER", "arger", "A\u0308rger"]),
        ("strasse", "Straße STRASSE", ["Straße", "STRASSE"]),
        ("header", "parseSessionHeader headers theheader", ["Header", "headers"]),
        ("sessionHeader", "session_header SessionHeader", ["session_header", "SessionHeader"]),
        ("session header", "SessionHeader", ["SessionHeader"]),
        ('"ssh port"', "ssh-port ssh  port sshport port", ["ssh-port", "ssh  port"]),
        ("1.2.3", "v1.2.3", ["1.2.3"]),
        ("C++", "in C++ or c", ["C++"]),
        ("搜索", "使用搜索引擎", ["搜索"]),
        ("搜索器", "使用搜索引擎", ["搜索"]),
        ("tantivy搜索", "用tantivy搜索", ["tantivy搜索"]),
        ("istanbul", "İstanbul", ["İstanbul"]),
        ('"a->b"', "a->b a b", ["a->b"]),
        ("/x+/ y", "xx y", ["xx", "y"]),
        ("!=", "a != b", ["!="]),
        ("a -b", "a b", ["a"]),
        ("the port", "the port", ["port"]),
    ],
)
def test_marks(query: str, text: str, expected: list[str]) -> None:
    assert marked(query, text) == expected


def test_marks_of_what_was_sought_instead() -> None:
    inside = Widened(How.INSIDE, ("commit", "mitigate"))
    assert marked("mit", "Commit to mitigate", mit=inside) == ["mit", "mit"]
    typo = Widened(How.TYPO, ("commit",))
    assert marked("commti", "to Commit, committed", commti=typo) == ["Commit"]


def test_each_mark_tells_its_term() -> None:
    marks = Highlighter(parse("ssh port")).marks("the port of ssh")
    assert [(mark.term.text, mark.start, mark.stop) for mark in marks] == [
        ("port", 4, 8),
        ("ssh", 12, 15),
    ]


def test_while_typing_beginnings_are_marked() -> None:
    text = "migrate parseMigration emigrate"
    marks = Highlighter(parse("migr", typing=True)).marks(text)
    assert [(text[mark.start : mark.stop], mark.start) for mark in marks] == [
        ("migr", 0),
        ("Migr", 13),
    ]


tricky = st.text(st.sampled_from(TRICKY), max_size=8)


@given(before=tricky, word=tricky.filter(lambda text: len(words(text)) > 0), after=tricky)
def test_marks_are_whole_and_hold_the_word(before: str, word: str, after: str) -> None:
    query = parse(f'"{word}"')
    term = query.sought
    if len(term) != 1 or not words(term[0].text):  # a quote or a backslash made it another
        return
    text = f"{before} {word} {after}"
    spans = spans_of(Highlighter(query).marks(text))
    assert all(0 <= start < stop <= len(text) for start, stop in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    first = words(term[0].text)[0]
    assert any(first in fold_words(text[start:stop]) for start, stop in spans), (text, spans)
