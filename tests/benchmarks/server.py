"""A JMFTS server: what listing, opening, searching, importing and forking cost, against the bare
requests and against τ's own store, on one server in one run."""

from __future__ import annotations

import shutil
import tracemalloc
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
from tau_browser.search.server.engine import _SEARCHED, ServerEngine
from tau_browser.stores.jmfts.documents import CHUNK, TAU
from tau_browser.stores.jmfts.store import JmftsStore
from tests.benchmarks.measuring import wall
from tests.benchmarks.sessions import chain, write_session
from tests.benchmarks.table import Figure
from tests.environments import JMFTS, environment
from tests.jmfts import tau
from tests.jmfts.appliance import Appliance, start
from tests.jmfts.making import deep_chain, more_roots

_ROUNDS = 7
_DEEP = 1000
_DEEPEST = 10_000
_MANY = 1000  # conversations
_QUERY = "long piece"  # which every entry holds

Timed = Callable[[], float]
"""Does something and tells how many seconds it took."""


def figures(folder: Path, sessions: int) -> list[Figure]:
    """`sessions`: how many there are on the server besides the deep one."""
    appliance = start(environment(*JMFTS))
    readings._STILL = 0  # what was just written is not being written
    try:
        return _Bench(appliance, folder).figures(sessions)
    finally:
        appliance.stop()


class _Bench:
    """One server, our store on it, and who else asks it."""

    def __init__(self, appliance: Appliance, folder: Path) -> None:
        cache = folder / "server-cache"
        shutil.rmtree(cache, ignore_errors=True)
        self.appliance, self.folder = appliance, folder
        self.store = JmftsStore(appliance.url, appliance.token, cache)
        self.writer = ServerWriter(self.store)
        self.journal = Journal(folder / "server-changes")
        self.engine = ServerEngine(self.store, folder)
        self.http = httpx.Client(
            base_url=appliance.url,
            headers={"Authorization": f"Bearer {appliance.token}"},
            timeout=300,
            trust_env=False,
        )

    def figures(self, sessions: int) -> list[Figure]:
        """All of them."""
        small = write_session(self.folder / "server-50.jsonl", 50, chain)
        deep = write_session(self.folder / f"server-{_DEEP}.jsonl", _DEEP, chain)
        root = self.bring(small)
        (imported,) = _ratios(_timed(self.bring, small), self.tau("import", small))
        (forked,) = _ratios(_timed(self.fork, root), self.tau("fork", root))
        for _ in range(sessions - len(self.scan())):
            self.bring(small)
        scan, roots = _timed(self.scan), self.get("/documents?usetype=tau:conversation&limit=1000")
        listed, listed_here = _ratios(scan, roots, self.tau("names"))
        long = self.bring(deep)
        subtree = self.get(f"/documents/{long}/subtree")
        opened, opened_here = _ratios(_timed(self.open_anew, long), subtree, self.tau("load", long))
        (kept,) = _ratios(_timed(self.open, long), subtree)
        found, found_here = _ratios(
            _timed(self.search), self.bare_search, self.tau("search", _QUERY)
        )
        more_roots(self.appliance, root, _MANY - len(self.scan()))
        (many,) = _ratios(scan, roots)
        bare, own = "the bare request", "τ's own store"
        return [
            Figure(f"list of {sessions} sessions / {bare}", listed, 3.0),
            Figure(f"list of {_MANY:,} sessions / {bare}", many, 3.0),
            Figure(f"open a chain of {_DEEP:,} / {bare}", opened, 1.3),
            Figure(f"the same once it is kept and checked / {bare}", kept, 1.0),
            Figure(f"search by bm25, 30 hits / {bare}", found, 3.0),
            Figure(f"list / {own}", listed_here, 0.05),
            Figure(f"open / {own}", opened_here, 1.2),
            Figure(
                f"search of entries, what matched marked / {own}, which searches roots too",
                found_here,
                1.2,
            ),
            Figure(f"import / {own}", imported, 1.2),
            Figure(f"fork / {own}", forked, 1.2),
            *self.of_the_deepest(),
        ]

    def of_the_deepest(self) -> list[Figure]:
        """What a conversation takes whose answer is nearly all paths."""
        root = deep_chain(self.appliance, _DEEPEST)
        tracemalloc.start()
        steps = list(self.store.open(str(root)).load())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        body = max(step.done for step in steps)
        early = next(step.done for step in steps if step.session is not None)
        (again,) = _ratios(_timed(self.open, root), _timed(self.open_anew, root), rounds=1)
        what = f"a chain of {_DEEPEST:,}"
        return [
            Figure(
                f"peak memory while {what} is opened / its answers, {body / 1e6:,.0f} MB",
                peak / body,
                1.5,
            ),
            Figure("bytes that came before its first rows are there / all", early / body, 0.1),
            Figure(f"{what} once it is kept and checked / opened anew", again, 0.1),
        ]

    # What is measured

    def bring(self, path: Path) -> int:
        plan = plan_import(read_file(str(path)), self.writer)
        return int(self.writer.apply(plan, self.journal).path)

    def fork(self, root: int) -> None:
        reading = self.writer.read(str(root), self.journal)
        self.writer.apply(plan_fork(reading, ForkRequest(), self.writer), self.journal)

    def scan(self) -> list[object]:
        return [*self.store.scan()]

    def open(self, root: int) -> None:
        for _ in self.store.open(str(root)).load():
            pass

    def open_anew(self, root: int) -> None:
        self.store._cache.forget(root)
        self.open(root)

    def search(self) -> None:
        self.engine._asker.forget()
        assert self.engine.answer(Asking(parse(_QUERY), Method.BM25)).hits

    # By others

    def get(self, path: str) -> Timed:
        return _timed(self.http.get, path)

    def bare_search(self) -> float:
        usetypes = [*(f"{TAU}{kind}" for kind in _SEARCHED), CHUNK]  # not what only holds others
        body = {"query": _QUERY, "limit": 30, "usetype": usetypes}
        return wall(lambda: self.http.post("/search/bm25", json=body))

    def tau(self, verb: str, *words: object) -> Timed:
        return lambda: tau.seconds(self.appliance, verb, *words)


def _timed(do: Callable[..., object], *words: object) -> Timed:
    return lambda: wall(lambda: do(*words))


def _ratios(one: Timed, *others: Timed, rounds: int = _ROUNDS) -> list[float]:
    """How many times as long as each of the others one takes: the fastest of some rounds in which
    they take turns."""
    taken = [[do() for do in (one, *others)] for _ in range(rounds)]
    own, *least = map(min, zip(*taken, strict=True))
    return [own / other for other in least]
