"""The evaluation itself: labels that name something, measures that measure, and its main result."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from tau_browser.search.fusion import CANDIDATES
from tests.eval.__main__ import main
from tests.eval.corpus import Entry, entries
from tests.eval.labels import Query, queries
from tests.eval.measures import mean, recall, reciprocal_rank
from tests.eval.rankers import Ranker, fused, static, textbook_bm25


@pytest.fixture(scope="module")
def corpus() -> list[Entry]:
    return entries()


@pytest.fixture(scope="module")
def asked(corpus: list[Entry]) -> list[Query]:
    return queries(corpus)


def test_the_corpus_is_the_same_in_every_run(corpus: list[Entry]) -> None:
    assert entries() == corpus
    assert len({entry.id for entry in corpus}) == len(corpus) > 6000
    assert sum(entry.id.startswith("filler") for entry in corpus) == 6000


def test_every_label_names_an_entry(corpus: list[Entry], asked: list[Query]) -> None:
    known = {entry.id for entry in corpus}
    assert all(query.right <= known for query in asked)
    assert len(asked) == len({query.text for query in asked}) >= 150
    assert min(Counter(query.kind for query in asked).values()) >= 15


def test_a_label_that_names_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no entry pay2"):
        queries([])


def test_the_table_buys_recall_and_costs_no_rank(corpus: list[Entry], asked: list[Query]) -> None:
    """On paraphrases, over textbook BM25: what the default promises."""
    paraphrases = [query for query in asked if query.kind == "paraphrase" and query.right]
    words = textbook_bm25(corpus)
    both = fused(words, static(corpus))

    def means(ranker: Ranker) -> tuple[float, float]:
        ranked = [
            ([key for key, _ in ranker(query.text).candidates], query.right)
            for query in paraphrases
        ]
        recalls = [recall(*each, depth=50) for each in ranked]
        return mean(recalls).value, mean([reciprocal_rank(*each) for each in ranked]).value

    recall_of_words, rank_of_words = means(words)
    recall_of_both, rank_of_both = means(both)
    assert recall_of_both >= recall_of_words + 0.08
    assert rank_of_both >= rank_of_words


def test_rankers_name_each_entry_once_and_the_best_first(corpus: list[Entry]) -> None:
    for ranker in (textbook_bm25(corpus), static(corpus)):
        ranked = ranker("a lock held while waiting for the network").candidates
        scores = [score for _, score in ranked]
        assert len(dict(ranked)) == len(ranked) <= CANDIDATES
        assert scores == sorted(scores, reverse=True) and scores[-1] > 0


def test_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--filler", "0"])
    printed = capsys.readouterr().out
    for kind in ("paraphrase", "identifier", "error", "cjk", "typo", "all"):
        assert f"## {kind}: " in printed
    assert printed.count("| convex 1 : 0.4 (default) |") == 6


@pytest.mark.parametrize(
    ("right", "first", "share"),
    [({"a"}, 1, 1), ({"c"}, 1 / 3, 1), ({"d"}, 0, 0), ({"b", "z"}, 1 / 2, 1 / 2)],
)
def test_measures(right: set[str], first: float, share: float) -> None:
    ranked = ["a", "b", "c", "d"]
    assert reciprocal_rank(ranked, right, depth=3) == first
    assert recall(ranked, right, depth=3) == share


def test_more_right_entries_than_places() -> None:
    assert recall(["a", "b"], {"a", "b", "c"}, depth=2) == 1


def test_a_mean_and_how_sure_it_is() -> None:
    assert str(mean([0, 1, 0, 1])) == "0.500 ±0.289"
    assert math.isnan(mean([1]).error)
