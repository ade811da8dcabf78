"""Search over all sessions of a store: each ranker asked by itself, fused here, shown in place.

Nothing is hidden: an answer says what was searched, what could not be, and what a word was taken
for. An index that is not there yet, or behind, is no reason to wait: what it lacks is scanned.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tau_browser.model.session import Session
from tau_browser.model.text import counted
from tau_browser.search import answers, fusion, lexical, unindexed
from tau_browser.search.answers import BM25, NEURAL, STATIC, can_mean, is_as_typed, words_of
from tau_browser.search.clauses import How
from tau_browser.search.fusion import DEFAULT_WEIGHTS, Ranking
from tau_browser.search.hits import Entries
from tau_browser.search.index.folder import Files, NoIndex, index_folder
from tau_browser.search.index.reader import Reader
from tau_browser.search.index.recent import Recent
from tau_browser.search.index.update import Progress, Report, update
from tau_browser.search.known import Values, known_values
from tau_browser.search.logs import Logs
from tau_browser.search.manner import FILES
from tau_browser.search.query import Query
from tau_browser.search.results import NEWEST, Asking, Coverage, Found, Hit, Method, Results
from tau_browser.search.scan import Hit as Scanned
from tau_browser.search.semantic.embedding import Embedded, embed, embedded, vectors_of
from tau_browser.search.semantic.minilm import ModelUnavailable, is_installed, load_model
from tau_browser.search.semantic.rerank import Reranker
from tau_browser.search.semantic.table import static_table
from tau_browser.search.semantic.vector_cache import VectorCache
from tau_browser.search.surroundings import Surroundings
from tau_browser.stores.store import Store

_VECTORS = "vectors"
_RERANKED = 50
_WIDENED = {
    How.INSIDE: "{} is no word here: found inside others",
    How.TYPO: "{} is nowhere: found one letter off",
}
Cancelled = Callable[[], bool]


def _never() -> bool:
    return False


class Engine:
    """The search of one store, for any number of threads. One at a time is let in; scans and the
    model of the extra, which take their time, run outside."""

    manner = FILES

    def __init__(self, store: Store, cache_folder: Path) -> None:
        self._store = store
        self._logs = Logs(store)
        self.unable: dict[str, str] = {}
        self.folder = index_folder(cache_folder, store)
        self._lock = threading.RLock()
        self._scoring = threading.Lock()
        self._placing = threading.Lock()
        self._surroundings = Surroundings(store)
        self._opened: Entries | None = None
        self._followed: dict[str, Session] = {}
        self._moment = 0  # goes on whenever the keys of entries in memory change
        self._loaded: Reranker | None = None

    # Making the index

    def update(
        self,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: Cancelled = _never,
        *,
        rebuild: bool = False,
    ) -> Report:
        """Index what is new. Raises IndexBusy."""
        return update(self._store, self.folder, progress, cancelled, rebuild=rebuild)

    def embed(self, cancelled: Cancelled = _never) -> Iterator[Embedded]:
        """Give vectors to what has none. Raises NoIndex, IndexBusy and OSError."""
        entries = self._open()
        reader = entries.reader
        with Files(self.folder).locked():
            yield from embed(
                self.folder / _VECTORS, reader.made, reader.numbers(), entries.text, cancelled
            )

    def follow(self, path: str, session: Session) -> None:
        """Let what a session holds as it stands now be found at once, indexed or not."""
        with self._lock:
            self._followed[path] = session
            with contextlib.suppress(NoIndex):  # without an index all is scanned anyway
                self._keep_in_memory(self._open(), path, session)

    def forget(self, path: str) -> None:
        """A session is no longer followed."""
        with self._lock:
            self._followed.pop(path, None)
            if self._opened is not None and self._opened.recent is not None:
                with contextlib.suppress(NoIndex):
                    self._opened.recent.forget(path)
            self._moment += 1

    # Searching

    def search(
        self,
        query: Query,
        method: Method = Method.HYBRID,
        *,
        limit: int = 50,
        paths: Collection[str] | None = None,
        weights: Mapping[str, float] = DEFAULT_WEIGHTS,
        fused_by: fusion.Method = fusion.Method.CONVEX,
    ) -> Results:
        """The best hits in some session files, or in all, by the index and in what is followed.
        For methods that take the query as it is: `answers.query_as_typed`. Raises NoIndex and
        QueryError."""
        return self.answer(Asking(query, method, limit, paths, weights, fused_by))

    def answer(self, asking: Asking, cancelled: Cancelled = _never) -> Results:
        """The same. Methods that take the query as it is scan all files, and need no index."""
        if is_as_typed(asking.method):
            return self._scan(asking, Found(), [], cancelled)
        with self._lock:
            entries = self._open()
            found, remarks = self._found(entries, asking)
            return self._results(asking, found, remarks)

    def early(self, asking: Asking, cancelled: Cancelled = _never) -> Iterator[Results]:
        """What there is to be seen before the answer: what was found by words. Raises NoIndex and
        QueryError."""
        if asking.method is Method.HYBRID and can_mean(asking):
            yield self.answer(replace(asking, method=Method.BM25), cancelled)

    def scan(self, asking: Asking, cancelled: Cancelled = _never) -> Results:
        """The answer where there is no index. Raises QueryError."""
        return self._scan(asking, Found(), [], cancelled)

    def completed(self, results: Results, cancelled: Cancelled = _never) -> Results:
        """The same answer with what is not indexed yet: a scan finds it. Raises QueryError."""
        if is_as_typed(results.method) or results.method is Method.VECTOR:
            return results
        return self._scan(results.asking, results.found, results.remarks, cancelled)

    def reranked(self, results: Results, cancelled: Cancelled = _never) -> Results:
        """The same answer with its first hits scored again by the model of the extra. Takes tens
        of milliseconds per hit that is not cached. The same answer where the extra is not there,
        where it has no say, or when cancelled. Raises NoIndex."""
        asking, found = results.asking, results.found
        if results.reranked or not found.rankings or not can_rerank(asking):
            return results
        with self._lock:
            if not self._still_holds(found):
                return results
            first = [each.key for each in answers.fused(asking, found)[:_RERANKED]]
            texts = list(map(self._open().text, first))
        scored: list[tuple[int, float]] = []
        try:
            with self._scoring:
                scores = self._reranker().scores(words_of(asking.query), texts)
                for key, score in zip(first, scores, strict=True):
                    scored.append((key, score))
                    if cancelled():
                        return results
        except ModelUnavailable as error:
            return replace(results, remarks=[*results.remarks, str(error)])
        scored.sort(key=lambda each: -each[1])
        found = replace(found, rankings=(*found.rankings, Ranking(NEURAL, scored)))
        with self._lock:
            if not self._still_holds(found):
                return results
            better = self._results(asking, found, results.remarks)
            return replace(better, coverage=results.coverage)

    def placed(self, results: Results, cancelled: Cancelled = _never) -> Results:
        """The same answer, each hit with the turn that it stands in. Reads the sessions."""
        with self._placing:
            return replace(results, hits=self._surroundings.of(results.hits, cancelled))

    def explained(self, hit: Hit, query: Query) -> Hit:
        """The same hit: what matched is told in it already."""
        return hit

    def coverage(self) -> Coverage:
        """What a search looks through. Raises NoIndex."""
        with self._lock:
            reader = self._open().reader
            files = reader.files()
            return Coverage(
                sessions=len(files),
                entries=reader.entries,
                indexed=reader.count,
                embedded=embedded(self.folder / _VECTORS, reader.made).contents,
                skipped=[(file.path, file.problem) for file in files if file.problem],
            )

    def values(self) -> Values:
        """What filters may ask for. Raises NoIndex."""
        with self._lock:
            return known_values(self._open().reader)

    def size(self) -> int:
        """Bytes of all files of the index."""
        return Files(self.folder).size()

    def close(self) -> None:
        """Let go of all files."""
        with self._placing:
            self._surroundings.close()
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _open(self) -> Entries:
        if self._opened is None:
            reader = Reader(self.folder, self._store.name, self._logs)
            self._opened = Entries(reader, None, self._logs)
            self._moment += 1
            for path, session in self._followed.items():
                self._keep_in_memory(self._opened, path, session)
        elif self._opened.reader.refresh() and self._opened.recent is not None:
            self._opened.recent.settle()
            self._moment += 1
        return self._opened

    def _keep_in_memory(self, entries: Entries, path: str, session: Session) -> None:
        if entries.recent is None:
            entries.recent = Recent(entries.reader, self._store.name)
        entries.recent.follow(path, session)
        self._moment += 1

    def _found(self, entries: Entries, asking: Asking) -> tuple[Found, list[str]]:
        """What each ranker names, and what is to be said of it."""
        reader, query = entries.reader, asking.query
        most = max(asking.limit, fusion.CANDIDATES)
        groups = reader.select(query, asking.paths).groups
        found = Found(groups=groups, moment=self._moment)
        rankings: list[Ranking[int]] = []
        remarks: list[str] = []
        if asking.method is not Method.VECTOR:
            matches = lexical.search(
                reader,
                query,
                limit=most,
                paths=asking.paths,
                text_of=entries.text,
                recent=entries.recent or None,
            )
            found = replace(found, total=matches.total, widened=matches.widened)
            complete = matches.total == len(matches.hits)
            ranker = NEWEST if matches.by_time else BM25
            rankings.append(Ranking(ranker, matches.hits, complete, matches.full))
            remarks += [_WIDENED[it.how].format(repr(word)) for word, it in matches.widened.items()]
        if asking.method is not Method.BM25:
            nearest, remark = self._nearest(reader, asking, most)
            rankings += [Ranking(STATIC, nearest, len(nearest) < most)] if nearest else []
            remarks += [remark] if remark else []
        return replace(found, rankings=tuple(rankings)), remarks

    def _nearest(
        self, reader: Reader, asking: Asking, most: int
    ) -> tuple[list[tuple[int, float]], str]:
        """What means the same, and why there may be nothing."""
        if not can_mean(asking):
            return [], ""
        vectors = vectors_of(self.folder / _VECTORS, reader.made)
        if vectors is None:
            return [], "nothing is embedded yet: found by words alone"
        among = reader.contents(reader.select(asking.query, asking.paths))
        vector = static_table().encode([words_of(asking.query)])[0]
        return (vectors.nearest(vector, most, among) if vector.any() else []), ""

    def _scan(
        self, asking: Asking, found: Found, remarks: list[str], cancelled: Cancelled
    ) -> Results:
        """An answer with what a scan finds: in all files where the query is taken as it is, else
        in those that are not indexed as they are now."""
        paths = unindexed.session_paths(self._store, asking.paths)
        with self._lock:
            entries = self._open_if_there()
            known = entries.reader.files() if entries else []
            plain = entries.reader.plain_paths() if entries else set()
        waiting = unindexed.waiting(paths, known, self._logs)
        as_typed = is_as_typed(asking.method)
        query = asking.query
        if not as_typed:
            query, paths = unindexed.as_scanned(query), waiting
        places = unindexed.scanned(
            query,
            self._store.name,
            paths,
            lambda hit: as_typed or not self._is_known(hit),
            cancelled,
            plain,
            self._logs,
        )
        found = replace(found, scanned=tuple(places))
        if waiting and not as_typed:
            what = f"{counted(len(waiting), 'session')} not indexed yet"
            remarks = [*remarks, f"{what}: scanned for these very words"]
        with self._lock:
            if found.rankings and not self._still_holds(found):
                ranked, _ = self._found(self._open(), asking)
                found = replace(ranked, scanned=found.scanned)
            results = self._results(asking, found, remarks)
        coverage = replace(results.coverage, scanned=len(paths))
        if entries is None:
            coverage = replace(coverage, sessions=len(paths))
        return replace(results, coverage=coverage)

    def _is_known(self, hit: Scanned) -> bool:
        """Whether an entry can be found without a scan."""
        with self._lock:
            entries = self._open_if_there()
            return entries is not None and entries.holds(hit)

    def _results(self, asking: Asking, found: Found, remarks: list[str]) -> Results:
        entries = self._open_if_there()
        coverage = self.coverage() if entries else Coverage()
        return answers.results_of(
            self._store.name, self._logs, entries, asking, found, coverage, list(remarks)
        )

    def _open_if_there(self) -> Entries | None:
        with contextlib.suppress(NoIndex):
            return self._open()
        return None

    def _still_holds(self, found: Found) -> bool:
        """Whether the keys that were found still stand for what they stood for."""
        self._open()
        return found.moment == self._moment

    def _reranker(self) -> Reranker:
        if self._loaded is None:
            table = static_table()
            cache = VectorCache(self.folder / "reranked.db")
            self._loaded = Reranker(load_model(table.wordpiece), table, cache)
        return self._loaded


def can_rerank(asking: Asking) -> bool:
    """Whether the model of the extra is there and has a say."""
    return may_rerank(asking) and is_installed()


def may_rerank(asking: Asking) -> bool:
    """Whether the model of the extra would have a say if it were there."""
    wanted = asking.method is Method.HYBRID and asking.weights.get(NEURAL, 0) > 0
    return wanted and can_mean(asking)
