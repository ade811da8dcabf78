"""What is evaluated. A ranker takes a query to the ids of entries with scores, the best first."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import regex

from tau_browser.search.fusion import CANDIDATES, Method, Ranking, fuse
from tau_browser.search.query import parse
from tau_browser.search.semantic.packed import packed, products
from tau_browser.search.semantic.rerank import Reranker
from tau_browser.search.semantic.table import static_table
from tests.eval.corpus import PHRASES, Entry

Ranker = Callable[[str], Ranking[str]]

RERANKED = 50
_CHUNK = 2000  # characters that one vector stands for
_K1, _B = 1.2, 0.75
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+")
_PART = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}\d_]+|\d+")
_CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "ly", "s", "e", "y")
_SHORTEST_STEM = 3
_STOPWORDS = frozenset(PHRASES["stopwords"])


def textbook_bm25(entries: Sequence[Entry]) -> Ranker:
    """BM25 as it is in books, to hold the product's against: over words but the most frequent,
    the parts of identifiers, light English stems and pairs of CJK characters. It knows no
    phrases, prefixes or typing errors."""
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = np.zeros(len(entries))
    for place, entry in enumerate(entries):
        counts = Counter(_terms(entry.text))
        lengths[place] = sum(counts.values())
        for term, count in counts.items():
            postings[term].append((place, count))
    norms = _K1 * (1 - _B + _B * lengths / lengths.mean())

    def rank(query: str) -> Ranking[str]:
        scores = np.zeros(len(entries))
        for term in set(_terms(query)) & postings.keys():
            places, counts = np.array(postings[term]).T
            found = len(places)
            idf = math.log(1 + (len(entries) - found + 0.5) / (found + 0.5))
            scores[places] += idf * counts * (_K1 + 1) / (counts + norms[places])
        return _best("bm25", entries, scores)

    return rank


def static(entries: Sequence[Entry]) -> Ranker:
    """The static table: an entry is as near as its nearest chunk."""
    table = static_table()
    chunks = [
        (place, entry.text[at : at + _CHUNK])
        for place, entry in enumerate(entries)
        for at in range(0, len(entry.text), _CHUNK)
    ]
    places = np.array([place for place, _ in chunks])
    rows, lengths = packed(table.encode(text for _, text in chunks), table.spread)
    lengths[lengths == 0] = np.inf

    def rank(query: str) -> Ranking[str]:
        scores = np.zeros(len(entries))
        cosines = products(rows, table.encode([query])[0], table.spread) / lengths
        np.maximum.at(scores, places, cosines)
        return _best("static", entries, scores)

    return rank


def fused(lexical: Ranker, semantic: Ranker, method: Method = Method.CONVEX) -> Ranker:
    """Both, in the order that a search without the extra gives."""

    def rank(query: str) -> Ranking[str]:
        return _in_order(_rankings(query, lexical, semantic), method)

    return rank


def reranked(
    entries: Sequence[Entry], lexical: Ranker, semantic: Ranker, reranker: Reranker
) -> Ranker:
    """The same, with what MiniLM says of the first hits as a third ranking."""
    texts = {entry.id: entry.text for entry in entries}

    def rank(query: str) -> Ranking[str]:
        rankings = _rankings(query, lexical, semantic)
        first = [key for key, _ in _in_order(rankings).candidates[:RERANKED]]
        scores = reranker.scores(query, map(texts.__getitem__, first))
        neural = sorted(zip(first, scores, strict=True), key=lambda item: -item[1])
        return _in_order([*rankings, Ranking("neural", neural)])

    return rank


def _rankings(query: str, lexical: Ranker, semantic: Ranker) -> list[Ranking[str]]:
    found = lexical(query)
    return [found] if parse(query).is_exact else [found, semantic(query)]


def _in_order(rankings: list[Ranking[str]], method: Method = Method.CONVEX) -> Ranking[str]:
    return Ranking("fused", [(hit.key, hit.score) for hit in fuse(rankings, method=method)])


def _best(ranker: str, entries: Sequence[Entry], scores: np.ndarray) -> Ranking[str]:
    order = np.argsort(-scores, kind="stable")[:CANDIDATES]
    best = [(entries[place].id, float(scores[place])) for place in order if scores[place] > 0]
    return Ranking(ranker, best, complete=len(best) < CANDIDATES)


def _terms(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        parts = _PART.findall(word)
        for term in {word.lower(), *map(str.lower, parts)} - _STOPWORDS:
            yield from _cjk_terms(term) if _CJK.match(term) else [_stem(term)]


def _cjk_terms(term: str) -> Iterator[str]:
    yield from (term[at : at + 2] for at in range(max(1, len(term) - 1)))


def _stem(term: str) -> str:
    for ending in _ENDINGS:
        if term.endswith(ending) and len(term) - len(ending) >= _SHORTEST_STEM:
            return term.removesuffix(ending)
    return term
