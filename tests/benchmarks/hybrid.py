"""What it costs to index, embed and search a store by words and by meaning together."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tau_browser.search.engine import Engine
from tau_browser.search.query import parse
from tau_browser.search.results import Method
from tau_browser.stores.targets import store_over
from tests.benchmarks.table import Figure
from tests.eval import corpus

_IN_A_SESSION = 1000
_ASKED = 120
_QUERIES = [
    "cache",
    "session",
    "retry timeout",
    "slow query index",
    '"did not need to change"',
    "why does the worker forget what it was doing after a restart",
    "how can the list be made faster when there are many files",
]


def figures(folder: Path, entries: int) -> list[Figure]:
    """Build with embedding, size of all parts, answers with their snippets."""
    sessions = folder / f"search-{entries}"
    if not sessions.is_dir():
        _write_sessions(sessions, entries)
    cache = folder / f"search-cache-{entries}"
    shutil.rmtree(cache, ignore_errors=True)
    engine = Engine(store_over([str(sessions)], None), cache)
    built = _cpu(engine.update)
    embedded = _cpu(lambda: [None for _ in engine.embed()])
    source = sum(path.stat().st_size for path in sessions.rglob("*.jsonl"))
    label = f"{entries:,} entries"
    found = [
        Figure(
            f"CPU seconds to index and embed 1,500 entries ({label})",
            (built + embedded) * 1500 / entries,
            1.0,
            "s",
        ),
        Figure(f"bytes of the index, all parts / source ({label})", engine.size() / source, 1.0),
        _answers(engine, label),
    ]
    engine.close()
    return found


def _answers(engine: Engine, label: str) -> Figure:
    times = []
    for query in itertools.islice(itertools.cycle(_QUERIES), _ASKED):
        start = time.perf_counter()
        engine.search(parse(query), Method.HYBRID, limit=50)
        times.append(time.perf_counter() - start)
    p95 = statistics.quantiles(times, n=20)[-1]
    return Figure(f"hybrid answer with 50 snippets, p95 ({label})", p95 * 1000, 60, "ms")


def _write_sessions(folder: Path, entries: int) -> None:
    texts = iter(corpus.filler(entries))
    for number in range(-(-entries // _IN_A_SESSION)):
        path = folder / f"--home-sam-p{number % 20}--" / f"{number:05}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        some = itertools.islice(texts, _IN_A_SESSION)
        path.write_text("".join(_lines(number, some)), encoding="ascii")


def _lines(session: int, texts: Iterator[corpus.Entry]) -> Iterator[str]:
    header = {"type": "session", "version": 1, "id": f"{session:032x}", "cwd": f"/p{session % 20}"}
    yield json.dumps(header | {"timestamp": "2026-11-01T00:00:00.000Z", "parent": None}) + "\n"
    rng = random.Random(session)
    above = None
    for number, entry in enumerate(texts):
        role = ("user", "assistant", "toolResult", "assistant")[number % 4]
        record = {
            "type": "message",
            "id": f"{session * _IN_A_SESSION + number:08x}",
            "parentId": above,
            "timestamp": f"2026-11-{1 + session % 28:02}T00:{number // 60 % 60:02}:00.000Z",
            "message": {"role": role, "content": [{"type": "text", "text": entry.text}]},
        }
        yield json.dumps(record) + "\n"
        if rng.random() < 0.98 or above is None:
            above = record["id"]


def _cpu(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
