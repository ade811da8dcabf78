"""Re-ranking, with a model that is made up: what is read, what is kept, how it is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from tau_browser.search.semantic.int8 import Floats
from tau_browser.search.semantic.minilm import MiniLM
from tau_browser.search.semantic.rerank import WINDOW, WINDOWS, Reranker
from tau_browser.search.semantic.table import static_table
from tau_browser.search.semantic.vector_cache import VectorCache


class Counter:
    """In MiniLM's place: texts are alike as far as they share pieces."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def encode(self, pieces: Sequence[int]) -> Floats:
        self.read.append(len(pieces))
        vector = np.zeros(len(static_table().wordpiece), np.float32)
        vector[list(pieces)] = 1
        return vector / np.linalg.norm(vector)


@pytest.fixture
def model() -> Counter:
    return Counter()


@pytest.fixture
def reranker(model: Counter, tmp_path: Path) -> Reranker:
    return reranker_of(model, tmp_path)


def reranker_of(model: Counter, folder: Path) -> Reranker:
    return Reranker(cast(MiniLM, model), static_table(), VectorCache(folder / "vectors.sqlite"))


def test_each_text_has_its_score_in_turn(reranker: Reranker) -> None:
    scores = list(reranker.scores("broken frame", ["the frame", "broken frame", "a font"]))
    assert scores == pytest.approx([0.5, 1, 0], abs=1e-3)


def test_a_text_is_read_once_and_never_again(model: Counter, tmp_path: Path) -> None:
    texts = ["one text", "another text"]
    first = list(reranker_of(model, tmp_path).scores("text", texts))
    assert len(model.read) == 3
    again = list(reranker_of(model, tmp_path).scores("text", texts))
    assert len(model.read) == 4 and again == pytest.approx(first, abs=1e-3)


def test_whoever_stops_asking_stops_the_work(model: Counter, reranker: Reranker) -> None:
    scores = reranker.scores("text", (f"text {number}" for number in range(1000)))
    next(scores)
    next(scores)
    scores.close()
    assert len(model.read) == 3


def test_of_a_long_text_the_windows_nearest_to_the_query_are_read(
    model: Counter, reranker: Reranker
) -> None:
    filler = "the invoice has a font " * 200
    (score,) = reranker.scores("broken frame", [filler + "the frame is broken " * 30 + filler])
    assert model.read == [2, WINDOW - 2, WINDOW - 2]
    assert score > 0.4 and WINDOWS == 2


def test_texts_without_words_score_nothing(reranker: Reranker) -> None:
    assert list(reranker.scores("text", ["", " \n"])) == [0, 0]


@pytest.mark.parametrize("query", ["", "…", "数据库死锁", "ошибка"])
def test_a_query_that_the_model_cannot_read_leaves_all_equal(
    model: Counter, reranker: Reranker, query: str
) -> None:
    assert list(reranker.scores(query, ["text", "数据库死锁"])) == [0, 0]
    assert not model.read
