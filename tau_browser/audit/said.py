"""What the model said, entry by entry: its texts, its thinking and its tool calls, and their words.

One pass over the assistant entries of a session; all that the audit compares is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tau_browser.audit.citations import names_documents
from tau_browser.model.format import TAU, Format
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import Call, Text, Thinking, blocks_of, lines_of
from tau_browser.model.session import Session, records_at
from tau_browser.search.folding import fold_case

# A character of a script without spaces is a word of its own: runs of them are compared as well.
_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
BYTE_WORDS = bytes(ord(_ASCII_WORDS.get(code, chr(code))) for code in range(256))
"""For bytes.translate: what is not of a word in ASCII becomes blank, the rest lower case."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]|[^\W_]+")


class Passage(NamedTuple):
    """A text that the model said. part: "text", "thinking" or "arguments"."""

    part: str
    text: str


class Said:
    """An assistant entry that says something. What is asked of it is worked out once."""

    __slots__ = ("_may_cite", "_passages", "_vocabulary", "_words", "calls", "place", "spoken")

    def __init__(self, place: int, calls: list[Call], spoken: list[Passage]) -> None:
        self.place = place
        self.calls = calls
        self.spoken = spoken
        self._may_cite: bool | None = None
        self._passages: list[Passage] | None = None
        self._words: list[list[str]] | None = None
        self._vocabulary: frozenset[str] | None = None

    @property
    def passages(self) -> list[Passage]:
        """Its texts, in order, the arguments of its calls last."""
        if self._passages is None:
            given = [Passage("arguments", _arguments(call.arguments)) for call in self.calls]
            self._passages = [*self.spoken, *given] if given else self.spoken
        return self._passages

    @property
    def may_cite(self) -> bool:
        """False where surely no document is named by its id."""
        if self._may_cite is None:
            self._may_cite = names_documents("\n".join([text for _, text in self.passages]))
        return self._may_cite

    @property
    def words(self) -> list[list[str]]:
        """The words of each passage."""
        if self._words is None:
            self._words = [words_of(passage.text) for passage in self.passages]
        return self._words

    @property
    def vocabulary(self) -> frozenset[str]:
        """The words of all of them."""
        if self._vocabulary is None:
            self._vocabulary = frozenset().union(*self.words)
        return self._vocabulary


def words_of(text: str) -> list[str]:
    """The words of a text, in one case and form."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    return _WORD.findall(fold_case(text))


def _arguments(value: Any) -> str:
    try:
        return "\n".join(value.values())  # most are texts, and nothing else
    except (AttributeError, TypeError):
        return "\n".join(lines_of(value))


def word_spans(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The words of a text and where each stands in it. Folding moves characters: each word is
    folded by itself here, which for all but a few signs gives the same words."""
    found = list(_WORD.finditer(text))
    return [fold_case(each[0]) for each in found], [each.span() for each in found]


def said_in(session: Session) -> list[Said]:
    """All that the model said in a session, in file order, without entries that say nothing."""
    columns = session.columns
    places = np.flatnonzero(session.roles.where(columns.role, "assistant")).astype(np.int32)
    raws = records_at(session.source, columns, places)
    is_plain = session.format is TAU  # others are put into shape first
    found = (
        (is_plain and _said(place, raw)) or _oddly_said(place, session.format, raw)
        for place, raw in zip(places.tolist(), raws, strict=True)
    )
    return [said for said in found if said.calls or said.spoken]


class _Block(msgspec.Struct, gc=False):
    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    arguments: Any = None


class _Message(msgspec.Struct, gc=False):
    content: list[_Block]


class _Record(msgspec.Struct, gc=False):
    message: _Message


_decode = msgspec.json.Decoder(_Record).decode


def _said(place: int, raw: bytes) -> Said | None:
    """What a record says; None if it is not spelled as τ spells it."""
    try:
        blocks = _decode(raw).message.content
    except (msgspec.DecodeError, RecursionError):
        return None
    calls, spoken = [], []
    for block in blocks:
        if block.type == "toolCall":
            calls.append(Call(block.id, block.name, block.arguments))
        elif block.text:
            spoken.append(Passage("text", block.text))
        elif block.thinking:
            spoken.append(Passage("thinking", block.thinking))
    return Said(place, calls, spoken)


def _oddly_said(place: int, shape: Format, raw: bytes) -> Said:
    """The same of any record."""
    blocks = blocks_of(shape.record(decode_record(raw)))
    calls = [block for block in blocks if isinstance(block, Call)]
    return Said(place, calls, list(_spoken(blocks)))


def _spoken(blocks: list[Any]) -> Iterator[Passage]:
    for block in blocks:
        if isinstance(block, Text | Thinking) and block.text:
            yield Passage("text" if isinstance(block, Text) else "thinking", block.text)
