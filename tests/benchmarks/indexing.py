"""What it costs to index and embed a store, and how large the index is."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from tau_browser.search.documents import document_of
from tau_browser.search.engine import Engine
from tau_browser.search.index.folder import Files
from tau_browser.search.index.postings import open_postings, writer, written
from tests.benchmarks.measuring import cpu
from tests.benchmarks.table import Figure


def figures(engine: Engine, store: Path, entries: int) -> list[Figure]:
    """Makes the index of a store anew. Building against bare tantivy, embedding, bytes."""
    shutil.rmtree(engine.folder, ignore_errors=True)
    source = sum(path.stat().st_size for path in store.rglob("*.jsonl"))
    built = cpu(engine.update)
    bare = cpu(lambda: _bare_build(store, store.parent / "bare"))
    words = Files(engine.folder).size()
    embedded = cpu(lambda: [None for _ in engine.embed()])
    return [
        Figure("CPU seconds to index 1,500 entries", built / entries * 1500, 1, "s"),
        Figure("the same / bare tantivy: decoding, and the same fields", built / bare, 1 / 0.6),
        Figure(
            "CPU seconds to index and embed 1,500 entries",
            (built + embedded) / entries * 1500,
            1,
            "s",
        ),
        Figure("bytes of the index without vectors / bytes of the sessions", words / source, 0.6),
        Figure("bytes of the index, all parts / the same", engine.size() / source, 1),
    ]


def _bare_build(store: Path, folder: Path) -> None:
    """The same documents in tantivy alone: no catalog, no tree, no freshness."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    bare = writer(open_postings(str(folder)))
    decode = msgspec.json.Decoder().decode
    number = 0
    for path in sorted(store.rglob("*.jsonl")):
        with path.open("rb") as file:
            next(file)
            for line in file:
                number += 1
                bare.add_document(written(number, [1], document_of(decode(line), is_error=False)))
    bare.commit()
    bare.wait_merging_threads()
    shutil.rmtree(folder)
