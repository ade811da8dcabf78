"""Search on a JMFTS server: each of its methods asked by itself and within the scope, fused here.

A hit is an entry. What was found in a piece of one (a message that was cut up for its vectors)
counts for the entry. Nothing outside the scope gets through, whatever the server answers: the
documents above each hit are looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from tau_browser.model.label import speaker_of
from tau_browser.model.payload import Record, text_of
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import Summary, stamp_text
from tau_browser.model.text import counted
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.search import fusion
from tau_browser.search.answers import can_mean, words_of
from tau_browser.search.find import QueryError, snippet
from tau_browser.search.fusion import Fused, Ranking
from tau_browser.search.highlight import Highlighter, Mark, spans_of
from tau_browser.search.hits import numbered
from tau_browser.search.index.reader import Standing
from tau_browser.search.index.update import Report
from tau_browser.search.known import Values
from tau_browser.search.manner import SERVER, Manner
from tau_browser.search.query import Kind, Query
from tau_browser.search.results import Asking, Coverage, Found, Hit, Method, Results
from tau_browser.search.snippets import snippet_of
from tau_browser.search.surroundings import Surroundings
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.documents import CHUNK, TAU, Located, Payload
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Listed, StoreError

Cancelled = Callable[[], bool]

_METHODS = {
    Method.HYBRID: ("bm25", "fulltext", "vector", "maxsim"),
    Method.BM25: ("bm25",),
    Method.FULLTEXT: ("fulltext",),
    Method.VECTOR: ("vector",),
    Method.MAXSIM: ("maxsim",),
}
_BY_MEANING = ("vector", "maxsim")
_SEARCHED = ("message", "customMessage", "compaction", "branch_summary", "elide")
_FILTERS = ("role", "kind", "since", "until", "project")
_LEAST, _MOST = 30, 100  # documents that a method is asked for; the server gives no more
_KNOWN_FOR = 20.0  # seconds for which roots and coverage count
_UNSEEN = "calls and thoughts are not searched on a server: / finds them in the open session"


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry as some method found it. pieces: in how many of its pieces."""

    document: int
    root: int
    record: Record
    pieces: int = 0


@dataclass(slots=True)
class _Named:
    """What one method names: entries with their scores, the best first."""

    ranking: list[tuple[int, float]] = field(default_factory=list)
    entries: dict[int, _Entry] = field(default_factory=dict)
    remark: str = ""
    complete: bool = False


class ServerEngine:
    """The search of one server, for any number of threads."""

    manner: Manner = SERVER

    def __init__(self, store: JmftsStore, cache_folder: Path) -> None:
        self._store = store
        self._client = store.client
        self.folder = cache_folder
        self.unable: dict[str, str] = {}
        """Methods that this server cannot do, and why."""
        self._summaries: dict[int, Summary] = {}
        self._coverage = Coverage()
        self._known_until = 0.0
        self._asked: dict[tuple[Any, ...], _Named] = {}  # of the query that was put last
        self._followed: tuple[str, Session] | None = None
        self._surroundings = Surroundings(store)

    # What an engine over files does besides; a server has its own indexes

    def update(self, *_: object, **__: object) -> Report:
        """Nothing: the server indexes what is written."""
        return Report()

    def embed(self, *_: object) -> Iterator[Any]:
        """Nothing: `enrich` does it."""
        return iter(())

    def scan(self, asking: Asking, cancelled: Cancelled = lambda: False) -> Results:
        """The answer: there is nothing that only a scan would find."""
        return self.answer(asking, cancelled)

    def completed(self, results: Results, cancelled: Cancelled = lambda: False) -> Results:
        """The same answer."""
        return results

    reranked = completed

    def follow(self, path: str, session: Session) -> None:
        """Let what the server does not search be found in the session that is open."""
        self._followed = path, session

    def forget(self, path: str) -> None:
        """A session is no longer open."""
        if self._followed is not None and self._followed[0] == path:
            self._followed = None

    def values(self) -> Values:
        """What filters may ask for: nothing that is known."""
        return {}

    def size(self) -> int:
        """Nothing is kept here."""
        return 0

    def close(self) -> None:
        """Let go of the sessions that were looked into."""
        self._surroundings.close()

    # Searching

    def answer(self, asking: Asking, cancelled: Cancelled = lambda: False) -> Results:
        """The best hits by the methods asked for. Raises QueryError for what a server cannot be
        asked, and where it cannot be asked at all."""
        methods = self._methods(asking)
        try:
            self._learn()
            named = self._ask(asking, methods, cancelled)
        except StoreError as error:
            raise QueryError(str(error)) from error
        return self._results(asking, named)

    def placed(self, results: Results, cancelled: Cancelled = lambda: False) -> Results:
        """The same answer, each hit with its state and the turn that it stands in; not those in
        sessions that are long and were never opened."""
        light: dict[str, bool] = {}
        hits: list[Hit] = []
        for hit in results.hits:
            path = hit.standing.path
            if path not in light and not cancelled():
                light[path] = self._store.is_light(path)
            hits += self._surroundings.of([hit], cancelled) if light.get(path) else [hit]
        return replace(results, hits=hits)

    def coverage(self) -> Coverage:
        """What a search looks through. Raises StoreError."""
        self._learn()
        return self._coverage

    def _methods(self, asking: Asking) -> tuple[str, ...]:
        query = asking.query
        if asking.method not in _METHODS:
            raise QueryError(f"{asking.method.value} is not to be had on a server")
        if strange := [each.name for each in query.filters if each.name not in _FILTERS]:
            raise QueryError(f"{strange[0]}: cannot be asked of a server, only {_listed(_FILTERS)}")
        if any(term.kind is Kind.REGEX for term in query.terms):
            raise QueryError("a server knows no expressions: open a session and find them there")
        if not query.sought:
            raise QueryError("a server must be given words to look for")
        methods = _METHODS[asking.method]
        if asking.method is Method.HYBRID and not can_mean(asking):
            methods = tuple(each for each in methods if each not in _BY_MEANING)
        return methods

    def _learn(self) -> None:
        """Which conversations there are, and how much of them is embedded."""
        if time.monotonic() < self._known_until:
            return
        listed = [item for item in self._store.scan() if isinstance(item, Listed)]
        self._summaries = {
            int(item.path): item.summary for item in listed if item.summary is not None
        }
        about = self._store.about()
        if not about.embedding.can_embed:
            reason = "the server has no model"
            self.unable |= dict.fromkeys(_BY_MEANING, reason)
        self._coverage = Coverage(
            sessions=len(listed),
            entries=about.corpus.documents,
            indexed=about.corpus.documents,
            embedded=about.corpus.documents_with_vectors,
        )
        self._known_until = time.monotonic() + _KNOWN_FOR

    # Asking the server

    def _ask(
        self, asking: Asking, methods: Sequence[str], cancelled: Cancelled
    ) -> dict[str, _Named]:
        """What each method names. What was asked for this very query already is not asked again."""
        paths = None if asking.paths is None else tuple(sorted(asking.paths))
        limit = _LEAST if asking.limit <= 50 else _MOST
        about = (asking.query.text, paths, limit)
        self._asked = {key: named for key, named in self._asked.items() if key[:3] == about}
        wanted = [
            method
            for method in methods
            if (*about, method) not in self._asked and method not in self.unable
        ]
        future = thread.submit(self._ask_all(asking, wanted, limit))
        try:
            while not future.done():
                if cancelled():
                    return {}
                _wait(future)
            self._asked |= {(*about, method): found for method, found in future.result().items()}
        finally:
            future.cancel()
        return {
            method: self._asked[*about, method]
            for method in methods
            if (*about, method) in self._asked
        }

    async def _ask_all(
        self, asking: Asking, methods: Sequence[str], limit: int
    ) -> dict[str, _Named]:
        async def ask(some: Sequence[str]) -> list[_Named]:
            return [await self._ask_one(asking, method, limit) for method in some]

        # Those that need the server's model take turns: it is loaded once, by the first.
        alone = [[method] for method in methods if method not in _BY_MEANING]
        rows = [*alone, [method for method in methods if method in _BY_MEANING]]
        found = await asyncio.gather(*map(ask, rows))
        return {
            method: named
            for row, answers in zip(rows, found, strict=True)
            for method, named in zip(row, answers, strict=True)
        }

    async def _ask_one(self, asking: Asking, method: str, limit: int) -> _Named:
        """What one method names, in the whole scope."""
        body = {"query": _spelled(asking.query, method), "limit": limit, "usetype": _USETYPES}
        scopes = [None] if asking.paths is None else [int(path) for path in asking.paths]
        named = _Named()
        scores: dict[int, float] = {}
        pieces: dict[int, int] = {}
        lone: dict[int, int] = {}  # entries of which only pieces were found, and their roots
        cut_short = False
        for scope in scopes:
            inside = body if scope is None else body | {"parent_id": scope}
            try:
                answer = await self._client.search(method, inside)
            except JmftsError as error:
                if error.status == 501:
                    self.unable[method] = _brief(error)
                    return _Named(remark=f"{method} is not to be had: {self.unable[method]}")
                if error.status >= 500:
                    return _Named(remark=f"{method} failed: {_brief(error)}")
                raise
            cut_short |= bool(answer.applied.truncated)
            named.complete = len(answer.results) < limit
            for scored in answer.results:
                document, root = scored.document, self._root_of(scored.document, scope)
                if root is None:
                    continue
                number = document.id
                if document.usetype == CHUNK:
                    number = document.parent_id or document.id
                    pieces[number] = pieces.get(number, 0) + 1
                    lone.setdefault(number, root)
                elif (record := _record_of(document)) is not None:
                    named.entries[number] = _Entry(number, root, record)
                else:
                    continue
                scores[number] = max(scored.score, scores.get(number, scored.score))
        missing = [number for number in lone if number not in named.entries]
        for located in await asyncio.gather(*map(self._find, missing)):
            if located is not None and (record := _record_of(located)) is not None:
                number = located.id
                named.entries[number] = _Entry(number, lone[number], record)
        for number, count in pieces.items():
            if number in named.entries:
                named.entries[number] = replace(named.entries[number], pieces=count)
        named.ranking = sorted(
            ((number, score) for number, score in scores.items() if number in named.entries),
            key=lambda each: -each[1],
        )
        if cut_short:
            named.remark = f"{method}: the server cut its search short"
        return named

    async def _find(self, document: int) -> Located | None:
        try:
            return await self._client.entry(document)
        except JmftsError as error:
            if error.is_missing:
                return None
            raise

    def _root_of(self, document: Located, scope: int | None) -> int | None:
        """The conversation that a hit belongs to; None if to none, or if it is out of scope."""
        if scope is not None and scope not in document.path:
            return None
        root = next((above for above in document.path if above in self._summaries), None)
        return scope if root is None else root

    # The answer

    def _results(self, asking: Asking, named: Mapping[str, _Named]) -> Results:
        rankings = [
            Ranking(method, found.ranking, complete=found.complete)
            for method, found in named.items()
            if found.ranking
        ]
        entries = {
            number: entry for found in named.values() for number, entry in found.entries.items()
        }
        best: dict[int, int] = {}
        for found in named.values():
            for number, entry in found.entries.items():
                best[number] = max(best.get(number, 0), entry.pieces)
        wanted = _Wanted(asking.query, self._summaries)
        weights = {**SERVER.weights, **asking.weights}
        hits: list[Hit] = []
        by_meaning = 0
        for fused in fusion.fuse(rankings, weights, asking.fused_by):
            entry = replace(entries[fused.key], pieces=best[fused.key])
            marks = wanted.marks(entry)
            if marks is None:
                continue
            by_meaning += all(part.ranker in _BY_MEANING for part in fused.parts)
            hits.append(self._hit(entry, fused, marks))
        total = len(hits) - by_meaning
        unseen = list(self._unseen(asking, set(entries), wanted))
        remarks = [found.remark for found in named.values() if found.remark]
        remarks += [
            f"{method} is not to be had: {why}"
            for method, why in self.unable.items()
            if method in _METHODS[asking.method] and method not in named
        ]
        shown = (hits + unseen)[: asking.limit]
        pieces = sum(best.values())
        if pieces:
            remarks.append(f"{counted(pieces, 'piece')} counted for the entries they are of")
        return Results(
            asking,
            Found(rankings=tuple(rankings)),
            numbered(shown),
            total=total + len(unseen),
            similar=by_meaning,
            coverage=self._coverage,
            remarks=[*remarks, _UNSEEN],
        )

    def _unseen(self, asking: Asking, known: set[int], wanted: _Wanted) -> Iterator[Hit]:
        """Entries of the open session that hold the words where the server does not look."""
        if self._followed is None or asking.method in (Method.VECTOR, Method.MAXSIM):
            return
        path, session = self._followed
        if asking.paths is not None and path not in asking.paths:
            return
        for place in range(len(session)):
            number = session.entry_id(place)
            if number.isdecimal() and int(number) not in known:
                entry = _Entry(int(number), int(path), session.record(place))
                marks = wanted.marks(entry)
                if marks and wanted.holds_all(marks):
                    yield self._hit(entry, None, marks)

    def _hit(self, entry: _Entry, fused: Fused[int] | None, marks: list[Mark]) -> Hit:
        record, text = entry.record, text_of(entry.record)
        summary = self._summaries.get(entry.root)
        standing = Standing(
            path=str(entry.root),
            start=-entry.document,
            stop=0,
            session=summary.id if summary else "",
            cwd=summary.cwd if summary else "",
            state=State.PATH,
            model="",
            group=-1,
        )
        return Hit(
            store=self._store.name,
            standing=standing,
            entry=str(entry.document),
            speaker=speaker_of(record),
            time=stamp_text(record.get("timestamp")),
            rank=0,
            score=fused.score if fused else 0.0,
            parts=fused.parts if fused else (),
            spans=spans_of(marks),
            terms=list(dict.fromkeys(mark.term.text for mark in marks)),
            snippet=snippet_of(text, marks) if marks else snippet(text, []),
            also_in=[],
        )


class _Wanted:
    """What a query asks of an entry that the server cannot be asked."""

    def __init__(self, query: Query, summaries: Mapping[int, Summary]) -> None:
        self._query = query
        self._summaries = summaries
        self._highlighter = Highlighter(query)
        negated = tuple(replace(term, negated=False) for term in query.terms if term.negated)
        self._unwanted = Highlighter(Query("", negated)) if negated else None
        self._exact = {term for term in query.sought if term.kind is Kind.PHRASE}

    def marks(self, entry: _Entry) -> list[Mark] | None:
        """What matched in an entry; None if it does not answer the query."""
        if not all(self._passes(name, some, entry) for name, some in self._filters()):
            return None
        text = text_of(entry.record)
        if self._unwanted is not None and self._unwanted.marks(text):
            return None
        marks = self._highlighter.marks(text)
        return marks if self._exact <= {mark.term for mark in marks} else None

    def holds_all(self, marks: Iterable[Mark]) -> bool:
        """Whether every term is among what matched."""
        return set(self._query.sought) <= {mark.term for mark in marks}

    def _filters(self) -> Iterable[tuple[str, list[Any]]]:
        return self._query.filters_by_name().items()

    def _passes(self, name: str, some: list[Any], entry: _Entry) -> bool:
        values = [each.value for each in some]
        record, negated = entry.record, name.startswith("-")
        name = name.removeprefix("-")
        time = parse_time(record.get("timestamp"))
        match name:
            case "role":
                message = record.get("message")
                found = isinstance(message, dict) and message.get("role") in values
            case "kind":
                found = str(record.get("type", "")).casefold() in values
            case "since":
                found = time != NO_TIME and all(time >= value for value in values)
            case "until":
                found = time != NO_TIME and all(time <= value for value in values)
            case _:
                summary = self._summaries.get(entry.root)
                cwd = summary.cwd.casefold() if summary else ""
                found = any(str(value) in cwd for value in values)
        return found != negated


_USETYPES = [*(f"{TAU}{kind}" for kind in _SEARCHED), CHUNK]


def _spelled(query: Query, method: str) -> str:
    """A query as a method of the server takes it."""
    if method != "fulltext":
        return words_of(query)
    return " ".join(
        "-" * term.negated + (f'"{term.text}"' if term.kind is Kind.PHRASE else term.text)
        for term in query.terms
    )


def _record_of(document: Located) -> Record | None:
    """The entry that a document holds, in τ's shape; None if it holds none."""
    try:
        stored = msgspec.json.decode(document.structured_content, type=Payload)
        tau = msgspec.json.decode(stored.tau) if stored.tau is not msgspec.UNSET else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return {**tau, "id": str(document.id)} if isinstance(tau, dict) else None


def _brief(error: JmftsError) -> str:
    """The first sentence of what a server says of what it cannot do."""
    said = str(error.detail) if isinstance(error.detail, str) else str(error)
    return " ".join(said.split()).partition(". ")[0][:120]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{name}:" for name in names)


def _wait(future: Any) -> None:
    from concurrent.futures import wait

    wait([future], timeout=0.05)
