"""What it costs to index and to search, against tantivy by itself and against the source."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tantivy

from tau_browser.search import lexical
from tau_browser.search.documents import document_of, is_error
from tau_browser.search.engine import Engine
from tau_browser.search.index.folder import Files
from tau_browser.search.index.postings import open_postings, writer, written
from tau_browser.search.index.reader import Reader
from tau_browser.search.query import parse
from tau_browser.search.results import Method
from tau_browser.stores.session_file import load_session
from tau_browser.stores.targets import store_over
from tests.benchmarks.table import Figure
from tests.eval import corpus

_IN_A_SESSION = 1000
_ROUNDS = 15
# Only kinds for which tantivy, asked plainly, looks for the same: it knows no parts of identifiers,
# no CJK and no typos.
_QUERIES = {
    "a common word": ["cache", "request", "session", "test", "path"],
    "words": ["retry timeout", "slow query index", "worker lock release"],
    "a phrase": ['"did not need to change"', '"most recent call last"'],
    "a sentence": [
        "why does the worker forget what it was doing after a restart",
        "how can the list be made faster when there are many files",
    ],
}


def figures(folder: Path, entries: int) -> list[Figure]:
    """Build, size and query figures over generated sessions."""
    sessions = folder / f"search-{entries}"
    if not sessions.is_dir():
        _write_sessions(sessions, entries)
    cache = folder / f"search-cache-{entries}"
    shutil.rmtree(cache, ignore_errors=True)
    engine = Engine(store_over([str(sessions)], None), cache)
    built = _cpu(engine.update)
    embedded = _cpu(lambda: [None for _ in engine.embed()])
    source = sum(path.stat().st_size for path in sessions.rglob("*.jsonl"))
    bare = _cpu(lambda: _bare_build(sessions))
    label = f"{entries:,} entries"
    found = [
        Figure(
            f"CPU seconds to index and embed 1,500 entries ({label})",
            (built + embedded) * 1500 / entries,
            1.0,
            "s",
        ),
        Figure(
            f"CPU of the lexical build / bare tantivy, same fields ({label})", built / bare, 1 / 0.6
        ),
        Figure(f"bytes of the index, all parts / source ({label})", engine.size() / source, 1.0),
    ]
    found += _query_figures(engine, label)
    engine.close()
    return found


def _query_figures(engine: Engine, label: str) -> Iterator[Figure]:
    reader = Reader(engine.folder)
    index = open_postings(str(Files(engine.folder).postings))
    searcher = index.searcher()
    for name, queries in _QUERIES.items():
        ours = _least(
            lambda q=queries: [lexical.search(reader, parse(one), limit=200) for one in q]
        )
        bare = _least(lambda q=queries: [_bare_search(index, searcher, one) for one in q])
        yield Figure(f"query CPU, {name} / bare tantivy ({label})", ours / bare, 1.5)
    times = []
    for query in itertools.islice(itertools.cycle(itertools.chain(*_QUERIES.values())), 120):
        start = time.perf_counter()
        engine.search(parse(query), Method.HYBRID, limit=50)
        times.append(time.perf_counter() - start)
    p95 = statistics.quantiles(times, n=20)[-1]
    yield Figure(f"hybrid answer with 50 snippets, p95 ({label})", p95 * 1000, 60, "ms")


def _bare_search(index: tantivy.Index, searcher: tantivy.Searcher, query: str) -> None:
    words = query.replace('"', "").lower()
    fields = ["user", "assistant", "thinking", "arguments", "output", "note", "stem"]
    searcher.search(index.parse_query_lenient(words, fields)[0], 200)


def _bare_build(sessions: Path) -> None:
    index = open_postings(None)
    made = writer(index)
    number = 0
    for path in sorted(sessions.rglob("*.jsonl")):
        session = load_session(str(path))
        for place in range(len(session)):
            record = session.record(place)
            number += 1
            made.add_document(written(number, [1], document_of(record, is_error=is_error(record))))
    made.commit()


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


def _least(run: Callable[[], object]) -> float:
    return min(_cpu(run) for _ in range(_ROUNDS))
