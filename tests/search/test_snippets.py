"""The lines that hits are shown in: all terms in view, be they deep or far apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.find import Snippet
from tau_browser.search.highlight import Highlighter
from tau_browser.search.query import parse
from tau_browser.search.semantic.table import static_table
from tau_browser.search.snippets import WIDTH, snippet_near, snippet_of

FILLER = "the invoice has a font and nothing else of note in it. " * 40


def shown(query: str, text: str) -> Snippet:
    return snippet_of(text, Highlighter(parse(query)).marks(text))


def marked(found: Snippet) -> list[str]:
    return [found.text[start:stop] for start, stop in found.marks]


def test_a_deep_match_is_in_view() -> None:
    found = shown("needle", FILLER + "a needle here. " + FILLER)
    assert marked(found) == ["needle"]
    assert len(found.text) <= WIDTH + 2


def test_where_the_terms_stand_together_is_shown_rather_than_the_first_of_them() -> None:
    found = shown("needle thread", f"needle. {FILLER} needle and thread. {FILLER}")
    assert marked(found) == ["needle", "thread"]


def test_terms_far_apart_are_both_in_view() -> None:
    found = shown("needle thread", f"{FILLER} thread. {FILLER} needle. {FILLER}")
    assert marked(found) == ["thread", "needle"]
    assert found.text.count("…") == 3
    assert len(found.text) <= WIDTH + 3


@given(st.lists(st.sampled_from(["needle", "thread", "é", "日本", FILLER[:55]]), max_size=30))
def test_marks_lie_on_what_matched(words: list[str]) -> None:
    text = " ".join(words)
    marks = Highlighter(parse("needle thread 日本")).marks(text)
    if not marks:
        return
    found = snippet_of(text, marks)
    assert marked(found)
    for said in marked(found):  # a mark may be cut where the snippet ends
        assert any(word.startswith(said) for word in ("needle", "thread", "日本"))
    ends = [0, *(place for mark in found.marks for place in mark)]
    assert ends == sorted(ends)


@pytest.mark.parametrize("before", [0, 1, 5])
def test_what_means_the_same_is_shown_from_its_sentence_on(before: int) -> None:
    table = static_table()
    (vector,) = table.encode(["how do we store the sessions"])
    said = "Conversations are kept in a database on disk."
    found = snippet_near(FILLER * before + said + " " + FILLER * 2, vector, table.encode)
    assert found.text.removeprefix("…").startswith(said)
    assert not found.marks


@pytest.mark.parametrize("text", ["", "...", "\n\n", "word"])
def test_texts_without_sentences(text: str) -> None:
    table = static_table()
    (vector,) = table.encode(["word"])
    assert (
        snippet_near(text, vector, table.encode).text.strip() == text.replace("\n", "␊").strip()
        or not text.strip()
    )
