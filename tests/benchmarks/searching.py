"""The figures of the search, over an invented store: `make bench ARGS=--search=1000000`."""

from __future__ import annotations

from pathlib import Path

from tau_browser.search.engine import Engine
from tau_browser.search.index.reader import Reader
from tau_browser.stores.targets import store_over
from tests.benchmarks import arriving, indexing, querying, scanning
from tests.benchmarks.store import write_store
from tests.benchmarks.table import Figure


def figures(folder: Path, entries: int) -> list[Figure]:
    """Makes the index; asks it; scans the files; sees a new line come."""
    store = write_store(folder / f"invented-{entries}", entries)
    cache = folder / f"invented-cache-{entries}"
    engine = Engine(store_over([str(store)], None), cache)
    found = indexing.figures(engine, store, entries)
    found += querying.figures(engine)
    reader = Reader(engine.folder)
    found += scanning.figures(store, reader)
    found += arriving.figures(store, cache, reader)
    reader.close()
    engine.close()
    return found
