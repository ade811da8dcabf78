"""Putting a query to the methods of a server: all at once, each as it takes it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from tau_browser.search.query import Kind, Query
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import CHUNK, Located, Scored
from tau_browser.stores.jmfts.errors import JmftsError

BY_MEANING = ("vector", "maxsim")
MOST = 100
"""Documents that a method names at most; servers refuse to name more."""
_LONGEST = 80  # characters of a reason
_BEAT = 0.05  # seconds after which it is asked again whether an answer is still wanted


@dataclass(frozen=True, slots=True)
class Request:
    """What methods are asked. words, websearch: the query as most take it, and as fulltext does ·
    parents: below which documents; None for all of the server · usetypes: all that count, or () ·
    without: those that do not · limit: documents per method and parent."""

    words: str
    websearch: str
    parents: tuple[int | None, ...]
    usetypes: tuple[str, ...]
    without: tuple[str, ...]
    limit: int

    def body(self, method: str, parent: int | None) -> dict[str, Any]:
        """What is sent."""
        body: dict[str, Any] = {
            "query": self.websearch if method == "fulltext" else self.words,
            "limit": self.limit,
        }
        body |= {"usetype": self.usetypes} if self.usetypes else {"exclude_types": self.without}
        return body if parent is None else body | {"parent_id": parent}


@dataclass(frozen=True, slots=True)
class Told:
    """What a method told. owners: the documents that the pieces among its hits are of · complete:
    whether it has named all that it found · is_short: whether it gave up looking for more ·
    problem: why it told nothing, or ""."""

    scored: Sequence[Scored] = ()
    owners: Mapping[int, Located] = field(default_factory=dict)
    complete: bool = False
    is_short: bool = False
    problem: str = ""


class Asker:
    """Asks one server. What was told of the request that was put last is not asked again.

    unable: methods that the server cannot do, and why; added to.
    """

    def __init__(self, client: Client, unable: dict[str, str]) -> None:
        self._client = client
        self._unable = unable
        self._lock = threading.Lock()
        self._request: Request | None = None
        self._told: dict[str, Told] = {}
        self._owners: dict[int, Located | None] = {}
        # Those that need the server's model take turns: it is loaded once, by the first.
        self._turn = asyncio.Lock()

    def told(
        self, request: Request, methods: Sequence[str], cancelled: Callable[[], bool]
    ) -> Iterator[dict[str, Told]]:
        """What the methods tell; again each time that another has told, until all have. Ends early
        if cancelled. Raises JmftsError where asking is no use."""
        told = self._told_already(request)
        told = {method: told[method] for method in methods if method in told}
        asked = {
            thread.submit(self._ask(request, method)): method
            for method in methods
            if method not in told and method not in self._unable
        }
        pending: set[Future[Told]] = set(asked)
        try:
            if told or not pending:
                yield told
            while pending and not cancelled():
                done, pending = wait(pending, _BEAT, FIRST_COMPLETED)
                if done:
                    new = {asked[each]: each.result() for each in done}
                    told |= {method: it for method, it in new.items() if method not in self._unable}
                    self._keep(request, told)
                    yield {method: told[method] for method in methods if method in told}
        finally:
            for each in pending:
                each.cancel()

    def forget(self) -> None:
        """Ask anew, whatever was told."""
        with self._lock:
            self._request = None

    def _told_already(self, request: Request) -> dict[str, Told]:
        with self._lock:
            if self._request != request:
                self._request, self._told, self._owners = request, {}, {}
            return dict(self._told)

    def _keep(self, request: Request, told: Mapping[str, Told]) -> None:
        with self._lock:
            if self._request == request:
                self._told |= told

    async def _ask(self, request: Request, method: str) -> Told:
        if method not in BY_MEANING:
            return await self._ask_all(request, method)
        async with self._turn:
            return await self._ask_all(request, method)

    async def _ask_all(self, request: Request, method: str) -> Told:
        """What one method tells, of all parents."""
        bodies = [request.body(method, parent) for parent in request.parents]
        try:
            answers = await asyncio.gather(*(self._client.search(method, body) for body in bodies))
        except JmftsError as error:
            if error.status == 501:
                self._unable[method] = brief(error)
                return Told()
            if error.status >= 500:
                return Told(problem=f"{method} failed: {brief(error)}")
            raise
        scored = [each for answer in answers for each in answer.results]
        return Told(
            scored,
            await self._owners_of(scored),
            all(len(answer.results) < request.limit for answer in answers),
            any(answer.applied.truncated for answer in answers),
        )

    async def _owners_of(self, scored: Sequence[Scored]) -> dict[int, Located]:
        """The documents that pieces are of, by number; those that are gone are missing."""
        known = self._owners
        known |= {each.document.id: each.document for each in scored}
        pieces = (each.document for each in scored if each.document.usetype == CHUNK)
        wanted = {piece.parent_id for piece in pieces if piece.parent_id is not None}
        missing = sorted(wanted - known.keys())
        known |= zip(missing, await asyncio.gather(*map(self._find, missing)), strict=True)
        owners = ((number, known[number]) for number in wanted)
        return {number: owner for number, owner in owners if owner is not None}

    async def _find(self, document: int) -> Located | None:
        try:
            return await self._client.entry(document)
        except JmftsError as error:
            if error.is_missing:
                return None
            raise


def websearch(query: Query) -> str:
    """A query as fulltext takes it: with its phrases, and with what is not wanted."""
    return " ".join(
        "-" * term.negated + (f'"{term.text}"' if term.kind is Kind.PHRASE else term.text)
        for term in query.terms
        if term.kind is not Kind.REGEX
    )


def brief(error: JmftsError) -> str:
    """The first sentence of what a server says of what it cannot do."""
    said = str(error.detail) if isinstance(error.detail, str) else str(error)
    first = " ".join(said.split()).partition(". ")[0]
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"
