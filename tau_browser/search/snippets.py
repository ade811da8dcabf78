"""The lines in which hits are shown: where their terms stand together, else where they stand
apart, else the sentence that means most nearly what is sought."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from tau_browser.search.documents import pieces
from tau_browser.search.find import Snippet, Span, snippet
from tau_browser.search.highlight import Mark, spans_of
from tau_browser.search.semantic.int8 import Floats

WIDTH = 100
"""Code points of a snippet."""

Encode = Callable[[Sequence[str]], Floats]
"""From texts to vectors of length 1, a row each."""

# What comes later in a text is not embedded either (`semantic.embedding`).
_MOST_PIECES = 32
_SENTENCE = re.compile(r"[^\s.!?。！？](?:[^.!?。！？\n]|[.!?](?=\S))*")


def snippet_of(text: str, marks: Sequence[Mark]) -> Snippet:
    """A text around its marks: where most of the terms stand close together, and another place
    if that lacks some."""
    spans = spans_of(marks)
    terms = {mark.term.start for mark in marks}
    first, covered = _densest(marks, WIDTH // 2)
    if len(covered) == len(terms):
        return snippet(text, spans, WIDTH, first=first)
    half = WIDTH // 2
    first, covered = _densest(marks, half // 2)
    other, _ = _densest([mark for mark in marks if mark.term.start not in covered], half // 2)
    if abs(other - first) <= half:
        return snippet(text, spans, WIDTH, first=min(first, other))
    ahead, behind = (snippet(text, spans, half, first=at) for at in sorted((first, other)))
    shift = len(ahead.text) - 1  # one … between them is enough
    marks_behind = [(start + shift, stop + shift) for start, stop in behind.marks]
    return Snippet(ahead.text[:-1] + behind.text, [*ahead.marks, *marks_behind])


def snippet_near(text: str, vector: Floats, encode: Encode) -> Snippet:
    """A text from the sentence on whose vector is nearest to another."""
    ranges = pieces(text)[:_MOST_PIECES]
    if len(ranges) > 1:
        start, stop = ranges[_nearest([text[slice(*each)] for each in ranges], vector, encode)]
    else:
        start, stop = 0, len(text)
    sentences: list[Span] = [found.span() for found in _SENTENCE.finditer(text, start, stop)]
    if not sentences:
        return snippet(text, [], WIDTH)
    said = [text[slice(*each)] for each in sentences]
    first = sentences[_nearest(said, vector, encode)][0]
    return snippet(text, [], WIDTH, first=first, lead=0)


def _nearest(texts: Sequence[str], vector: Floats, encode: Encode) -> int:
    return int(np.argmax(np.einsum("ij,j->i", encode(texts), vector)))


def _densest(marks: Sequence[Mark], width: int) -> tuple[int, set[int]]:
    """The start of the first stretch of some code points in which most terms begin; and them, by
    where they stand in the query."""
    best, covered = marks[0].start, {marks[0].term.start}
    inside: Counter[int] = Counter()
    first = 0
    for mark in marks:
        inside[mark.term.start] += 1
        while mark.start - marks[first].start > width:
            behind = marks[first].term.start
            inside[behind] -= 1
            if not inside[behind]:
                del inside[behind]
            first += 1
        if len(inside) > len(covered):
            best, covered = marks[first].start, set(inside)
    return best, covered
