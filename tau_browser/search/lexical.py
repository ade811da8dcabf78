"""BM25 over the index: which entries hold the words of a query, the best first.

Phrases must be there. Of words, entries that hold all come before those that hold some, as long
as the words are few; of a sentence any will do. A word that is nowhere is sought inside others,
then one letter off, and the answer says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tau_browser.search.analysis import stem
from tau_browser.search.asked import Asked, Snapshot, indexed, widened_words
from tau_browser.search.clauses import Widened
from tau_browser.search.index.reader import Reader
from tau_browser.search.index.recent import Recent
from tau_browser.search.matching import Check, checks_of
from tau_browser.search.query import Query
from tau_browser.search.words import wanted

TextOf = Callable[[int], str]
"""The text of a content, for what words alone do not tell."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What holds the words of a query. `hits`: (content, score), the best first, of `total` ·
    `full`: about what an entry scores that says each word once · `widened`: what was sought
    instead of a word that is nowhere, by term as typed · `by_time`: the query has no words to
    score, and the scores are times, in milliseconds since 1970"""

    hits: list[tuple[int, float]]
    total: int
    full: float = 0.0
    widened: Mapping[str, Widened] = field(default_factory=dict)
    by_time: bool = False


def can_rank(query: Query) -> bool:
    """Whether the index can answer: there is a word, or nothing but filters. Signs and
    expressions alone can only be found by a scan of the texts."""
    return not query.sought or bool(indexed(query))


def search(
    reader: Reader,
    query: Query,
    *,
    limit: int,
    offset: int = 0,
    paths: Collection[str] | None = None,
    text_of: TextOf | None = None,
    recent: Recent | None = None,
) -> Matches:
    """The entries that match, of these session files or of all; those of `recent` among them.

    text_of: needed for queries with expressions or signs. Without words the newest come first.
    Raises NoIndex, and QueryError if an expression takes too long.
    """
    checks = checks_of(query)
    assert text_of is not None or not checks, "this query cannot be answered without the texts"
    snapshots: list[Snapshot] = [reader, recent] if recent else [reader]
    most = offset + limit

    def ask(snapshot: Snapshot, widened: Mapping[str, Widened]) -> Matches:
        asked = Asked(snapshot, query, paths, widened)
        texts = recent.text if recent is not None and snapshot is recent else text_of
        if texts and checks:
            return _checked(asked, snapshot.count, checks, texts, most)
        return Matches(*asked.hits(most))

    with reader.guarded():
        widened: Mapping[str, Widened] = {}
        if len(wanted(query)) > 1:
            widened = widened_words(query, snapshots, reader.vocabulary)
        found = [ask(snapshot, widened) for snapshot in snapshots]
        if not widened and not any(each.total for each in found):
            widened = widened_words(query, snapshots, reader.vocabulary)
            found = [ask(snapshot, widened) for snapshot in snapshots] if widened else found
        scale = _scale(query, snapshots) if recent else 1.0
        full = _full(query, reader, widened)
    joined = _joined(found, scale, offset, most)
    return replace(joined, full=full, widened=widened, by_time=not indexed(query))


def _checked(
    asked: Asked, count: int, checks: Sequence[Check], text_of: TextOf, most: int
) -> Matches:
    """The matches whose texts pass all checks."""

    def passes(content: int) -> bool:
        text = text_of(content)
        return all(check.pattern.matches(text) != check.negated for check in checks)

    hits = [hit for hit in asked.hits(max(1, count))[0] if passes(hit[0])]
    return Matches(hits[:most], len(hits))


def _joined(found: Sequence[Matches], scale: float, offset: int, most: int) -> Matches:
    """Matches of the index, and those of the entries in memory, their scores scaled, in one."""
    first, *others = found
    hits = list(first.hits)
    for other in others:
        hits += [(key, score * scale) for key, score in other.hits]
        hits.sort(key=lambda hit: hit[1], reverse=True)
    return Matches(hits[offset:most], sum(each.total for each in found))


def _full(query: Query, snapshot: Snapshot, widened: Mapping[str, Widened]) -> float:
    """The rarities of all words, which are their scores in an entry of average length. What is
    sought instead of a word does not count: it is a guess."""
    meant = [each for each in wanted(query) if each.term.text not in widened]
    return sum(_rarity(snapshot, stem(token)) for each in meant for token in each.tokens)


def _scale(query: Query, snapshots: Sequence[Snapshot]) -> float:
    """What the score of a hit in memory counts in the index, where each word is rarer."""
    if not query.sought:
        return 1.0
    stems = {stem(token) for each in wanted(query) for token in each.tokens}
    whole, small = (sum(_rarity(snapshot, word) for word in stems) for snapshot in snapshots)
    return whole / small if whole and small else 1.0


def _rarity(snapshot: Snapshot, word: str) -> float:
    """The inverse document frequency of BM25."""
    count, having = snapshot.count, snapshot.having(word)
    return math.log(1 + (count - having + 0.5) / (having + 0.5)) if count else 0.0
