"""From text to what an index holds of it: words, their stems, and the parts of identifiers.

Words are what stands between characters that are neither letters nor digits; the index cuts them
itself. What it cannot cut is prepared here: the parts of parseSessionHeader (`identifiers`), the
characters and pairs of scripts that are written without spaces, 1.2.3 in v1.2.3, and C++
(`extras`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import regex
import tantivy

LONGEST_WORD = 160
"""Bytes. A longer stretch without a gap (a key, a picture as text) is no word."""

FIRST = "^"
"""Marks the first part of an identifier, so that no phrase runs from one into the next."""

MOST_PARTS = 8
"""A word that falls into more is a hash, not an identifier."""

_MOST_CACHED = 1 << 20
_ASCII_GAPS = {code: " " for code in range(128) if not chr(code).isalnum()}
_WORD = re.compile(r"[^\W_]+")
_PART = regex.compile(
    r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+|[^\p{Lu}\p{Ll}\p{N}]+"
)
_VERSION = re.compile(r"v(\d+(?:\.\d+)+)")
_SIGNED = re.compile(r"\b[A-Za-z]\w*(?:\+\+|#)")
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]+"
)
_MAY_BE_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\uffdc\U00020000-\U0003ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# Accents of Latin, Greek and Cyrillic; points of Hebrew and Arabic. Other marks are letters.
_ACCENT = re.compile("[\u0300-\u036f\u0591-\u05bd\u064b-\u0652]+")


def fold_form(text: str) -> str:
    """Text as words are cut from it: one normal form, without accents; case stays."""
    if text.isascii():
        return text
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare)


def fold_words(text: str) -> str:
    """Text as words are compared: also in one case."""
    return text.lower() if text.isascii() else fold_form(fold_form(text).casefold())


def indexed(text: str) -> str:
    """Text as the index is given it. ASCII goes as it is: the index lowers it faster."""
    if text.isascii():
        return text
    folded = _SURROGATE.sub("\ufffd", fold_words(text))
    return _UNSPACED.sub(r" \g<0> ", folded) if _MAY_BE_UNSPACED.search(folded) else folded


def identifiers(text: str) -> str:
    """The identifiers of a text that the index cannot cut itself, each in its parts, the first of
    which is marked; all parted by blanks."""
    if text.isascii():
        words = text.translate(_ASCII_GAPS).split()
    else:
        words = _WORD.findall(_SURROGATE.sub("\ufffd", fold_form(text)))
    return " ".join(filter(None, map(_PARTS.__getitem__, words)))


def extras(text: str) -> str:
    """What else the index cannot cut from a text itself, parted by blanks."""
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", fold_form(text))
    found: list[str] = _VERSION.findall(text)
    if _may_be_signed(text):
        found += [word.lower() for word in _SIGNED.findall(text)]
    if _MAY_BE_UNSPACED.search(text):
        found += [_spaced(run) for run in unspaced(text.casefold())]
    return " ".join(found)


def parts(word: str) -> list[str]:
    """The parts of an identifier without gaps, folded: parse, session, header."""
    return [fold_words(part) for part in _PART.findall(fold_form(word))]


def unspaced(text: str) -> list[str]:
    """The stretches of a folded text in scripts that are written without spaces."""
    return list(_UNSPACED.findall(text))


def pairs(run: str) -> list[str]:
    """Each character with the one after it."""
    return [run[at : at + 2] for at in range(len(run) - 1)]


def words(text: str) -> list[str]:
    """The words of a text as the index cuts them."""
    return _analyzers()["word"].analyze(indexed(text))


def stem(word: str) -> str:
    """What is left of an English word without its ending; "" where the index keeps none."""
    return "".join(_analyzers()["stem"].analyze(word)[:1])


def signed(word: str) -> list[str]:
    """Names with a sign and numbers with dots, which the index keeps whole: c++, 1.2.3."""
    found = _VERSION.findall(f"v{word}") if word[:1].isdigit() else _VERSION.findall(word)
    return found + [name.lower() for name in _SIGNED.findall(word)]


def register(index: tantivy.Index) -> None:
    """Teach an index the analyzers that its fields name."""
    for name, analyzer in _analyzers().items():
        index.register_tokenizer(name, analyzer)


@cache
def _analyzers() -> dict[str, tantivy.TextAnalyzer]:
    def words() -> tantivy.TextAnalyzerBuilder:
        long = tantivy.Filter.remove_long(LONGEST_WORD)
        cut = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        return cut.filter(long).filter(tantivy.Filter.lowercase())

    blanks = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return {
        "word": words().build(),
        "stem": words().filter(tantivy.Filter.stemmer("english")).build(),
        "extra": blanks.build(),
    }


class _Parts(dict[str, str]):
    """What a word adds to the extras: its parts, or "" where it has only one or too many."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_CACHED:
            self.clear()
        found = parts(word) if len(word) < LONGEST_WORD else []
        usable = 1 < len(found) <= MOST_PARTS
        self[word] = FIRST + " ".join(found) if usable else ""
        return self[word]


_PARTS = _Parts()


def _may_be_signed(text: str) -> bool:
    """Whether to look for names with signs: in most texts a "#" begins something."""
    return "++" in text or any(before[-1:].isalnum() for before in text.split("#")[:-1])


def _spaced(run: str) -> str:
    """Characters, then pairs, which also keep phrases of characters from running on."""
    return " ".join([*run, *(pairs(run) or FIRST)])
