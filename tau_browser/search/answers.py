"""From what the rankers and scans named to an answer: fused, weighed, and shown as hits."""

from __future__ import annotations

from collections.abc import Callable

from tau_browser.search import fusion
from tau_browser.search.find import Snippet, snippet
from tau_browser.search.fusion import Fused
from tau_browser.search.highlight import Highlighter, Mark
from tau_browser.search.hits import Entries, HitMaker, numbered
from tau_browser.search.logs import Logs
from tau_browser.search.matching import pattern_for
from tau_browser.search.query import Kind, Query, Term
from tau_browser.search.results import NEWEST, Asking, Coverage, Found, Hit, Method, Results
from tau_browser.search.semantic.table import static_table
from tau_browser.search.snippets import snippet_near

BM25, STATIC, NEURAL = "bm25", "static", "neural"
_KINDS = {Method.SUBSTRING: Kind.PHRASE, Method.REGEX: Kind.REGEX}


def is_as_typed(method: Method) -> bool:
    """Whether a method seeks the query as it is, character by character, which takes no index."""
    return method in _KINDS


def query_as_typed(text: str, method: Method) -> Query:
    """A query for such a method: whatever was typed is its one term."""
    return Query(text, (Term(_KINDS[method], text, 0, len(text)),) if text.strip() else ())


def words_of(query: Query) -> str:
    """What is sought, without its signs, for what knows meanings."""
    return " ".join(term.text for term in query.sought)


def can_mean(asking: Asking) -> bool:
    """Whether what means the same is wanted too: not where these very words are."""
    return bool(asking.query.sought) and not asking.query.is_exact


def fused(asking: Asking, found: Found) -> list[Fused[int]]:
    """What the rankers named, in one order."""
    return fusion.fuse(found.rankings, {**asking.weights, NEWEST: 1.0}, asking.fused_by)


def results_of(
    store: str,
    logs: Logs,
    entries: Entries | None,
    asking: Asking,
    found: Found,
    coverage: Coverage,
    remarks: list[str],
) -> Results:
    """The answer. entries: None where there is no index, and so nothing ranked."""
    ranked = fused(asking, found)
    by_words = [any(part.ranker in (BM25, NEWEST) for part in each.parts) for each in ranked]
    # What was scanned holds the words: it comes before what does no more than mean the same.
    ahead = by_words.index(False) if False in by_words else len(ranked)
    maker = _hit_maker(store, logs, entries, asking, found)
    hits: list[Hit] = maker.ranked(ranked[: min(ahead, asking.limit)], found.groups)
    hits += maker.scanned(found.scanned[: asking.limit - len(hits)])
    hits += maker.ranked(ranked[ahead : ahead + asking.limit - len(hits)], found.groups)
    return Results(
        asking,
        found,
        numbered(hits),
        total=found.total + len(found.scanned),
        similar=by_words.count(False),
        coverage=coverage,
        reranked=_named(found, NEURAL),
        remarks=remarks,
    )


def _hit_maker(
    store: str, logs: Logs, entries: Entries | None, asking: Asking, found: Found
) -> HitMaker:
    if is_as_typed(asking.method):
        (term,) = asking.query.terms
        pattern = pattern_for(term)

        def marks(text: str) -> list[Mark]:
            return [Mark(*span, term) for span in pattern.spans(text)]

        return HitMaker(store, logs, entries, marks, _start_of)
    near = _nearest_sentence(asking.query) if _named(found, STATIC) else _start_of
    return HitMaker(store, logs, entries, Highlighter(asking.query, found.widened).marks, near)


def _start_of(text: str) -> Snippet:
    return snippet(text, [])


def _nearest_sentence(query: Query) -> Callable[[str], Snippet]:
    """What shows a text from the sentence that is nearest in meaning to a query."""
    table = static_table()
    vector = table.encode([words_of(query)])[0]
    return lambda text: snippet_near(text, vector, table.encode)


def _named(found: Found, ranker: str) -> bool:
    return any(ranking.ranker == ranker for ranking in found.rankings)
