"""Texts as pieces of words: BERT's own way, and the plain way of the static table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.semantic import wordpiece
from tau_browser.search.semantic.table import static_table
from tau_browser.search.semantic.wordpiece import PlainPieces, WordPiece, bert_words, plain_words

VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "un", "##able", "##aff", "parse", "frame", "http", "2"]


@pytest.fixture
def pieces() -> WordPiece:
    return WordPiece(VOCABULARY)


def names(ids: tuple[int, ...]) -> list[str]:
    return [VOCABULARY[place] for place in ids]


@pytest.mark.parametrize(
    ("word", "cut"),
    [
        ("parse", ["parse"]),
        ("unaffable", ["un", "##aff", "##able"]),
        ("able", ["[UNK]"]),
        ("unx", ["[UNK]"]),
        ("", []),
    ],
)
def test_the_longest_piece_first(pieces: WordPiece, word: str, cut: list[str]) -> None:
    assert names(pieces.pieces(word)) == cut


def test_a_word_without_end_is_unknown() -> None:
    wordpiece = static_table().wordpiece
    assert wordpiece.pieces("a" * 100) != (wordpiece.unknown,)
    assert wordpiece.pieces("a" * 101) == (wordpiece.unknown,)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("don't_stop", ["don", "'", "t", "_", "stop"]),
        ("naïve CAFÉ", ["naive", "cafe"]),
        ("数据库 ok", ["数", "据", "库", "ok"]),
        ("a\u200bb\x07c\ufffd\n\td", ["abc", "d"]),
        ("[CLS]", ["[", "cls", "]"]),
        ("\u3000", []),
    ],
)
def test_words_as_bert_parts_them(text: str, words: list[str]) -> None:
    assert list(bert_words(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parse_frame(x)", ["parse", "frame", "x"]),
        ("src/http.py:12", ["src", "http", "py", "12"]),
        ("Ångström", ["Angstrom"]),
        ("-- ... !", []),
        ("数据库 utf8編集 Привет", ["utf8"]),
    ],
)
def test_plain_words_leave_out_punctuation(text: str, words: list[str]) -> None:
    assert plain_words(text) == words


@pytest.mark.parametrize("word", ["parseFrame", "ParseFrame", "parseFRAME", "PARSEFrame"])
def test_an_identifier_is_its_words(pieces: WordPiece, word: str) -> None:
    assert names(PlainPieces(pieces)[word]) == ["parse", "frame"]


def test_abbreviations_and_numbers_are_words_of_an_identifier(pieces: WordPiece) -> None:
    assert names(PlainPieces(pieces)["HTTPParse2Frame"]) == ["http", "parse", "2", "frame"]


def test_what_nobody_knows_is_left_out(pieces: WordPiece) -> None:
    assert PlainPieces(pieces)["qqqParse"] == (VOCABULARY.index("parse"),)


def test_not_every_word_ever_seen_is_kept(
    pieces: WordPiece, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wordpiece, "_REMEMBERED", 3)
    known = PlainPieces(pieces)
    for number in range(20):
        assert known[f"parse{number}"][0] == VOCABULARY.index("parse")
        assert len(known) <= 3
    assert known["Parse" * 100] == (VOCABULARY.index("parse"),) * 100
    assert "Parse" * 100 not in known


@given(st.text())
def test_any_text_has_pieces(text: str) -> None:
    wordpiece = static_table().wordpiece
    for word in [*bert_words(text), *plain_words(text)]:
        assert all(0 <= place < len(wordpiece) for place in wordpiece.pieces(word))
