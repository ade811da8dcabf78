"""Search over all sessions of a store: each ranker asked by itself, fused here, shown in place.

Nothing is hidden: an answer says what was searched, what could not be, and what a word was taken
for. An index that is not there yet is no reason to wait: `update` makes it, and until then the
answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tau_browser.model.label import speaker_of
from tau_browser.model.payload import text_of
from tau_browser.model.summary import stamp_text
from tau_browser.search import fusion, lexical
from tau_browser.search.clauses import How, Widened
from tau_browser.search.documents import content_of
from tau_browser.search.find import QueryError, Span, snippet
from tau_browser.search.fusion import DEFAULT_WEIGHTS, Fused, Ranking
from tau_browser.search.highlight import Highlighter, spans_of
from tau_browser.search.index.folder import Files, index_folder
from tau_browser.search.index.reader import Reader, Standing
from tau_browser.search.index.update import Progress, Report, update
from tau_browser.search.matching import pattern_for
from tau_browser.search.query import Kind, Query, Term
from tau_browser.search.results import Coverage, Hit, Method, Results
from tau_browser.search.scan import scan
from tau_browser.search.semantic.embedding import Embedded, embed, embedded, vectors_of
from tau_browser.search.semantic.minilm import ModelUnavailable, is_installed, load_model
from tau_browser.search.semantic.rerank import Reranker
from tau_browser.search.semantic.table import static_table
from tau_browser.search.semantic.vector_cache import VectorCache
from tau_browser.search.texts import Texts
from tau_browser.stores.store import Store

_VECTORS = "vectors"
_BM25, _STATIC, _NEURAL = "bm25", "static", "neural"
_RERANKED = 50
_EXACT = {Method.SUBSTRING: Kind.PHRASE, Method.REGEX: Kind.REGEX}
_WIDENED = {
    How.INSIDE: "{} is no word here: found inside others",
    How.TYPO: "{} is nowhere: found one letter off",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the last answer was to. `groups`: where its hits must stand, or None for anywhere."""

    query: Query
    method: Method
    limit: int
    widened: Mapping[str, Widened]
    groups: Collection[int] | None


class Engine:
    """The search of one store. For one thread at a time."""

    def __init__(self, store: Store, cache_folder: Path) -> None:
        self._store = store
        self.folder = index_folder(cache_folder, store)
        self._opened: tuple[Reader, Texts] | None = None
        self._loaded: Reranker | None = None
        self._asked = _Asked(Query(""), Method.HYBRID, 0, {}, None)

    # Making the index

    def update(
        self,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
        *,
        rebuild: bool = False,
    ) -> Report:
        """Index what is new. Raises IndexBusy."""
        return update(self._store, self.folder, progress, cancelled, rebuild=rebuild)

    def embed(self, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Embedded]:
        """Give vectors to what has none. Raises NoIndex, IndexBusy and OSError."""
        reader, texts = self._open()
        with Files(self.folder).locked():
            yield from embed(
                self.folder / _VECTORS, reader.made, reader.numbers(), texts.text, cancelled
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
        fused_by: fusion.Method = fusion.Method.CONVEX,
    ) -> Results:
        """The best hits in some session files, or in all. Raises NoIndex and QueryError."""
        reader, texts = self._open()
        if method in _EXACT:
            return self._exact(query, method, limit, paths)
        rankings: list[Ranking[int]] = []
        remarks: list[str] = []
        total = 0
        widened: Mapping[str, Widened] = {}
        if method is not Method.VECTOR:
            matches = lexical.search(
                reader,
                query,
                limit=max(limit, fusion.CANDIDATES),
                paths=paths,
                text_of=texts.text,
            )
            total, widened = matches.total, matches.widened
            complete = total == len(matches.hits)
            rankings.append(Ranking(_BM25, matches.hits, complete, matches.full))
            remarks += [_WIDENED[each.how].format(repr(word)) for word, each in widened.items()]
        if method is not Method.BM25:
            nearest, remark = self._nearest(reader, query, paths)
            complete = len(nearest) < fusion.CANDIDATES
            rankings += [Ranking(_STATIC, nearest, complete=complete)] if nearest else []
            remarks += [remark] if remark else []
        self._asked = _Asked(query, method, limit, widened, reader.select(query, paths).groups)
        return self._answer(rankings, total, remarks, weights, fused_by)

    def _exact(
        self, query: Query, method: Method, limit: int, paths: Collection[str] | None
    ) -> Results:
        """Every entry that holds the query as it was typed, by session file and place."""
        reader, texts = self._open()
        term = Term(_EXACT[method], query.text, 0, len(query.text))
        exact = Query(query.text, (term,))
        searched = [file.path for file in reader.files() if paths is None or file.path in paths]
        found: dict[int, tuple[str, int]] = {}
        unknown = 0
        for batch in scan(exact, searched):
            for hit in batch:
                content = reader.number_of(content_of(hit.record))
                unknown += content is None
                if content is not None:
                    found.setdefault(content, (hit.path, hit.start))
        fused = [Fused(content, ()) for content in sorted(found, key=found.__getitem__)]
        remarks = [f"{unknown:,} more hits are not indexed yet"] if unknown else []
        groups = reader.select(exact, paths).groups
        hits = _Hits(reader, texts, pattern_for(term).spans).of(fused[:limit], groups)
        return Results(query, method, hits, len(found), 0, self.coverage(), [], remarks)

    def rerank(
        self,
        results: Results,
        cancelled: Callable[[], bool] = lambda: False,
        weights: Mapping[str, float] = DEFAULT_WEIGHTS,
        fused_by: fusion.Method = fusion.Method.CONVEX,
    ) -> Results:
        """The last answer with its first hits scored again by the model of the extra. Takes tens
        of milliseconds per hit that is not cached. The same answer where the extra is not there,
        where the query is exact, or when cancelled. Raises NoIndex."""
        if results.query.is_exact or not results.query.sought or not is_installed():
            return results
        _, texts = self._open()
        first = [each.key for each in fusion.fuse(results.rankings, weights, fused_by)[:_RERANKED]]
        scored: list[tuple[int, float]] = []
        try:
            scores = self._reranker().scores(
                " ".join(term.text for term in results.query.sought),
                (texts.text(content) for content in first),
            )
            for content, score in zip(first, scores, strict=True):
                scored.append((content, score))
                if cancelled():
                    return results
        except ModelUnavailable as error:
            return replace(results, remarks=[*results.remarks, str(error)])
        scored.sort(key=lambda each: -each[1])
        rankings = [*results.rankings, Ranking(_NEURAL, scored)]
        return self._answer(rankings, results.total, results.remarks, weights, fused_by)

    def _answer(
        self,
        rankings: list[Ranking[int]],
        total: int,
        remarks: list[str],
        weights: Mapping[str, float],
        fused_by: fusion.Method,
    ) -> Results:
        reader, texts = self._open()
        asked = self._asked
        fused = fusion.fuse(rankings, weights, fused_by)
        similar = sum(all(part.ranker != _BM25 for part in each.parts) for each in fused)
        highlighter = Highlighter(asked.query, asked.widened)
        marked = _Hits(reader, texts, lambda text: spans_of(highlighter.marks(text)))
        hits = marked.of(fused[: asked.limit], asked.groups)
        coverage = self.coverage()
        return Results(asked.query, asked.method, hits, total, similar, coverage, rankings, remarks)

    def _reranker(self) -> Reranker:
        if self._loaded is None:
            table = static_table()
            cache = VectorCache(self.folder / "reranked.db")
            self._loaded = Reranker(load_model(table.wordpiece), table, cache)
        return self._loaded

    def coverage(self) -> Coverage:
        """What a search looks through. Raises NoIndex."""
        reader, _ = self._open()
        files = reader.files()
        return Coverage(
            sessions=len(files),
            entries=reader.catalog.count("standings"),
            indexed=reader.count,
            embedded=embedded(self.folder / _VECTORS, reader.made).contents,
            skipped=[(file.path, file.problem) for file in files if file.problem],
        )

    def size(self) -> int:
        """Bytes of all files of the index."""
        return Files(self.folder).size()

    def close(self) -> None:
        """Let go of all files."""
        if self._opened is not None:
            for each in self._opened:
                each.close()
            self._opened = None

    def _open(self) -> tuple[Reader, Texts]:
        if self._opened is None:
            reader = Reader(self.folder, self._store.name)
            self._opened = reader, Texts(reader)
        else:
            self._opened[0].refresh()
        return self._opened

    def _nearest(
        self, reader: Reader, query: Query, paths: Collection[str] | None
    ) -> tuple[list[tuple[int, float]], str]:
        """What means the same, and why there may be nothing."""
        if not query.sought or query.is_exact:
            return [], ""
        vectors = vectors_of(self.folder / _VECTORS, reader.made)
        if vectors is None:
            return [], "nothing is embedded yet: found by words alone"
        text = " ".join(term.text for term in query.sought)
        among = reader.contents(reader.select(query, paths))
        vector = static_table().encode([text])[0]
        return (vectors.nearest(vector, fusion.CANDIDATES, among) if vector.any() else []), ""


class _Hits:
    """Makes hits of what was found: read where they stand, with what matched marked."""

    def __init__(self, reader: Reader, texts: Texts, spans: Callable[[str], list[Span]]) -> None:
        self._reader = reader
        self._texts = texts
        self._spans_of = spans

    def of(self, fused: Sequence[Fused[int]], groups: Collection[int] | None) -> list[Hit]:
        """The hits in their order. `groups`: where they must stand, or None for anywhere."""
        contents = [each.key for each in fused]
        everywhere = self._reader.standings(contents)
        inside = everywhere if groups is None else self._reader.standings(contents, groups)
        hits: list[Hit] = []
        for each in fused:
            if standings := inside.get(each.key):
                others = [one for one in everywhere[each.key] if one != standings[0]]
                hits.append(self._hit(each, standings[0], others, len(hits) + 1))
        return hits

    def _hit(self, fused: Fused[int], standing: Standing, others: list[Standing], rank: int) -> Hit:
        record = self._texts.record(fused.key, standing)
        text = text_of(record)
        spans = self._spans(text)
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

    def _spans(self, text: str) -> list[Span]:
        try:
            return self._spans_of(text)
        except QueryError:  # an expression that takes too long on this one text
            return []
