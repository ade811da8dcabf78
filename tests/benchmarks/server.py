"""A JMFTS server: what listing, opening, searching, importing and forking cost, against the bare
requests and against τ's own store, on one server in one run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tau_browser.actions import reading as readings
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.reading import read_file
from tau_browser.actions.server_import import plan_import
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.search.query import parse
from tau_browser.search.results import Asking, Method
from tau_browser.search.server.engine import ServerEngine
from tau_browser.stores.jmfts.store import JmftsStore
from tests.benchmarks.sessions import chain, write_session
from tests.benchmarks.table import Figure
from tests.environments import JMFTS, environment
from tests.jmfts import tau
from tests.jmfts.appliance import Appliance, start

_ROUNDS = 5
_DEEP = 1000


def figures(folder: Path, sessions: int) -> list[Figure]:
    """`sessions`: how many there are on the server besides the deep one."""
    appliance = start(environment(*JMFTS))
    readings._STILL = 0  # what was just written is not being written
    try:
        return _measured(appliance, folder, sessions)
    finally:
        appliance.stop()


def _measured(appliance: Appliance, folder: Path, sessions: int) -> list[Figure]:
    small = write_session(folder / "server-50.jsonl", 50, chain)
    deep = write_session(folder / f"server-{_DEEP}.jsonl", _DEEP, chain)
    cache = folder / "server-cache"
    shutil.rmtree(cache, ignore_errors=True)
    store = JmftsStore(appliance.url, appliance.token, cache)
    writer, journal = ServerWriter(store), Journal(folder / "server-changes")
    http = httpx.Client(
        base_url=appliance.url,
        headers={"Authorization": f"Bearer {appliance.token}"},
        timeout=300,
        trust_env=False,
    )

    def bring() -> int:
        return int(writer.apply(plan_import(read_file(str(small)), writer), journal).path)

    def fork(root: int) -> None:
        plan = plan_fork(writer.read(str(root), journal), ForkRequest(), writer)
        writer.apply(plan, journal)

    found = {
        "import": (_least(bring, 3), min(_tau(appliance, "import", str(small)) for _ in range(3))),
    }
    root = bring()
    found["fork"] = (
        _least(lambda: fork(root), 3),
        min(_tau(appliance, "fork", root) for _ in range(3)),
    )
    for _ in range(max(0, sessions - 14)):
        bring()
    long = int(writer.apply(plan_import(read_file(str(deep)), writer), journal).path)

    def open_anew() -> None:
        store._cache.forget(long)
        list(store.open(str(long)).load())

    raw = _least(lambda: http.get(f"/documents/{long}/subtree"))
    pages = "/documents?usetype=tau:conversation&limit=1000"
    engine = ServerEngine(store, folder)

    def search() -> None:
        engine._asked.clear()
        engine.answer(Asking(parse("tree merge"), Method.BM25))

    body = {"query": "tree merge", "limit": 30}
    opened = _least(open_anew)
    kept = _least(lambda: list(store.open(str(long)).load()))
    ours = {
        "list": (_least(lambda: list(store.scan())), _tau(appliance, "names")),
        "open": (opened, min(_tau(appliance, "load", long) for _ in range(3))),
        "search": (
            _least(search),
            min(_tau(appliance, "search", "tree merge") for _ in range(_ROUNDS)),
        ),
        **found,
    }
    against_raw = {
        f"list of {sessions} sessions": (ours["list"][0], _least(lambda: http.get(pages))),
        f"open a chain of {_DEEP:,}": (opened, raw),
        f"the same once it is kept, {kept * 1000:.0f} ms": (kept, raw),
        "search by bm25, 30 hits": (
            ours["search"][0],
            _least(lambda: http.post("/search/bm25", json=body)),
        ),
    }
    limits = {f"open a chain of {_DEEP:,}": 1.3}
    return [
        *(
            Figure(f"{what} / the bare request", own / bare, limits.get(what, 3.0))
            for what, (own, bare) in against_raw.items()
        ),
        *(
            Figure(f"{what} / τ's own store", own / other, 0.1 if what == "list" else 1.2)
            for what, (own, other) in ours.items()
        ),
    ]


def _tau(appliance: Appliance, verb: str, *words: object) -> float:
    return tau.seconds(appliance, verb, *words)


def _least(do: Callable[[], object], rounds: int = _ROUNDS) -> float:
    """Seconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        do()
        times.append(time.perf_counter() - begun)
    return min(times)
