"""The query language: from what a person typed to what is sought.

    ssh port                words, in any order; those with all of them first
    "ssh port"              a phrase, word by word
    /ssh-\\d+/               a regular expression
    -telnet                 not this: a word, a phrase, an expression or a filter
    role:user since:2d      filters, see `filters`; the same one twice means one or the other

Everything else is text to be found as it is: a word before a colon that is no filter, a quote
without its other half, a lone minus or star. So is a query of nothing but exclusions: "-DFOO".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from tau_browser.search.filters import FILTERS, FilterKind
from tau_browser.search.find import QueryError, pattern_of

_GAP = re.compile(r"\s*")
_REGEX = re.compile(r"/((?:[^/\\\n]|\\.)+)/(?=\s|$)")
_PHRASE = re.compile(r'"((?:[^"\\]|\\.)*)"(?=\s|$)')
_OPEN_PHRASE = re.compile(r'"([^"]+)$')
_FILTER = re.compile(r'([A-Za-z]+):(?:"([^"\n]*)"(?=\s|$)|([^\s"]*)(?=\s|$))')
_WORD = re.compile(r"\S+")
_NEGATABLE = re.compile(r'[\w"/]')
_ESCAPED_QUOTE = re.compile(r'\\(["\\])')
# A slash with more than a word on each side: tcp/ip and and/or are prose.
_LONGEST_PATH = 4096
_PATH = re.compile(r"^(?:~|\.{0,2})[/\\]\w|\w[/\\].*[/\\]|[/\\].*\.\w|^\S*\w\.\w+:\d")
_INVISIBLE = {"Cf", "Cc", "Zs", "Zl", "Zp"}


class BadQuery(QueryError):
    """A query that cannot be searched for; `start` and `stop` tell where in it the fault lies."""

    def __init__(self, message: str, start: int, stop: int) -> None:
        super().__init__(message)
        self.start = start
        self.stop = stop


class Kind(StrEnum):
    """What a term asks for."""

    WORD = "word"
    PREFIX = "prefix"  # a word that is still being typed
    PHRASE = "phrase"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Term:
    """Something to be found, or not to be found. `start`, `stop`: where it was typed."""

    kind: Kind
    text: str
    start: int
    stop: int
    negated: bool = False

    @property
    def has_words(self) -> bool:
        """Whether it holds a letter or a digit, without which no index can help."""
        return any(char.isalnum() for char in self.text)

    @property
    def is_exact(self) -> bool:
        """Whether it asks for these very characters, so that nothing similar will do."""
        if self.kind in (Kind.PHRASE, Kind.REGEX) or not self.has_words:
            return True
        return len(self.text) <= _LONGEST_PATH and _PATH.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on facts. `value`: folded text, or milliseconds since 1970."""

    name: str
    value: str | int
    start: int
    stop: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What is sought. `text` as typed."""

    text: str
    terms: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()

    @property
    def sought(self) -> tuple[Term, ...]:
        """The terms that are to be found."""
        return tuple(term for term in self.terms if not term.negated)

    @property
    def is_blank(self) -> bool:
        """Whether it asks for nothing at all."""
        return not self.terms and not self.filters

    @property
    def is_exact(self) -> bool:
        """Whether nothing similar will do: the semantic rankers keep silent."""
        return any(term.is_exact for term in self.sought)

    def filters_by_name(self) -> dict[str, list[Filter]]:
        """The filters in groups of one name, those that exclude apart, as "-name"."""
        groups: dict[str, list[Filter]] = {}
        for condition in self.filters:
            name = "-" * condition.negated + condition.name
            groups.setdefault(name, []).append(condition)
        return groups


@dataclass(frozen=True, slots=True)
class Completion:
    """What could stand in a query from `start` to `stop`, and what it would mean."""

    start: int
    stop: int
    text: str
    meaning: str


def parse(text: str, *, typing: bool = False, now: datetime | None = None) -> Query:
    """The query that a text means. Raises BadQuery.

    typing: the text goes on: its last word may be the beginning of one, its last phrase lacks its
    quote, and a filter without its value does not count yet.
    now: what `today` and `2d` are counted from.
    """
    now = datetime.now() if now is None else now
    terms: list[Term] = []
    filters: list[Filter] = []
    at = _end(_GAP, text, 0)
    while at < len(text):
        item = _item(text, at, now, typing)
        if isinstance(item, Filter):
            filters.append(item)
        elif item.text and not _is_invisible(item.text):
            terms.append(item)
        at = _end(_GAP, text, item.stop)
    if terms and not filters and all(term.negated for term in terms):
        terms = [_as_typed(term, text) for term in terms]
    return Query(text, tuple(terms), tuple(filters))


def completions(
    text: str, cursor: int, known: Mapping[str, Sequence[str]] | None = None
) -> list[Completion]:
    """What the word at the cursor could become: names of filters, and their values.

    known: values of filters that have no fixed ones, such as the tools and projects there are.
    """
    start = max((gap.end() for gap in re.finditer(r"\s", text[:cursor])), default=0)
    word = text[start:cursor]
    if text[:start].count('"') % 2 or not word.isascii():
        return []
    start += word.startswith("-")
    name, colon, value = word.removeprefix("-").partition(":")
    if not colon:
        return [
            Completion(start, cursor, f"{filter.name}:", filter.meaning)
            for filter in FILTERS.values()
            if name and filter.name.startswith(name.lower())
        ]
    filter = FILTERS.get(name.lower())
    if filter is None:
        return []
    values = filter.values or (known or {}).get(filter.name, ())
    start += len(name) + 1
    return [
        Completion(start, cursor, _quoted(each), filter.meaning)
        for each in values
        if value.lower() in each.lower()
    ]


def _item(text: str, start: int, now: datetime, typing: bool) -> Term | Filter:
    """The term or filter that starts here."""
    negated = text[start] == "-" and _NEGATABLE.match(text, start + 1) is not None
    at = start + negated
    if regex := _REGEX.match(text, at):
        return _expression(regex, start, negated)
    if phrase := _PHRASE.match(text, at):
        said = _ESCAPED_QUOTE.sub(r"\1", phrase[1])
        if said and not said.isspace():
            return Term(Kind.PHRASE, said, start, phrase.end(), negated)
    elif typing and (phrase := _OPEN_PHRASE.match(text, at)):
        return Term(Kind.PHRASE, phrase[1], start, len(text), negated)
    if (found := _FILTER.match(text, at)) and (filter := FILTERS.get(found[1].lower())):
        value = found[2] or found[3]
        if value:
            return _condition(filter, value, found, start, now, negated)
        if typing:
            return Term(Kind.WORD, "", start, found.end())
    stop = _end(_WORD, text, at)
    kind = Kind.PREFIX if typing and stop == len(text) else Kind.WORD
    return Term(kind, text[at:stop], start, stop, negated)


def _expression(found: re.Match[str], start: int, negated: bool) -> Term:
    expression = found[1].replace(r"\/", "/")
    try:
        pattern_of(expression, regex=True)
    except QueryError as error:
        hint = "to find the text itself, put it in quotes"
        raise BadQuery(f"{error}; {hint}", start, found.end()) from error
    return Term(Kind.REGEX, expression, start, found.end(), negated)


def _condition(
    filter: FilterKind,
    typed: str,
    found: re.Match[str],
    start: int,
    now: datetime,
    negated: bool,
) -> Filter:
    value = filter.read(typed, now)
    if value is None:
        allowed = ", ".join(filter.values) or filter.hint
        reason = f"{filter.name}: cannot be {typed!r}; it may be {allowed}"
        raise BadQuery(reason, start, found.end())
    return Filter(filter.name, value, start, found.end(), negated)


def _as_typed(term: Term, text: str) -> Term:
    """An exclusion with nothing beside it: then what was typed is sought."""
    if term.kind in (Kind.PHRASE, Kind.REGEX):
        return replace(term, negated=False)
    return replace(term, text=text[term.start : term.stop], negated=False)


def _is_invisible(text: str) -> bool:
    return all(unicodedata.category(char) in _INVISIBLE for char in text)


def _quoted(value: str) -> str:
    return f'"{value}"' if re.search(r"\s", value) else value


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
