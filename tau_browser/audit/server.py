"""A JMFTS server as a memory that is asked again, just as τ's own tool asks it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from tau_browser.audit.memory import Answer, Document
from tau_browser.audit.relations import CHUNK
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import TAU, Located
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.records import stamp
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Store, StoreError

_NUMBER = re.compile(r"\d{1,18}")
_READERS = 3  # documents that are read at once
_INDEX = "default"
"""The index of τ's tool, where its settings name no other; no recall tells which it was."""


class JmftsMemory:
    """One server. Raises JmftsError, which is a StoreError."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.title = f"JMFTS at {client.url}"

    def search(
        self, method: str, query: str, limit: int, top: str, usetype: str
    ) -> list[tuple[Document, float]]:
        """What a method finds now."""
        body: dict[str, Any] = {"query": query, "limit": limit}
        if top:
            body["parent_id"] = int(top)
        if usetype:
            body["usetype"] = usetype
        if method == "hybrid":
            body["index_name"] = _INDEX
        found = thread.run(self._client.search(method, body, _INDEX))
        return [(_document(each.document), each.score) for each in found.results]

    def read(self, documents: Iterable[str]) -> dict[str, Answer]:
        """Documents as they are now, some at once, none twice."""
        return thread.run(self._read(list(dict.fromkeys(documents))))

    def written_since(self, stamp: str) -> int | None:
        """How many documents were written since then; None if the server cannot tell."""
        try:
            return thread.run(self._client.written_since(stamp))
        except JmftsError as error:
            if error.status:  # an older server
                return None
            raise

    async def _read(self, documents: list[str]) -> dict[str, Answer]:
        found: dict[str, Answer] = {}
        waiting = iter(documents)
        away: JmftsError | None = None  # a server that does not answer one is not asked on

        async def read_on() -> None:
            nonlocal away
            for document in waiting:
                answer = found[document] = away or await self._answer(document)
                if isinstance(answer, JmftsError) and not answer.status:
                    away = answer

        await asyncio.gather(*(read_on() for _ in range(_READERS)))
        return found

    async def _answer(self, document: str) -> Answer:
        if not _NUMBER.fullmatch(document):
            return StoreError(f"{document!r} is no number of a document")
        try:
            return _document(await self._client.entry(int(document)))
        except JmftsError as error:
            return await self._missing(int(document), error) if error.is_missing else error

    async def _missing(self, document: int, error: JmftsError) -> Answer:
        """What is surely gone, or why nobody can tell."""
        try:
            if not await self._client.is_owner():
                return error  # to some tokens, what is hidden looks like what is not there
            newest = await self._client.newest(1, 0)
        except JmftsError as other:
            return other
        if not newest or newest[0].id < document:
            return StoreError(f"{document} is beyond what this server holds: is it another one?")
        return None


class Connection(Protocol):
    """How a server is reached."""

    @property
    def url(self) -> str: ...
    @property
    def token(self) -> str: ...


def memory_of(store: Store | None, connection: Callable[[], Connection]) -> JmftsMemory:
    """The memory to ask: the server that a store is on, else the one that is set up."""
    if isinstance(store, JmftsStore):
        return JmftsMemory(store.client)
    to = connection()
    return JmftsMemory(Client(to.url, to.token))


def _document(found: Located) -> Document:
    usetype = found.usetype or ""
    is_chunk = usetype == CHUNK
    is_own = usetype.startswith(TAU) or is_chunk
    entry = found.parent_id if is_chunk else found.id
    return Document(
        id=str(found.id),
        title=found.title or "",
        usetype=usetype,
        text=found.content or "",
        created=stamp(found.created_at) or "",
        session=str(found.path[0]) if is_own and found.path else "",
        entry=str(entry) if is_own and entry is not None else "",
    )
