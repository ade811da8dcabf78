"""What an index holds of a text."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given

from tau_browser.search.analysis import (
    LONGEST_WORD,
    extras,
    fold_form,
    fold_words,
    identifiers,
    indexed,
    parts,
    signed,
    stem,
    words,
)
from tau_browser.search.folding import Folded
from tests.search.test_folding import tricky_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "call parseSessionHeader() in session_store.py",
            "call parsesessionheader in session store py",
        ),
        ("--error-on-warnings -DFOO=1", "error on warnings dfoo 1"),
        ("std::vector<int> a.b.c", "std vector int a b c"),
        ("/home/u/.config/app.toml:42", "home u config app toml 42"),
        ("ÄRGER Straße İstanbul", "arger strasse istanbul"),
        ("ΟΔΟΣ οδός БД й ё", "οδοσ οδοσ бд и е"),
        ("ﬁle ＰＬＡＮ e\u0301", "file plan e"),
        ("使用tantivy索引", "使用 tantivy 索引"),
        ("עִבְרִית عَرَبِي", "עברית عربي"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("parseSessionHeader", "parse session header"),
        ("HTTPServer2XX", "http server 2 xx"),
        ("XMLHttpRequest", "xml http request"),
        ("iOS", "i os"),
        ("v2", "v 2"),
        ("ÄrgerLog", "arger log"),
        ("СловоОдин", "слово один"),
        ("plain", "plain"),
    ],
)
def test_parts_of_identifiers(word: str, expected: str) -> None:
    assert parts(word) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a plain text, nothing else", ""),
        ("parseHeader and getName", "^parse header ^get name"),
        ("v1.2.3-rc.1", "^v 1 1.2.3"),
        ("C++ and C# but # no", "c++ c#"),
        ("会话 x 引", "会 话 会话 引 ^"),
        ("ガギ ｶﾞ", "ガ ギ ガギ ガ ^"),
        ("a1b2c3d4e5f6a7b8", ""),  # a hash
    ],
)
def test_extras(text: str, expected: str) -> None:
    assert " ".join(filter(None, (identifiers(text), extras(text)))) == expected


def test_names_with_signs() -> None:
    assert signed("C++") == ["c++"] and signed("1.2.3") == ["1.2.3"] == signed("v1.2.3")
    assert signed("c") == signed("#1") == signed("12") == []


def test_stems_are_english() -> None:
    assert stem("running") == stem("runs") == "run"
    assert stem("") == ""


def test_what_is_too_long_is_no_word() -> None:
    assert words("a " + "x" * LONGEST_WORD) == ["a"]
    assert identifiers("aB" * 5000) == ""


def test_lone_surrogates_can_be_indexed() -> None:
    assert indexed("x\ud800y").encode() and extras("aB\ud800 会").encode()
    assert identifiers("aB\ud800").encode()


def test_no_letter_is_lost_by_taking_accents_off() -> None:
    letters = (chr(code) for code in range(sys.maxunicode) if chr(code).isalpha())
    assert [letter for letter in letters if not fold_words(letter)] == []


@given(text=tricky_text)
def test_folded_words_lead_back_to_the_text(text: str) -> None:
    folded = Folded(text, fold_words)
    assert folded.text == fold_words(text)
    ranges = [folded.stored(at, at + 1) for at in range(len(folded.text))]
    assert ranges == sorted(ranges)
    assert all(0 <= start < stop <= len(text) for start, stop in ranges)


@given(text=tricky_text)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_words(fold_words(text)) == fold_words(text)
    assert fold_form(fold_form(text)) == fold_form(text)
