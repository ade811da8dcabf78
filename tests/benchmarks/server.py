"""A JMFTS server: what listing, opening, searching, importing and forking cost, against the bare
requests and against τ's own store, on one server in one run."""

from __future__ import annotations

import shutil
import statistics
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

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
from tests.benchmarks.sessions import chain, write_session
from tests.benchmarks.table import Figure
from tests.environments import JMFTS, environment
from tests.jmfts import tau
from tests.jmfts.appliance import Appliance, start
from tests.jmfts.making import deep_chain, more_roots

_ROUNDS = 15
_DEEP = 1000
_DEEPEST = 10_000
_MANY = 1000  # conversations
_SHORT = 100  # entries of what is imported and forked
_QUERY = "long piece"  # which every entry holds
_USETYPES = [*(f"{TAU}{kind}" for kind in _SEARCHED), CHUNK]  # not what only holds others


class Cost(NamedTuple):
    """What something took, or how many times as much as something else. cpu: of all who take part:
    who asks, the server, PostgreSQL."""

    seconds: float
    cpu: float


Run = Callable[[], Cost]
"""Does something and tells what it took."""


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
        small = write_session(self.folder / f"server-{_SHORT}.jsonl", _SHORT, chain)
        deep = write_session(self.folder / f"server-{_DEEP}.jsonl", _DEEP, chain)
        root = self.bring(small)
        (imported,) = _ratios(self.run(self.bring, small), self.tau("import", small))
        (forked,) = _ratios(self.run(self.fork, root), self.tau("fork", root))
        for _ in range(sessions - len(self.scan())):
            self.bring(small)
        scan = self.run(self.scan)
        roots = self.get("/documents?usetype=tau:conversation&limit=1000")
        listed, listed_here = _ratios(scan, roots, self.tau("names"), rounds=7)
        long = self.bring(deep)
        subtree = self.get(f"/documents/{long}/subtree")
        opened, opened_here = _ratios(
            self.run(self.open_anew, long), subtree, self.tau("load", long)
        )
        (kept,) = _ratios(self.run(self.open, long), subtree)
        found, found_here = _ratios(
            self.run(self.search),
            self.run(self.bare_search),
            self.tau("search", _QUERY, _USETYPES),
        )
        more_roots(self.appliance, root, _MANY - len(self.scan()))
        (many,) = _ratios(scan, roots)
        bare, own, cpu = "the bare request", "τ's own store", "the same in CPU of all who take part"
        return [
            Figure(f"list of {sessions} sessions / {bare}", listed.seconds, 3.0),
            Figure(f"list of {_MANY:,} sessions / {bare}", many.seconds, 3.0),
            Figure(f"open a chain of {_DEEP:,} / {bare}", opened.seconds, 1.3),
            Figure(cpu, opened.cpu, 1.3),
            Figure(f"a chain of {_DEEP:,} once it is kept and checked / {bare}", kept.seconds, 1.0),
            Figure(f"search by bm25, 30 hits, what matched marked / {bare}", found.seconds, 3.0),
            Figure(f"list / {own}", listed_here.seconds, 0.05),
            Figure(f"open / {own}", opened_here.seconds, 1.2),
            Figure(cpu, opened_here.cpu, 1.2),
            Figure(f"that search / {own}, asked the same", found_here.seconds, 1.2),
            Figure(f"import of {_SHORT} entries / {own}", imported.seconds, 1.1),
            Figure(cpu, imported.cpu, 1.1),
            Figure(f"fork of {_SHORT} entries / {own}", forked.seconds, 1.1),
            Figure(cpu, forked.cpu, 1.1),
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
        (again,) = _ratios(self.run(self.open, root), self.run(self.open_anew, root), rounds=1)
        what = f"a chain of {_DEEPEST:,}"
        return [
            Figure(
                f"peak memory while {what} is opened / its answers, {body / 1e6:,.0f} MB",
                peak / body,
                1.5,
            ),
            Figure("bytes that came before its first rows are there / all", early / body, 0.1),
            Figure(f"{what} once it is kept and checked / opened anew", again.seconds, 0.1),
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

    def get(self, path: str) -> Run:
        return self.run(self.http.get, path)

    def bare_search(self) -> None:
        body = {"query": _QUERY, "limit": 30, "usetype": _USETYPES}
        self.http.post("/search/bm25", json=body)

    def tau(self, verb: str, *words: object) -> Run:
        def run() -> Cost:
            before = self.appliance.cpu()
            seconds, cpu = tau.cost(self.appliance, verb, *words)
            return Cost(seconds, cpu + self.appliance.cpu() - before)

        return run

    def run(self, do: Callable[..., object], *words: object) -> Run:
        def run() -> Cost:
            before = self.appliance.cpu()
            begun, cpu = time.perf_counter(), time.process_time()
            do(*words)
            seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
            return Cost(seconds, cpu + self.appliance.cpu() - before)

        return run


def _ratios(one: Run, *others: Run, rounds: int = _ROUNDS) -> list[Cost]:
    """How many times as much as each of the others one takes: the median over some turns, in each
    of which all are done, so that what else the machine does meets all alike."""
    turns = [_turn((one, *others), backwards=bool(turn % 2)) for turn in range(rounds)]
    return [
        Cost(*(statistics.median(turn[0][of] / turn[at][of] for turn in turns) for of in (0, 1)))
        for at in range(1, len(others) + 1)
    ]


def _turn(runs: tuple[Run, ...], *, backwards: bool) -> list[Cost]:
    """What each took, in their order; done in it, or backwards."""
    step = -1 if backwards else 1
    return [run() for run in runs[::step]][::step]
