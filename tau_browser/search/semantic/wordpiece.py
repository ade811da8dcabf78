"""Text as the pieces of words that MiniLM knows: BERT's uncased vocabulary, in plain Python.

Two ways lead from a text to words. `bert_words` is the one MiniLM was trained with, and feeds the
model itself. `PlainPieces` feed the static table: they open up identifiers, so that `parseFrame`
and "parse frame" are the same words, and leave out what says nothing by itself: punctuation, and
other scripts than Latin, of which the vocabulary knows single letters only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import regex

Ids = tuple[int, ...]
"""Places of word pieces in the vocabulary."""

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
# BERT gives up on longer words; here that also keeps a word without spaces from taking for ever.
_LONGEST_WORD = 100
# Words remembered: some 50 MB when full. Logs are full of words that come once.
_REMEMBERED = 200_000

_PLAIN_WORD = re.compile("[0-9A-Za-zÀ-ÖØ-öø-ɏ]+")
_PART = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\d+")
_INVISIBLE = regex.compile(r"[^\P{C}\s]|\ufffd")
# BERT sets each of these apart: punctuation, ASCII symbols too, and Chinese characters.
_BERT_WORD = regex.compile(r"[\p{P}!-/:-@\[-`{-~\p{Han}]|[^\s\p{P}!-/:-@\[-`{-~\p{Han}]+")


class WordPiece:
    """A vocabulary, and the longest-match-first rule that cuts words into its pieces."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: place for place, piece in enumerate(vocabulary)}
        self.unknown, self.start, self.end = (self._ids[name] for name in (UNKNOWN, START, END))

    def __len__(self) -> int:
        return len(self._ids)

    def pieces(self, word: str) -> Ids:
        """The pieces of one word in lower case; the unknown piece where it cannot be cut."""
        if len(word) > _LONGEST_WORD:
            return (self.unknown,)
        found: list[int] = []
        at, prefix = 0, ""
        while at < len(word):
            for stop in range(len(word), at, -1):
                place = self._ids.get(prefix + word[at:stop])
                if place is not None:
                    found.append(place)
                    break
            else:
                return (self.unknown,)
            at, prefix = stop, "##"
        return tuple(found)


class PlainPieces(dict[str, Ids]):
    """The pieces of words as `plain_words` gives them, each worked out once.

    What the vocabulary does not know is left out: it has no meaning to add.
    """

    def __init__(self, wordpiece: WordPiece) -> None:
        super().__init__()
        self._wordpiece = wordpiece

    def __missing__(self, word: str) -> Ids:
        pieces = [piece for part in _parts(word) for piece in self._wordpiece.pieces(part)]
        known = tuple(piece for piece in pieces if piece != self._wordpiece.unknown)
        if len(self) >= _REMEMBERED:
            self.clear()
        if len(word) <= _LONGEST_WORD:
            self[word] = known
        return known


def plain_words(text: str) -> list[str]:
    """The words of a text in the Latin script, without accents, in the case they are written in."""
    return _PLAIN_WORD.findall(text if text.isascii() else _without_accents(text))


def bert_words(text: str) -> Iterator[str]:
    """The words of a text as BERT's uncased tokenizer parts them: lower case, no accents, each
    punctuation mark and each Chinese character by itself."""
    visible = _INVISIBLE.sub("", text)
    for word in _BERT_WORD.finditer(_without_accents(visible.lower())):
        yield word.group()


def _parts(word: str) -> Iterator[str]:
    """The words that an identifier is made of, in lower case: HTTPServer2 is http, server, 2."""
    for part in _PART.finditer(word):
        yield part.group().lower()


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(char for char in decomposed if unicodedata.category(char) != "Mn")
