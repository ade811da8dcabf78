"""Prints how well entries are found: `make eval`, or with the extra `make eval ARGS=--rerank`."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence, Set
from pathlib import Path

from tau_browser.search.fusion import Method, Ranking
from tau_browser.search.semantic.minilm import load_model
from tau_browser.search.semantic.rerank import Reranker
from tau_browser.search.semantic.table import static_table
from tau_browser.search.semantic.vector_cache import VectorCache
from tests.eval import lexical
from tests.eval.corpus import FILLER, ROOT, Entry, entries
from tests.eval.labels import Query, queries
from tests.eval.measures import mean, recall, reciprocal_rank
from tests.eval.rankers import Ranker, fused, reranked, static, textbook_bm25

BASE = "bm25"
_CACHE = ROOT / "build" / "eval-vectors.sqlite"
_MEASURES: dict[str, Callable[[Sequence[str], Set[str]], float]] = {
    "MRR@10": reciprocal_rank,
    "R@10": lambda ranked, right: recall(ranked, right, 10),
    "R@50": lambda ranked, right: recall(ranked, right, 50),
}
Values = dict[str, list[float]]
"""One value per query, by measure."""


def main(argv: Sequence[str] | None = None) -> None:
    """Rank every query in every way, and print tables by class of query."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filler", type=int, default=FILLER, help="entries made by chance")
    parser.add_argument("--rerank", action="store_true", help="with the extra: takes minutes")
    arguments = parser.parse_args(argv)
    corpus = entries(arguments.filler)
    asked = queries(corpus)
    labelled = [query for query in asked if query.right]
    print(
        f"{len(corpus):,} entries, {len(labelled)} labelled queries "
        f"({len(asked) - len(labelled)} left out: the docs no longer hold what they ask for).\n"
        "± is one standard error; gains are paired, query by query, against bm25.\n"
        "One author wrote the entries and the queries: compare rows, not with other collections."
    )
    with tempfile.TemporaryDirectory() as folder:
        rankers = _rankers(corpus, Path(folder), arguments.rerank)
        for kind in dict.fromkeys(query.kind for query in labelled):
            of_kind = [query for query in labelled if query.kind == kind]
            _print_table(kind, of_kind, rankers)
        _print_table("all", labelled, rankers)


def _rankers(corpus: Sequence[Entry], folder: Path, rerank: bool) -> dict[str, Ranker]:
    words = _remembering(lexical.bm25(corpus, folder))
    meaning = _remembering(static(corpus))
    rankers = {
        BASE: words,
        "textbook BM25": textbook_bm25(corpus),
        "static": meaning,
        "convex 1 : 0.4 (default)": fused(words, meaning),
        "RRF 1 : 0.4": fused(words, meaning, Method.RRF),
    }
    if rerank:
        table = static_table()
        _CACHE.parent.mkdir(exist_ok=True)
        reranker = Reranker(load_model(table.wordpiece), table, VectorCache(_CACHE))
        ranker = reranked(corpus, words, meaning, reranker)
        rankers["default, then MiniLM on the first 50"] = ranker
    return {name: _remembering(ranker) for name, ranker in rankers.items()}


def _remembering(ranker: Ranker) -> Ranker:
    known: dict[str, Ranking[str]] = {}

    def rank(query: str) -> Ranking[str]:
        if query not in known:
            known[query] = ranker(query)
        return known[query]

    return rank


def _print_table(kind: str, asked: Sequence[Query], rankers: dict[str, Ranker]) -> None:
    print(f"\n## {kind}: {len(asked)} queries\n")
    print("| ranker | MRR@10 | R@10 | R@50 | MRR@10 gain | R@50 gain |")
    print("|---|---|---|---|---|---|")
    base = _values(rankers[BASE], asked)
    for name, ranker in rankers.items():
        values = _values(ranker, asked)
        means = [str(mean(values[measure])) for measure in _MEASURES]
        gains = [
            "" if name == BASE else _gain(base, values, measure) for measure in ("MRR@10", "R@50")
        ]
        print(f"| {name} | {' | '.join([*means, *gains])} |")


def _values(ranker: Ranker, asked: Sequence[Query]) -> Values:
    ranked = [([key for key, _ in ranker(query.text).candidates], query.right) for query in asked]
    return {name: [measure(*pair) for pair in ranked] for name, measure in _MEASURES.items()}


def _gain(base: Values, values: Values, measure: str) -> str:
    gain = mean([new - old for old, new in zip(base[measure], values[measure], strict=True)])
    return f"{gain.value:+.3f} ±{gain.error:.3f}"


if __name__ == "__main__":
    main()
