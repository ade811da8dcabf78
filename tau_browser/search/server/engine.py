"""The search of a JMFTS server, as the screen and the commands ask it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

from tau_browser.model.payload import text_of
from tau_browser.model.session import Session
from tau_browser.search.answers import can_mean, words_of
from tau_browser.search.find import QueryError
from tau_browser.search.index.update import Report
from tau_browser.search.known import Values
from tau_browser.search.manner import SERVER, Manner
from tau_browser.search.query import Kind, Query
from tau_browser.search.results import Asking, Coverage, Found, Hit, Method, Reach, Results
from tau_browser.search.semantic.table import static_table
from tau_browser.search.server.answer import Answering
from tau_browser.search.server.asking import BY_MEANING, MOST, Asker, Request, Told, websearch
from tau_browser.search.server.distant import Distant
from tau_browser.search.server.entries import Entry, named
from tau_browser.search.server.holdings import Holdings
from tau_browser.search.server.likely import likely
from tau_browser.search.server.scope import Scope
from tau_browser.search.server.sessions import Conversations
from tau_browser.search.server.wanted import Wanted, is_asked_in_full
from tau_browser.search.surroundings import Surroundings
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.documents import CHUNK, ROOT, TAU
from tau_browser.stores.jmfts.records import FOREIGN
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.jmfts.storing import content_of
from tau_browser.stores.store import StoreError

Cancelled = Callable[[], bool]

_METHODS = {
    Method.HYBRID: ("bm25", "fulltext", "vector", "maxsim"),
    Method.BM25: ("bm25",),
    Method.FULLTEXT: ("fulltext",),
    Method.VECTOR: ("vector",),
    Method.MAXSIM: ("maxsim",),
}
_SEARCHED = ("message", "customMessage", "compaction", "branch_summary", "elide")
_DERIVED = ("entity", "entities", "summary", "derived")  # what a server makes of documents
_LEAST = 30  # documents that a method is asked for, where no more than _MANY hits are wanted
_MANY = 50
_PLACED = 8  # sessions that are read for the places of hits in them


def _never() -> bool:
    return False


class ServerEngine:
    """The search of one server, for any number of threads."""

    manner: Manner = SERVER

    def __init__(self, store: JmftsStore, cache_folder: Path) -> None:
        self._store = store
        self.folder = cache_folder
        self._holdings = Holdings(store)
        self._asker = Asker(store.client, self._holdings.unable)
        self._followed: _Followed | None = None
        self._reading = threading.Lock()
        self._surroundings = Surroundings(store)
        self._light: dict[str, bool] = {}
        self._found_late: dict[int, Entry] = {}  # by late interaction, in the last answer

    @property
    def unable(self) -> dict[str, str]:
        """Methods that this server cannot do, and why."""
        return self._holdings.unable

    # What an engine over files does besides; a server has its own indexes

    def update(self, *_: object, **__: object) -> Report:
        """Nothing: the server indexes what is written."""
        return Report()

    def embed(self, *_: object) -> Iterator[Any]:
        """Nothing: `enrich` does it."""
        return iter(())

    def scan(self, asking: Asking, cancelled: Cancelled = _never) -> Results:
        """The answer: there is nothing that only a scan would find."""
        return self.answer(asking, cancelled)

    def completed(self, results: Results, cancelled: Cancelled = _never) -> Results:
        """The same answer."""
        return results

    reranked = completed

    def follow(self, path: str, session: Session) -> None:
        """Let what the server does not search be found in the session that is open."""
        self._followed = _Followed(path, session)
        self._light.clear()  # what was opened is at hand

    def forget(self, path: str) -> None:
        """A session is no longer open."""
        if self._followed is not None and self._followed.path == path:
            self._followed = None

    def values(self) -> Values:
        """What filters may ask for, as far as the list of conversations tells. Raises
        StoreError."""
        self._holdings.learn()
        projects = [summary.cwd for summary in self._holdings.roots.values() if summary.cwd]
        return {"project": list(dict.fromkeys(projects)), "kind": [*_SEARCHED]}

    def size(self) -> int:
        """Nothing is kept here."""
        return 0

    def close(self) -> None:
        """Let go of the sessions that were looked into."""
        with self._reading:
            self._surroundings.close()

    # Searching

    def early(self, asking: Asking, cancelled: Cancelled = _never) -> Iterator[Results]:
        """What there is to be seen before the answer: that of the methods that are through, each
        time that one more is. Raises QueryError as `answer` does."""
        for results, is_last in self._answers(asking, cancelled):
            if not is_last:
                yield results

    def answer(self, asking: Asking, cancelled: Cancelled = _never) -> Results:
        """The best hits by the methods asked for. Raises QueryError for what a server cannot be
        asked, and where it cannot be asked at all."""
        nothing = Results(asking, Found(), [], 0, 0, self._holdings.coverage)
        answers = (results for results, _ in self._answers(asking, cancelled))
        return reduce(lambda _, better: better, answers, nothing)

    def placed(self, results: Results, cancelled: Cancelled = _never) -> Results:
        """The same answer, each hit with its state and the turn that it stands in; not those in
        sessions that are long and were never opened, and of many sessions those that come first."""
        paths = dict.fromkeys(hit.standing.path for hit in results.hits if hit.standing.path)
        light = (path for path in paths if not cancelled() and self._is_light(path))
        read = set(islice(light, _PLACED))
        with self._reading:
            placed = [
                self._surroundings.of([hit], cancelled)[0] if hit.standing.path in read else hit
                for hit in results.hits
            ]
        return replace(results, hits=placed)

    def explained(self, hit: Hit, query: Query) -> Hit:
        """The same hit; where late interaction found it and no word of the query stands in it,
        with what probably matched. Only of the last answer. Raises StoreError."""
        entry = self._found_late.get(int(hit.entry))
        if hit.spans or entry is None:
            return hit
        tokens = thread.run(self._store.client.tokens(entry.best))
        return replace(hit, likely=tuple(likely(query, tokens, entry.text, static_table().encode)))

    def coverage(self) -> Coverage:
        """What a search looks through. Raises StoreError."""
        self._holdings.learn()
        return self._holdings.coverage

    # Asking

    def _methods(self, asking: Asking) -> tuple[str, ...]:
        if asking.method not in _METHODS:
            raise QueryError(f"{asking.method.value} is not to be had on a server")
        if all(term.kind is Kind.REGEX for term in asking.query.sought):
            raise QueryError(
                "a server must be given words to look for; expressions are tried on what they find"
            )
        methods = _METHODS[asking.method]
        if asking.method is not Method.HYBRID:
            return methods
        return tuple(
            method
            for method in methods
            if asking.weights.get(method) and (can_mean(asking) or method not in BY_MEANING)
        )

    def _answers(self, asking: Asking, cancelled: Cancelled) -> Iterator[tuple[Results, bool]]:
        """Better and better answers, and whether each is the last."""
        asking = replace(asking, weights={**SERVER.weights, **asking.weights})
        methods = self._methods(asking)
        try:
            self._holdings.learn()
            scope = self._scope(asking)
            request = _request(asking.query, scope, asking.limit)
            distant = Distant(self._store.client, self._holdings, cancelled)
            for told in self._asker.told(request, methods, cancelled):
                self._holdings.learn_of(_tops(told))
                scope = replace(scope, roots=self._holdings.roots)
                missing = [each for each in methods if each not in told]
                to_come = [each for each in missing if each not in self.unable]
                yield self._results(asking, scope, told, missing, distant), not to_come
        except StoreError as error:
            raise QueryError(str(error)) from error

    def _scope(self, asking: Asking) -> Scope:
        """What counts. Raises JmftsError where a document that was named is not there."""
        roots = self._holdings.roots
        if asking.paths is None:
            scope = Scope(roots, reach=asking.reach)
            projects = _projects(asking.query)
            if asking.reach is Reach.ALL or not projects:
                return scope
            # the list tells which conversations are of a project: the rest need not be searched
            cwds = {root: summary.cwd.casefold() for root, summary in roots.items()}
            of_them = [root for root, cwd in cwds.items() if any(it in cwd for it in projects)]
            return replace(scope, given=of_them)
        given = {int(path) for path in asking.paths}
        if asking.reach is not Reach.BRANCH:
            return Scope(roots, given, asking.reach)
        above = {number: thread.run(self._store.client.entry(number)).path for number in given}
        return Scope(roots, given, asking.reach, above)

    def _results(
        self,
        asking: Asking,
        scope: Scope,
        told: Mapping[str, Told],
        missing: Sequence[str],
        distant: Distant,
    ) -> Results:
        """The answer as far as it goes. missing: methods that have not told anything."""
        if "maxsim" in told:
            self._found_late = named(told["maxsim"], scope).entries
        conversations = Conversations(self._holdings.roots, self._read, distant, _above(told))
        followed = None if asking.method.value in BY_MEANING else self._followed
        answering = Answering(
            self._store.name,
            asking,
            scope,
            Wanted(asking.query, self._store.name, conversations.of),
            self._holdings.roots,
            self._holdings.coverage,
            followed.unseen() if followed is not None else None,
        )
        to_come = ", ".join(method for method in missing if method not in self.unable)
        remarks = [f"{to_come} to come"] * bool(to_come)
        return answering.results(told, remarks, self._unable_among(missing))

    def _unable_among(self, methods: Sequence[str]) -> list[str]:
        """Which methods the server cannot do, by reason."""
        by_reason: dict[str, list[str]] = {}
        for method in methods:
            if why := self.unable.get(method):
                by_reason.setdefault(why, []).append(method)
        return [f"no {', '.join(some)}: {why}" for why, some in by_reason.items()]

    def _read(self, path: str) -> Session | None:
        """A conversation that is open, at hand or short; None for others."""
        followed = self._followed
        if followed is not None and followed.path == path:
            return followed.session
        if not self._is_light(path):
            return None
        with self._reading:
            return self._surroundings.session(path)

    def _is_light(self, path: str) -> bool:
        """Whether a session may be read just to look at it."""
        if path not in self._light:
            self._light[path] = self._store.is_light(path)
        return self._light[path]


class _Followed:
    """A session that is open."""

    def __init__(self, path: str, session: Session) -> None:
        self.path = path
        self.session = session
        self._unseen: list[int] | None = None

    def unseen(self) -> tuple[str, Session, list[int]]:
        """It, with the places of the entries that say more than the server searches."""
        if self._unseen is None:
            session = self.session
            self._unseen = [place for place in range(len(session)) if self._says_more(place)]
        return self.path, self.session, self._unseen

    def _says_more(self, place: int) -> bool:
        record = self.session.record(place)
        if record.get("type") == FOREIGN or not self.session.entry_id(place).isdecimal():
            return False
        return text_of(record) != (content_of(record) if record.get("type") else "")


def _request(query: Query, scope: Scope, limit: int) -> Request:
    """What the methods are asked: as much of the scope and of the query as they understand, and
    all that they can name where more is to be asked of it here."""
    words = replace(query, terms=tuple(it for it in query.terms if it.kind is not Kind.REGEX))
    is_whole = is_asked_in_full(query) and scope.is_asked_exactly
    return Request(
        words_of(words),
        websearch(query),
        scope.parents,
        usetypes=_usetypes(query, scope),
        without=(ROOT, *_DERIVED),
        limit=_LEAST if is_whole and limit <= _MANY else MOST,
    )


def _usetypes(query: Query, scope: Scope) -> tuple[str, ...]:
    """The use types that count; () where any document within the scope does."""
    asked = {each.value for each in query.filters_by_name().get("kind", [])}
    kinds = [kind for kind in _SEARCHED if kind.casefold() in asked]
    if len(kinds) < len(asked):  # others are asked for
        kinds = []
    if not kinds and (scope.given is not None or scope.reach is Reach.ALL):
        return ()
    return (*(f"{TAU}{kind}" for kind in kinds or _SEARCHED), CHUNK)


def _projects(query: Query) -> list[str]:
    return [str(each.value) for each in query.filters_by_name().get("project", [])]


def _above(told: Mapping[str, Told]) -> dict[int, Sequence[int]]:
    """By the numbers of all documents that were named, those of the documents above them."""
    documents = (
        document
        for it in told.values()
        for document in (*(scored.document for scored in it.scored), *it.owners.values())
    )
    return {document.id: document.path for document in documents}


def _tops(told: Mapping[str, Told]) -> set[int]:
    """The outermost documents above the entries that were named."""
    hits = (scored.document for it in told.values() for scored in it.scored)
    return {hit.path[0] for hit in hits if hit.path and (hit.usetype or "").startswith(TAU)}
