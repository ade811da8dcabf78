"""Folding: what counts as the same text, and the way back to where it stands."""

from __future__ import annotations

import json
import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search import prefilter
from tau_browser.search.folding import Folded, fold_case, fold_form
from tests.search.conftest import TRICKY

tricky_text = st.text(st.sampled_from(TRICKY), max_size=12) | st.text(max_size=12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("é", "e\u0301"),
        ("STRASSE", "straße"),
        ("ΟΔΟΣ", "οδος"),
        ("İstanbul", "istanbul"),
        ("I\u0307stanbul", "istanbul"),
        ("ＰＬＡＮ", "plan"),
        ("БД", "бд"),
        ("ﬁle", "file"),
        ("Ϊ\u0301", "ΐ"),
        ("Kelvin \u212a", "kelvin k"),
    ],
)
def test_people_call_these_the_same(one: str, other: str) -> None:
    assert fold_case(one) == fold_case(other)


def test_dotless_i_is_another_letter() -> None:
    assert fold_case("ısı") != fold_case("isi")


def test_case_stays_where_it_matters() -> None:
    assert fold_form("Ｐlan e\u0301") == "Plan é"


@pytest.mark.parametrize("fold", [fold_case, fold_form])
@given(text=tricky_text)
def test_pieces_fold_to_the_whole_and_lead_back(fold, text: str) -> None:
    folded = Folded(text, fold)
    assert folded.text == fold(text)
    ranges = [folded.stored(at, at + 1) for at in range(len(folded.text))]
    # every stored range is whole, they follow each other, and each folds to what it stands for
    distinct = sorted(set(ranges))
    assert ranges == sorted(ranges)
    assert all(one[1] <= other[0] for one, other in pairwise(distinct))
    for start, stop in distinct:
        here = "".join(
            char for char, at in zip(folded.text, ranges, strict=True) if at == (start, stop)
        )
        assert fold(text[start:stop]) == here


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@given(text=st.text(st.sampled_from("aeéßİ\u0301\u0308가Å ﬁ"), max_size=10))
def test_the_spelling_of_a_character_does_not_matter(form: str, text: str) -> None:
    assert fold_case(unicodedata.normalize(form, text)) == fold_case(text)


def test_every_character_that_folds_to_a_word_is_known_by_its_escape() -> None:
    """What the prefilter takes for granted about Unicode, tried on all of it."""
    unknown = [
        hex(code)
        for code in range(0x80, sys.maxunicode + 1)
        if prefilter.WORD.search(fold_case(chr(code)) + fold_form(chr(code)))
        and not prefilter.ASCII_ESCAPE.search(json.dumps(chr(code)).encode())
    ]
    assert unknown == []


def test_every_escape_of_printable_ascii_is_known() -> None:
    codes = range(0x21, 0x7F)
    assert all(prefilter.ASCII_ESCAPE.search(b"\\u%04X" % code) for code in codes)
    assert prefilter.ASCII_ESCAPE.search(b"\\u0307")
