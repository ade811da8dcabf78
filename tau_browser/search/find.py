"""Finding inside one session: every entry whose text holds a string, or matches an expression.

What is searched is `Session.text`: what was said, tool names and arguments, tool output,
summaries, names; never the data of an image.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex

from tau_browser.model.columns import Int64s
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session
from tau_browser.model.text import safe_line
from tau_browser.search.folding import Fold, Folded, fold_case, fold_form
from tau_browser.search.prefilter import Prefilter, adds_sentences, prefilter_of

Span = tuple[int, int]
"""Start and stop offsets in a text, in code points."""

_BATCH_ENTRIES = 4096
_BATCH_BYTES = 1 << 20
# Records this far apart are read in one go, what lies between them included.
_GAP_BYTES = 1 << 16
# Seconds that an expression may take on one text: some expressions never end.
_PATIENCE = 1.0
# What an escape or a group's name says in upper case says nothing about the case sought.
_NOT_LITERAL = re.compile(r"\\(?:[pPN]\{[^}]*\}|.)|\(\?P?[<=>&][^)>]*[)>]?", re.DOTALL)
_EXTENDS = regex.compile(r"[\p{M}\u200d\U0001f3fb-\U0001f3ff]")
_INVISIBLE = {"Cf", "Cc", "Zs", "Zl", "Zp"}


class QueryError(Exception):
    """A query that cannot be searched for. The message says what is wrong with it, and where."""


class Pattern(ABC):
    """What is sought. `query` as typed; `regex`, whether it is a regular expression."""

    query: str
    regex: bool

    @abstractmethod
    def matches(self, text: str) -> bool:
        """Whether a text holds it. Raises QueryError if an expression takes too long."""

    @abstractmethod
    def spans(self, text: str) -> list[Span]:
        """Where it stands in a text: in order, apart from each other, never cutting a character
        as people count them. Raises QueryError if an expression takes too long."""

    def near(self, text: str) -> list[Span]:
        """Where what is only near to it stands, apart from each other and from what is it."""
        return []

    @property
    def prefilter(self) -> Prefilter | None:
        """What the bytes of a record tell before it is decoded."""
        return None


@dataclass(frozen=True)
class Literal(Pattern):
    """A string, taken as it is. `needle` is the query folded by `fold`."""

    query: str
    fold: Fold
    needle: str
    regex = False

    def matches(self, text: str) -> bool:
        return self.needle in self.fold(text)

    def spans(self, text: str) -> list[Span]:
        if text.isascii():
            return list(_occurrences(self.fold(text), self.needle))
        if not self.matches(text):
            return []
        folded = Folded(text, self.fold)
        return _apart(folded.stored(*span) for span in _occurrences(folded.text, self.needle))

    @property
    def prefilter(self) -> Prefilter | None:
        return prefilter_of(self.needle, self.fold)


@dataclass(frozen=True)
class Expression(Pattern):
    """A regular expression; `^` and `$` stand for the ends of lines. Empty matches do not count."""

    query: str
    compiled: regex.Pattern[str]
    regex = True

    def matches(self, text: str) -> bool:
        return next(self._ranges(text), None) is not None

    def spans(self, text: str) -> list[Span]:
        ranges = self._ranges(text)
        if text.isascii():
            return list(ranges)
        whole = Folded(text, str)
        return _apart(whole.stored(*span) for span in ranges)

    def _ranges(self, text: str) -> Iterator[Span]:
        try:
            for match in self.compiled.finditer(text, timeout=_PATIENCE):
                if match.end() > match.start():
                    yield match.span()
        except TimeoutError as error:
            raise QueryError(
                f"the expression takes too long: more than {_PATIENCE:.0f} s on one text"
            ) from error


def pattern_of(query: str, regex: bool = False) -> Pattern | None:
    """What a query asks for; None if it is blank. Raises QueryError.

    A query with an upper-case letter minds the case, any other does not.
    """
    if all(unicodedata.category(char) in _INVISIBLE for char in query):
        return None
    if regex:
        return _expression(query)
    fold = fold_form if _has_upper_case(query) else fold_case
    return Literal(query, fold, fold(query))


@dataclass(frozen=True, slots=True)
class Batch:
    """A piece of a find: its hits by place, ascending; how many entries of all are done."""

    done: int
    total: int
    hits: list[int]


def find(session: Session, pattern: Pattern) -> Iterator[Batch]:
    """The entries that hold what is sought, in file order, in batches that take milliseconds.

    Raises QueryError if an expression takes too long.
    """
    total = len(session)
    columns = session.columns
    prefilter = pattern.prefilter if session.format.is_direct else None
    certain = adds_sentences(session) if prefilter else np.ones(total, np.bool_)
    for first, end in _batches(columns.stop - columns.start):
        places = np.arange(first, end)
        hits: list[int] = []
        for stretch in _stretches(places, columns.start, columns.stop):
            hits += _hits(session, pattern, prefilter, stretch, certain)
        yield Batch(end, total, sorted(hits))


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text around its first match, as one safe line, and where the matches stand in it."""

    text: str
    marks: list[Span]


def snippet(
    text: str,
    spans: list[Span],
    width: int = 100,
    first: int | None = None,
    lead: int | None = None,
) -> Snippet:
    """About `width` code points of a text with what matched there marked: its start, or what
    surrounds the first match, or another place. `lead`: code points before it; by default a
    third."""
    if first is None:
        first = spans[0][0] if spans else 0
    start = max(0, min(first - (width // 3 if lead is None else lead), len(text) - width))
    stop = min(len(text), start + width)
    while 0 < start < first and _EXTENDS.match(text, start):
        start += 1
    while first + 1 < stop < len(text) and _EXTENDS.match(text, stop):
        stop -= 1
    before, after = "…" * (start > 0), "…" * (stop < len(text))
    shift = len(before) - start
    marks = [
        (max(at, start) + shift, min(end, stop) + shift)
        for at, end in spans
        if at < stop and end > start
    ]
    return Snippet(before + safe_line(text[start:stop]) + after, marks)


def _has_upper_case(text: str) -> bool:
    return any(char.isupper() or char.istitle() for char in text)


def _expression(query: str) -> Expression:
    flags = regex.MULTILINE
    if not _has_upper_case(_NOT_LITERAL.sub("", query)):
        flags |= regex.IGNORECASE | regex.FULLCASE
    try:
        return Expression(query, regex.compile(query, flags))
    except regex.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        raise QueryError(f"not a regular expression: {error.msg}{where}") from error
    except (RecursionError, OverflowError, ValueError) as error:
        raise QueryError(f"not a usable regular expression: {error}") from error


def _occurrences(text: str, needle: str) -> Iterator[Span]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + len(needle))


def _apart(spans: Any) -> list[Span]:
    """Spans in order, without what they share with the one before."""
    apart: list[Span] = []
    for start, stop in spans:
        start = max(start, apart[-1][1] if apart else 0)
        if start < stop:
            apart.append((start, stop))
    return apart


def _batches(sizes: Int64s) -> Iterator[Span]:
    """Ranges of places that are small both in entries and in bytes."""
    read = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(read[first] - sizes[first])
        enough = int(np.searchsorted(read, before + _BATCH_BYTES)) + 1
        end = min(len(sizes), first + _BATCH_ENTRIES, enough)
        yield first, end
        first = end


def _stretches(places: Any, start: Int64s, stop: Int64s) -> list[Any]:
    """Places in groups whose records lie close together, each in the order of the bytes.

    An entry that was finished late has its record far behind its neighbours'.
    """
    ordered = places[np.argsort(start[places], kind="stable")]
    gaps = start[ordered[1:]] - stop[ordered[:-1]]
    return np.split(ordered, np.flatnonzero(gaps > _GAP_BYTES) + 1)


def _hits(
    session: Session, pattern: Pattern, prefilter: Prefilter | None, places: Any, certain: Any
) -> list[int]:
    """The hits among places whose records lie close together."""
    columns, record = session.columns, session.format.record
    base = int(columns.start[places[0]])
    data = session.source.read(base, int(columns.stop[places[-1]]))
    starts = (columns.start[places] - base).tolist()
    stops = (columns.stop[places] - base).tolist()
    kept = certain[places]
    if prefilter is not None:
        kept = kept | prefilter.keep(data, starts, stops)
    return [
        int(places[at])
        for at in np.flatnonzero(kept).tolist()
        if pattern.matches(text_of(record(decode_record(data[starts[at] : stops[at]]))))
    ]
