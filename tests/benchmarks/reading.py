"""What it costs to read a session to a browsable tree."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import msgspec

from tau_browser.model.heads import Head
from tau_browser.model.rows import Rows
from tau_browser.model.session import Session
from tau_browser.stores.session_file import SessionFile, load_session
from tests.benchmarks.table import Figure

_ROUNDS = 5


def figures(path: Path, entries: int) -> list[Figure]:
    """CPU against a bare decode of the same heads, memory per entry, and when rows are there."""
    bare, browsable = alternate(lambda: _decode_heads(path), lambda: _browsable(path))
    return [
        Figure(
            f"CPU to a browsable tree, {entries:,} entries / bare msgspec decode of the heads",
            browsable / bare,
            2.5,
        ),
        Figure(
            "peak memory above the file's own pages, per entry",
            _memory(path) / entries,
            400,
            "bytes",
        ),
        Figure(
            "bytes read before the first rows are there / bytes of the file", _first_rows(path), 0.1
        ),
    ]


def shape_figures(paths: dict[str, Path]) -> list[Figure]:
    """CPU for odd shapes against a bare decode: no shape may cost more than its entries."""
    found = []
    for shape, path in paths.items():
        bare, browsable = alternate(lambda p=path: _decode_heads(p), lambda p=path: _browsable(p))
        found.append(Figure(f"the same, {shape}", browsable / bare, 10))
    return found


def alternate(*measured: Callable[[], object], rounds: int = _ROUNDS) -> list[float]:
    """The least CPU seconds of each over several rounds, taken in turns."""
    least = [float("inf")] * len(measured)
    for _ in range(rounds):
        for at, run in enumerate(measured):
            gc.collect()
            start = time.process_time()
            run()
            least[at] = min(least[at], time.process_time() - start)
    return least


def _decode_heads(path: Path) -> None:
    decode = msgspec.json.Decoder(Head).decode
    with path.open("rb") as file:
        next(file)
        for line in file:
            decode(line)


def _browsable(path: Path) -> tuple[Session, Rows]:
    session = load_session(str(path))
    return session, Rows(session.outline)


def _memory(path: Path) -> int:
    tracemalloc.start()
    kept = _browsable(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return peak


def _first_rows(path: Path) -> float:
    progress = next(p for p in SessionFile(str(path)).load() if p.session is not None)
    assert progress.session is not None and len(Rows(progress.session.outline))
    return progress.done / progress.total
