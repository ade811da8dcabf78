"""Where the terms of a query stand in a text: offsets in the text itself, not in its folded form.

What the index matched is found again here: words in any case and without their accents, other
words of the same stem, parts of identifiers, stretches of scripts without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tau_browser.search.analysis import fold_form, fold_words, pairs, stem, unspaced
from tau_browser.search.clauses import How, Widened
from tau_browser.search.find import Span
from tau_browser.search.folding import Folded
from tau_browser.search.matching import pattern_for
from tau_browser.search.query import Query, Term
from tau_browser.search.words import Wanted, wanted, wanted_of

_GAP = r"([\W_]*)"
_SHORTEST_ROOT = 3

_Spans = Callable[["_Text"], Iterable[Span]]
"""Ranges of a folded text in which a term may stand."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A term standing somewhere in a text, from `start` to `stop` in code points."""

    start: int
    stop: int
    term: Term


class Highlighter:
    """Finds the terms of one query in any text. `widened`: as the lexical ranker told."""

    def __init__(self, query: Query, widened: Mapping[str, Widened] | None = None) -> None:
        widened = widened or {}
        self._words = [
            (each.term, _finders(each, widened.get(each.term.text)))
            for each in wanted(query)
            if each.is_told_by_words
        ]
        covered = {term for term, _ in self._words}
        self._patterns = [
            (term, pattern_for(term))
            for term in query.sought
            if term not in covered and not wanted_of(term).is_told_by_words
        ]

    def marks(self, text: str) -> list[Mark]:
        """All that is found, in order. Marks of one term are apart, those of two may overlap."""
        looked_at = _Text(text)
        found = [
            Mark(*span, term)
            for term, finders in self._words
            for span in _apart(_first_found(finders, looked_at))
        ]
        found += [
            Mark(*span, term) for term, pattern in self._patterns for span in pattern.spans(text)
        ]
        return sorted(found, key=lambda mark: (mark.start, mark.stop))


def spans_of(marks: Iterable[Mark]) -> list[Span]:
    """Marks as ranges that are apart, for a screen."""
    return list(_apart((mark.start, mark.stop) for mark in marks))


class _Text:
    """A text with its folded form."""

    def __init__(self, stored: str) -> None:
        self.stored = stored
        self._map = None if stored.isascii() else Folded(stored, fold_words)
        self.folded = stored.lower() if self._map is None else self._map.text

    def back(self, start: int, stop: int) -> Span:
        """The range of the stored text that a range of the folded one came from."""
        return (start, stop) if self._map is None else self._map.stored(start, stop)


def _finders(each: Wanted, widened: Widened | None) -> list[list[_Spans]]:
    """Ways to find a term, the better first: of each list all, of the lists the first that finds
    anything."""
    if each.is_signed:
        return [[_literal(name) for name in each.signed]]
    runs = [_literal(run) for run in each.runs]
    found = [*runs, *_of_tokens(each, widened)]
    ways = [found] if found else []
    return [*ways, [_literal(pair) for run in each.runs for pair in pairs(run)]] if runs else ways


def _of_tokens(each: Wanted, widened: Widened | None) -> list[_Spans]:
    if not each.tokens:
        return []
    if widened and widened.how is How.TYPO:
        return [_phrase([word], begins=True, ends=True) for word in widened.words]
    inside = widened is not None
    if each.runs:  # between them the words stand alone
        return [_phrase([token], begins=True, ends=True) for token in each.tokens]
    found = [_phrase(each.tokens, begins=not inside, ends=not inside and not each.is_prefix)]
    if len(each.tokens) == 1 and not each.is_exact and not inside:
        found.append(_of_stem(each.tokens[0]))
        if each.parts:
            found.append(_phrase(each.parts, begins=True, ends=not each.is_prefix))
    return found


def _literal(needle: str) -> _Spans:
    def find(text: _Text) -> Iterator[Span]:
        for match in re.finditer(re.escape(needle), text.folded):
            yield text.back(*match.span())

    return find


def _phrase(tokens: list[str], *, begins: bool, ends: bool) -> _Spans:
    """Words one after the other. begins, ends: whether they must begin and end where a word or
    a part of an identifier does."""
    pattern = re.compile(_GAP.join(map(re.escape, tokens)))
    is_one = len(tokens) == 1

    def find(text: _Text) -> Iterator[Span]:
        at = 0
        while match := pattern.search(text.folded, at):
            start, stop = text.back(*match.span())
            good = (
                (not begins or _is_edge(text.stored, start))
                and (not ends or _is_edge(text.stored, stop))
                and (is_one or all(_is_edge(text.stored, edge) for edge in _joints(match, text)))
            )
            if good:
                yield start, stop
            at = match.end() if good else match.start() + 1

    return find


def _joints(match: re.Match[str], text: _Text) -> Iterator[int]:
    """Where two words follow each other with nothing between."""
    for group in range(1, match.re.groups + 1):
        if not match[group]:
            yield text.back(match.start(group), match.start(group) + 1)[0]


def _of_stem(token: str) -> _Spans:
    """Words with the stem of another."""
    wanted_stem = stem(token)
    root = wanted_stem[: max(_SHORTEST_ROOT, len(wanted_stem) - 1)]
    pattern = re.compile(rf"{re.escape(root)}[^\W_]*")  # led by letters it is found fastest

    def find(text: _Text) -> Iterator[Span]:
        for match in pattern.finditer(text.folded):
            before = text.folded[max(0, match.start() - 1) : match.start()]
            word = match[0]  # which mostly is the very one: to tell its stem takes longer
            if not before.isalnum() and (word == token or stem(word) == wanted_stem):
                yield text.back(*match.span())

    return find


def _first_found(ways: list[list[_Spans]], text: _Text) -> list[Span]:
    for way in ways:
        if found := sorted({span for find in way for span in find(text)}):
            return found
    return []


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Ranges in order, those that touch as one."""
    start = stop = -1
    for first, last in sorted(spans):
        if first > stop:
            if stop > start:
                yield start, stop
            start, stop = first, last
        else:
            stop = max(stop, last)
    if stop > start:
        yield start, stop


def _is_edge(text: str, at: int) -> bool:
    """Whether a word, or a part of an identifier, begins or ends here."""
    before = at - 1
    if before >= 0 and at < len(text) and text[before : at + 1].isascii():
        return _is_joint(text, at, text[before], text[at])
    while before > 0 and unicodedata.category(text[before])[0] == "M":
        before -= 1
    if not (before >= 0 and at < len(text)):
        return True
    left, right = fold_form(text[before])[-1:], fold_form(text[at])[:1]
    if left.isalnum() and right.isalnum() and bool(unspaced(left)) != bool(unspaced(right)):
        return True
    return _is_joint(text, at, left, right)


def _is_joint(text: str, at: int, left: str, right: str) -> bool:
    """The same, told by the characters before and after."""
    if not (left.isalnum() and right.isalnum()):
        return True
    if left.isnumeric() != right.isnumeric() or (not left.isupper() and right.isupper()):
        return True
    return left.isupper() and right.isupper() and text[at + 1 : at + 2].islower()
