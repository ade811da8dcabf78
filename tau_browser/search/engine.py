"""Search over all sessions of a store: each ranker asked by itself, fused here, shown in place.

Nothing is hidden: an answer says what was searched, what could not be, and what a word was taken
for. An index that is not there yet is no reason to wait: `update` makes it, and until then the
answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tau_browser.model.label import speaker_of
from tau_browser.model.payload import text_of
from tau_browser.model.summary import stamp_text
from tau_browser.search import fusion, lexical
from tau_browser.search.find import Pattern, QueryError, pattern_of, snippet
from tau_browser.search.fusion import DEFAULT_WEIGHTS, Fused, Ranking
from tau_browser.search.index.folder import Files, NoIndex, index_folder
from tau_browser.search.index.reader import Reader, Standing
from tau_browser.search.index.update import Progress, Report, update
from tau_browser.search.marks import spans_of
from tau_browser.search.query import Query
from tau_browser.search.results import Coverage, Hit, Method, Results
from tau_browser.search.semantic.embedding import Embedded, Embeddings, embed, read_embeddings
from tau_browser.search.texts import Texts
from tau_browser.stores.store import Store

_VECTORS = "vectors"
_STATIC = "static"
_BM25 = "bm25"


class Engine:
    """The search of one store. For one thread at a time."""

    def __init__(self, store: Store, cache_folder: Path) -> None:
        self._store = store
        self._folder = index_folder(cache_folder, store)
        self._reader: Reader | None = None
        self._texts = Texts()
        self._skipped: list[tuple[str, str]] = []

    # Making the index

    def update(
        self,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
        *,
        rebuild: bool = False,
    ) -> Report:
        """Index what is new. Raises IndexBusy."""
        report = update(self._store, self._folder, progress, cancelled, rebuild=rebuild)
        self._skipped = report.skipped
        return report

    def embed(self, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Embedded]:
        """Give vectors to what has none. Raises NoIndex, IndexBusy and OSError."""
        reader = self._open()
        with Files(self._folder).locked():
            yield from embed(
                self._folder / _VECTORS,
                reader.identity,
                reader.all_contents(),
                lambda content: self._texts.text_of_content(reader, content),
                cancelled,
            )

    # Searching

    def search(
        self,
        query: Query,
        method: Method = Method.HYBRID,
        *,
        limit: int = 50,
        paths: Collection[str] | None = None,
        weights: Mapping[str, float] = DEFAULT_WEIGHTS,
        fusion_method: fusion.Method = fusion.Method.CONVEX,
    ) -> Results:
        """The best hits in some session files, or in all. Raises NoIndex and QueryError."""
        reader = self._open()
        if method in (Method.SUBSTRING, Method.REGEX):
            return self._exact(reader, query, method, limit, paths)
        remarks: list[str] = []
        rankings, total = self._rankings(reader, query, method, limit, paths, remarks)
        fused = fusion.fuse(rankings, weights, fusion_method)
        total = max(total, len(fused))
        selection = reader.select(query, paths)
        hits = self._hits(reader, fused[:limit], query, selection.groups)
        return Results(query, method, hits, total, self.coverage(), remarks)

    def coverage(self) -> Coverage:
        """What a search looks through. Raises NoIndex."""
        reader = self._open()
        files = reader.files()
        embeddings = self._embeddings(reader)
        problems = [(file.path, file.problem) for file in files if file.problem]
        return Coverage(
            sessions=len(files),
            entries=reader.catalog.count("standings"),
            indexed=reader.catalog.count("contents"),
            embedded=embeddings.state.contents if embeddings else 0,
            skipped=sorted({*problems, *self._skipped}),
        )

    def close(self) -> None:
        """Let go of all files."""
        self._texts.close()
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> Reader:
        if self._reader is None:
            self._reader = Reader(self._folder, self._store.name)
        else:
            self._reader.refresh()
        return self._reader

    def _embeddings(self, reader: Reader) -> Embeddings | None:
        return read_embeddings(self._folder / _VECTORS, reader.identity)

    def _rankings(
        self,
        reader: Reader,
        query: Query,
        method: Method,
        limit: int,
        paths: Collection[str] | None,
        remarks: list[str],
    ) -> tuple[list[Ranking[int]], int]:
        """What each ranker that has a say names, and how many entries match by their words."""
        rankings: list[Ranking[int]] = []
        total = 0
        if method is not Method.VECTOR:
            matches = lexical.search(
                reader,
                query,
                limit=max(limit, fusion.CANDIDATES),
                paths=paths,
                text_of=lambda content: self._texts.text_of_content(reader, content),
            )
            total = matches.total
            remarks += [f"{word!r} is nowhere: {how.value}" for word, how in matches.widened.items()]
            rankings.append(Ranking(_BM25, matches.hits))
        if method in (Method.HYBRID, Method.VECTOR) and query.sought and not query.is_exact:
            embeddings = self._embeddings(reader)
            if embeddings is None:
                remarks.append("nothing is embedded yet: found by words alone")
            else:
                allowed = reader.contents(reader.select(query, paths))
                text = " ".join(term.text for term in query.sought)
                nearest = embeddings.nearest(text, fusion.CANDIDATES, allowed)
                rankings.append(Ranking(_STATIC, nearest))
        return rankings, total

    def _hits(
        self,
        reader: Reader,
        fused: Sequence[Fused[int]],
        query: Query,
        groups: Collection[int] | None,
    ) -> list[Hit]:
        wanted = [hit.key for hit in fused]
        inside = reader.standings(wanted, groups)
        everywhere = reader.standings(wanted) if groups is not None else inside
        hits = []
        for each in fused:
            if standings := inside.get(each.key):
                first = standings[0]
                others = [other for other in everywhere[each.key] if other != first]
                hits.append(self._hit(first, others, each, len(hits) + 1, query))
        return hits

    def _hit(
        self, standing: Standing, others: list[Standing], fused: Fused[int], rank: int, query: Query
    ) -> Hit:
        record = self._texts.record(standing)
        text = text_of(record)
        spans = []
        with suppress(QueryError):
            spans = spans_of(text, query)
        return Hit(
            standing=standing,
            entry=str(record.get("id") or ""),
            speaker=speaker_of(record),
            time=stamp_text(record.get("timestamp")),
            rank=rank,
            score=fused.score,
            parts=fused.parts,
            spans=spans,
            snippet=snippet(text, spans),
            also_in=others,
        )

    def _exact(
        self,
        reader: Reader,
        query: Query,
        method: Method,
        limit: int,
        paths: Collection[str] | None,
    ) -> Results:
        """Every entry whose text holds the query as typed, newest sessions first."""
        pattern = pattern_of(query.text, regex=method is Method.REGEX)
        found: list[tuple[int, Standing]] = []
        if pattern is not None:
            found = list(self._holding(reader, pattern, paths))
        hits = []
        for content, standing in found[:limit]:
            others = [other for other in reader.standings([content])[content] if other != standing]
            fused: Fused[int] = Fused(content, ())
            hit = self._hit(standing, others, fused, len(hits) + 1, Query(query.text))
            text = text_of(self._texts.record(standing))
            spans = pattern.spans(text) if pattern else []
            hits.append(_with_spans(hit, spans, text))
        return Results(query, method, hits, len(found), self.coverage())

    def _holding(
        self, reader: Reader, pattern: Pattern, paths: Collection[str] | None
    ) -> Iterator[tuple[int, Standing]]:
        raise NotImplementedError


def _with_spans(hit: Hit, spans: list[tuple[int, int]], text: str) -> Hit:
    from dataclasses import replace

    return replace(hit, spans=spans, snippet=snippet(text, spans))
