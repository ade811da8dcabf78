"""The static table: vectors of texts right after the install."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.semantic import table
from tau_browser.search.semantic.int8 import quantised
from tau_browser.search.semantic.table import (
    DIMENSIONS,
    TABLE,
    TABLE_SHA256,
    StaticTable,
    static_table,
)

VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "north", "east"]
SMALL = StaticTable(np.array([[9, 9], [9, 9], [9, 9], [0, 2], [1, 0]], np.float32), VOCABULARY)


def likeness(one: str, other: str) -> float:
    first, second = static_table().encode([one, other])
    return float(first @ second)


def test_the_table_is_the_one_that_was_measured() -> None:
    assert hashlib.sha256(TABLE.read_bytes()).hexdigest() == TABLE_SHA256


def test_its_licence_lies_beside_it() -> None:
    assert "Apache License" in TABLE.with_name("NOTICE").read_text()


def test_a_text_is_the_weighted_mean_of_its_pieces() -> None:
    assert SMALL.encode(["north east"])[0] == pytest.approx([1 / 5**0.5, 2 / 5**0.5])


@pytest.mark.parametrize("text", ["", " \n", "…!?", "数据库死锁", "ꙮ"])
def test_a_text_without_words_has_the_zero_vector(text: str) -> None:
    vectors = static_table().encode(["parse", text, "frame"])
    assert not vectors[1].any() and vectors[0].any() and vectors[2].any()


def test_shape_and_kind_of_what_is_made() -> None:
    for texts in ([], ["one"], ["one", "", "three"]):
        vectors = static_table().encode(texts)
        assert vectors.shape == (len(texts), DIMENSIONS) and vectors.dtype == np.float32


@given(st.lists(st.text(st.sampled_from("north east,\n"), max_size=20)), st.integers(1, 30))
def test_how_texts_are_grouped_changes_nothing(texts: list[str], batch: int) -> None:
    alone = [static_table().encode([text])[0] for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "_BATCH", batch)
        together = static_table().encode(texts)
    assert len(together) == len(alone)
    for one, other in zip(together, alone, strict=True):
        assert np.abs(one - other).max() < 1e-6


def test_a_text_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_BATCH", 1000)
    short, long, _ = static_table().encode(["north east", "north east " * 5000, "other"])
    assert np.abs(short - long).max() < 1e-4


def test_vectors_have_length_one() -> None:
    lengths = np.linalg.norm(static_table().encode(["a b c", "parse the frame header"]), axis=1)
    assert lengths == pytest.approx([1, 1], abs=1e-6)


def test_an_identifier_is_like_its_words() -> None:
    assert likeness("parseFrameHeader", "parse frame header") == pytest.approx(1)
    assert likeness("PARSE_FRAME_HEADER", "parse frame header") == pytest.approx(1)


@pytest.mark.parametrize(
    ("one", "like", "unlike"),
    [
        ("retry failed uploads", "try again when sending a file fails", "a font for the invoice"),
        ("password", "login credentials", "bananas"),
        ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."),
    ],
)
def test_what_means_the_same_is_nearer(one: str, like: str, unlike: str) -> None:
    assert likeness(one, like) > likeness(one, unlike) + 0.2


def test_numbers_in_one_byte_are_nearly_the_same_numbers() -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 8)).astype(np.float32)
    vectors[7] = 0
    rows, scales = quantised(vectors)
    assert rows.dtype == np.int8 and not rows[7].any()
    errors = np.abs(rows * scales[:, None] - vectors).max(axis=1)
    assert (errors <= scales / 2 + 1e-6).all()
