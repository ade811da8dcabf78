"""Shared runs of words against a model that tries every pair of places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tau_browser.audit.runs import Run, shared_runs
from tau_browser.audit.words import SEED, Words

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), max_size=25)
TEXTS = st.lists(WORDS, max_size=4)


def ready(texts: list[list[str]], side: int) -> Words:
    return Words([" ".join(text) for text in texts], side)


def naive(one: list[list[str]], other: list[list[str]]) -> list[Run]:
    found = []
    for left, text in enumerate(one):
        for at in range(len(text)):
            for right, twin in enumerate(other):
                for start in range(len(twin)):
                    if at and start and text[at - 1] == twin[start - 1]:
                        continue  # it began before
                    n = 0
                    while text[at + n : at + n + 1] == twin[start + n : start + n + 1] != []:
                        n += 1
                    if n >= SEED:
                        found.append(Run(left, at, right, start, n))
    return sorted(found)


@given(TEXTS, TEXTS)
def test_all_longest_runs_are_found(one: list[list[str]], other: list[list[str]]) -> None:
    assert shared_runs(ready(one, 1), ready(other, 2)) == naive(one, other)


def test_words_that_are_everywhere_are_left_out() -> None:
    many = [["x"] * 5000]
    assert shared_runs(ready(many, 1), ready(many, 2)) == []


@given(TEXTS)
def test_texts_that_hold_the_grams_of_another(texts: list[list[str]]) -> None:
    words = ready(texts, 1)
    for text, some in enumerate(texts):
        grams = [tuple(some[at : at + SEED]) for at in range(len(some) - SEED + 1)]
        assert words.holders(text, 0, len(grams)) == [
            {
                at
                for at, other in enumerate(texts)
                if any(tuple(other[i : i + SEED]) == gram for i in range(len(other)))
            }
            for gram in grams
        ]
