"""Fusion: one order out of several, and a score that its parts explain."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.fusion import CANDIDATES, DEFAULT_WEIGHTS, Fused, Method, Ranking, fuse

WEIGHTS = {"bm25": 1.0, "static": 0.5}


def ranking(ranker: str, **scores: float) -> Ranking[str]:
    return Ranking(ranker, list(scores.items()))


def keys(hits: list[Fused[str]]) -> list[str]:
    return [hit.key for hit in hits]


scores = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0])


@st.composite
def rankings(draw: st.DrawFn) -> list[Ranking[str]]:
    drawn = []
    for ranker in ("bm25", "static", "neural"):
        named = draw(st.dictionaries(st.sampled_from("abcdefgh"), scores))
        best_first = sorted(named.items(), key=lambda item: -item[1])
        drawn.append(Ranking(ranker, best_first, draw(st.booleans()), draw(scores)))
    return drawn


weights = st.fixed_dictionaries(
    {ranker: st.sampled_from([0.0, 0.4, 1.0, 3.0]) for ranker in DEFAULT_WEIGHTS}
)


@given(rankings(), weights, st.sampled_from(Method))
def test_what_the_parts_contribute_is_the_score(
    rankings: list[Ranking[str]], weights: dict[str, float], method: Method
) -> None:
    hits = fuse(rankings, weights, method)
    for hit in hits:
        assert hit.score == math.fsum(part.contribution for part in hit.parts)
        for part in hit.parts:
            assert part.contribution == part.weight * part.norm
            assert part.weight == weights[part.ranker] > 0
            assert 0 <= part.norm <= 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@given(rankings(), weights, st.sampled_from(Method))
def test_each_candidate_is_a_hit_once_with_what_was_said_of_it(
    rankings: list[Ranking[str]], weights: dict[str, float], method: Method
) -> None:
    said = {
        (key, ranking.ranker): (rank, raw)
        for ranking in rankings
        if weights[ranking.ranker]
        for rank, (key, raw) in enumerate(ranking.candidates, 1)
    }
    hits = fuse(rankings, weights, method)
    told = [(hit.key, part.ranker) for hit in hits for part in hit.parts]
    assert len(keys(hits)) == len(set(keys(hits)))
    assert sorted(told) == sorted(said)
    for hit in hits:
        for part in hit.parts:
            assert said[hit.key, part.ranker] == (part.rank, part.raw)


@given(rankings(), st.sampled_from(["bm25", "static", "neural"]), st.sampled_from(Method))
def test_one_ranker_alone_keeps_its_order(
    rankings: list[Ranking[str]], ranker: str, method: Method
) -> None:
    alone = [ranking for ranking in rankings if ranking.ranker == ranker]
    assert keys(fuse(alone, method=method)) == [key for key, _ in alone[0].candidates]


def test_scores_of_unlike_scales_are_spread_and_weighed() -> None:
    hits = fuse([ranking("bm25", a=30, b=20, c=10), ranking("static", b=0.9, d=0.1)], WEIGHTS)
    assert [(hit.key, hit.score) for hit in hits] == [("a", 1), ("b", 1), ("c", 0), ("d", 0)]
    assert [(part.ranker, part.rank, part.raw, part.norm) for part in hits[1].parts] == [
        ("bm25", 2, 20, 0.5),
        ("static", 1, 0.9, 1),
    ]


def test_the_last_of_all_that_was_found_is_better_than_nothing() -> None:
    found = [("a", 8.0), ("b", 6.0)]
    assert [hit.score for hit in fuse([Ranking("bm25", found)])] == [1, 0]
    assert [hit.score for hit in fuse([Ranking("bm25", found, complete=True)])] == [1, 0.75]


def test_candidates_that_were_cut_off_are_not_all() -> None:
    many = Ranking("bm25", [(at, float(1000 - at)) for at in range(CANDIDATES + 1)], complete=True)
    assert fuse([many])[-1].score == 0


def test_ranks_alone_count_for_rrf() -> None:
    rankings = [ranking("bm25", a=30, b=29.9), ranking("static", b=0.9, d=0.1)]
    hits = fuse(rankings, WEIGHTS, Method.RRF)
    assert keys(hits) == ["b", "a", "d"]
    assert hits[0].score == pytest.approx(61 * (1 / 62 + 0.5 / 61))


@pytest.mark.parametrize("scores", [{"a": 7.0}, {"a": 7.0, "b": 7.0}, {"a": 0.0}], ids=str)
def test_with_nothing_to_tell_them_apart_all_are_best(scores: dict[str, float]) -> None:
    assert {hit.score for hit in fuse([ranking("bm25", **scores)])} == {1.0}


def test_nothing_found_is_no_hit() -> None:
    assert fuse([ranking("bm25"), ranking("static")]) == []


def test_equal_scores_keep_the_order_of_the_rankings() -> None:
    first, second = ranking("bm25", x=1, a=1), ranking("static", m=1, a=1, b=1)
    assert keys(fuse([first, second], {"bm25": 1, "static": 1})) == ["a", "x", "m", "b"]


def test_a_ranker_that_weighs_nothing_is_left_out() -> None:
    hits = fuse([ranking("bm25", a=1), ranking("static", b=1)], {"bm25": 1, "static": 0})
    assert keys(hits) == ["a"]


@pytest.mark.parametrize("method", Method)
def test_candidates_after_the_first_add_nothing_and_change_nothing(method: Method) -> None:
    many = [(at, 1.5 / (1 + at)) for at in range(3 * CANDIDATES)]
    other = Ranking("static", [(3 * CANDIDATES - 1, 0.9), (1, 0.5), (0, 0.1)])
    few = fuse([Ranking("bm25", many[:CANDIDATES]), other], method=method)
    more = fuse([Ranking("bm25", many), other], method=method)
    assert keys(more)[: len(few)] == keys(few)
    assert [hit.score for hit in more[: len(few)]] == [hit.score for hit in few]
    assert len(more) == 3 * CANDIDATES
    assert {hit.score for hit in more[len(few) :]} == {0.0}


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_is_a_number_of_zero_or_more(weight: float) -> None:
    with pytest.raises(ValueError, match="'bm25' needs a weight"):
        fuse([ranking("bm25", a=1)], {"bm25": weight})


def test_each_ranker_needs_a_weight() -> None:
    with pytest.raises(ValueError, match="'else' needs a weight"):
        fuse([ranking("else", a=1)])


def test_a_score_is_a_finite_number() -> None:
    with pytest.raises(ValueError, match="finite"):
        fuse([ranking("bm25", a=math.nan)])


def test_a_candidate_is_named_once() -> None:
    with pytest.raises(ValueError, match="'bm25' named a candidate twice"):
        fuse([Ranking("bm25", [("a", 1.0), ("a", 0.5)])])


def test_a_ranker_that_found_little_of_what_was_asked_has_less_to_say() -> None:
    little = Ranking("bm25", [("a", 2.0), ("b", 1.0)], complete=True, full=8.0)
    much = Ranking("bm25", [("a", 2.0), ("b", 1.0)], complete=True, full=2.0)
    similar = ranking("static", c=0.9, d=0.1)
    assert keys(fuse([little, similar], WEIGHTS)) == ["c", "a", "b", "d"]
    assert keys(fuse([much, similar], WEIGHTS))[0] == "a"
    (alone,) = fuse([Ranking("bm25", [("a", 2.0)], full=8.0)], WEIGHTS)
    assert alone.score == 0.25
