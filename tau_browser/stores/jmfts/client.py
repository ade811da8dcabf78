"""The server as we speak to it: the few requests that are needed, each in one place.

All are coroutines of the thread in `thread`. No more than a few are under way at once: a server
answers no faster for being asked more. What comes back is checked by shape; fields that this
version does not know are skipped, so that older and newer servers will do.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx
import msgspec

from tau_browser.stores.files import words_of
from tau_browser.stores.jmfts.documents import (
    Capabilities,
    Chunked,
    Counts,
    Created,
    Difference,
    Document,
    Embedded,
    Found,
    Frontier,
    Index,
    Located,
    Roots,
    Token,
    Tokens,
    View,
)
from tau_browser.stores.jmfts.errors import JmftsError, refusal

T = TypeVar("T")
_IN_FLIGHT = 3
_CONNECT = 10.0  # seconds
_SHORT, _MIDDLE, _LONG = 30.0, 120.0, 900.0
_DROPPED = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


class Client:
    """One server and one token. Raises JmftsError, from every request."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        self._slots = asyncio.Semaphore(_IN_FLIGHT)
        self._opened: httpx.AsyncBaseTransport | None = None
        self._is_owner: bool | None = None

    # Looking

    async def capabilities(self) -> Capabilities:
        """What the server can do, and what it holds."""
        return await self._get("/capabilities", Capabilities, {"corpus": True})

    async def documents(self, usetype: str, limit: int, offset: int = 0) -> list[Document]:
        """Documents of one use type, the newest first."""
        query = {"usetype": usetype, "limit": limit, "offset": offset}
        return await self._get("/documents", list[Document], query)

    async def located(self, usetype: str, limit: int, offset: int = 0) -> list[Located]:
        """The same, with the documents that stand above them."""
        query = {"usetype": usetype, "limit": limit, "offset": offset}
        return await self._get("/documents", list[Located], query)

    async def newest(self, limit: int, offset: int) -> list[Located]:
        """The newest documents of the whole server, with those above them."""
        query = {"limit": limit, "offset": offset}
        return await self._get("/documents", list[Located], query)

    async def document(self, document: int) -> Document:
        """One document."""
        return await self._get(f"/documents/{document}", Document)

    async def entry(self, document: int) -> Located:
        """One document, with those above it."""
        return await self._get(f"/documents/{document}", Located)

    async def written_since(self, stamp: str) -> int:
        """How many documents were written since a time."""
        answer = await self._get("/graph/diff", Difference, {"since": stamp})
        return answer.new_documents

    async def embedded(self, document: int) -> Embedded:
        """One document, with its vector if it has one."""
        return await self._get(f"/documents/{document}", Embedded, {"include_embed": True})

    async def frontier(self, document: int) -> Frontier:
        """How many documents stand below one, itself included."""
        return await self._get(f"/ingest/file/{document}/frontier", Frontier)

    async def view(self, document: int) -> View:
        """What the token may do with a document."""
        return await self._get(f"/view/{document}", View)

    async def is_owner(self) -> bool:
        """Whether the token is the owner's, from whom nothing is hidden. Asked once."""
        if self._is_owner is None:
            try:
                await self._get("/access/audit", dict[str, Any], {"limit": 1})
            except JmftsError as error:
                if error.status not in (403, 404):
                    raise
                self._is_owner = False
            else:
                self._is_owner = True
        return self._is_owner

    async def subtree(self, document: int, max_depth: int) -> AsyncGenerator[tuple[bytes, int]]:
        """The answer that holds a document and all below it, in pieces as they come, each with
        the length of the whole."""
        path, query = f"/documents/{document}/subtree", {"max_depth": max_depth}
        async with self._answer("GET", path, _LONG, query=query) as answer:
            total = int(answer.headers.get("content-length", 0))
            async for piece in answer.aiter_bytes():
                yield piece, total

    async def children(self, document: int, usetype: str) -> list[Document]:
        """The children of a document that are of one use type."""
        query = {"usetype": usetype, "depth": 1, "limit": 100_000}
        return await self._get(f"/documents/{document}/children", list[Document], query)

    async def below(self, document: int, usetype: str, limit: int) -> list[Located]:
        """Documents anywhere below one that are of one use type, so many at most."""
        query = {"usetype": usetype, "depth": -1, "limit": limit}
        return await self._get(f"/documents/{document}/children", list[Located], query)

    async def search(self, method: str, body: Mapping[str, Any], index: str | None = None) -> Found:
        """What one method of the server finds. Asked once more where the server fails, which it
        may do while it loads what it searches with."""
        query = {"index_name": index} if index and method == "bm25" else None
        asked = "POST", f"/search/{method}", Found, body, _MIDDLE, query
        try:
            return await self._send(*asked, repeatable=True)
        except JmftsError as error:
            if error.status != 500:
                raise
        return await self._send(*asked, repeatable=True)

    async def tokens(self, document: int) -> list[Token]:
        """The tokens that late interaction knows of a document."""
        return (await self._get(f"/documents/{document}/tokens", Tokens)).tokens

    async def counts(self) -> Counts:
        """How many documents there are."""
        return await self._get("/graph/stats", Counts)

    async def indexes(self) -> list[Index]:
        """The BM25 indexes."""
        return await self._get("/indexes", list[Index])

    async def index_roots(self, name: str) -> list[int]:
        """The documents below which a BM25 index takes in what is written."""
        return (await self._get(f"/indexes/{name}/roots", Roots)).roots

    # Changing

    async def create(self, document: Mapping[str, Any]) -> Created:
        """Add a document; it gets its id."""
        return await self._send("POST", "/documents", Created, document, _MIDDLE)

    async def update(self, document: int, changes: Mapping[str, Any]) -> None:
        """Change some fields of a document."""
        await self._send("PATCH", f"/documents/{document}", Created, changes)

    async def delete(self, document: int) -> None:
        """Delete a document and all below it. Deep down, a server says that it failed although it
        did not: then it is looked whether the document is still there."""
        try:
            await self._send("DELETE", f"/documents/{document}", dict[str, Any], None, _LONG)
        except JmftsError as error:
            if not error.is_missing and (error.status < 500 or await self._exists(document)):
                raise

    async def embed(self, document: int) -> None:
        """Give a document its vectors."""
        path = f"/documents/{document}/embed"
        await self._send("POST", path, dict[str, Any], None, _LONG, {"with_tokens": True})

    async def chunk(self, document: int, max_words: int) -> Chunked:
        """Cut a document into pieces that are documents below it, without vectors yet."""
        body = {
            "strategy": "sentence_packed",
            "max_words": max_words,
            "child_usetype": "jmfts:chunk",
            "auto_embed": False,
        }
        return await self._send("POST", f"/documents/{document}/chunk", Chunked, body, _LONG)

    async def create_index(self, name: str) -> None:
        """Make a BM25 index, if there is none of that name."""
        try:
            await self._send("POST", "/indexes", dict[str, Any], {"name": name})
        except JmftsError as error:
            if error.status != 409:
                raise

    async def index(self, name: str, document: int) -> None:
        """Put what a document says now into a BM25 index."""
        path = f"/indexes/{name}/index-document/{document}"
        await self._send("POST", path, dict[str, Any], None, _MIDDLE)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    # Requests

    async def _get(self, path: str, kind: type[T], query: Mapping[str, Any] | None = None) -> T:
        return await self._send("GET", path, kind, None, _SHORT, query)

    async def _send(
        self,
        method: str,
        path: str,
        kind: type[T],
        body: Mapping[str, Any] | None = None,
        limit: float = _SHORT,
        query: Mapping[str, Any] | None = None,
        *,
        repeatable: bool | None = None,
    ) -> T:
        """`repeatable`: whether it may be asked twice; None: all that creates nothing may."""
        content = self._encode(body) if body is not None else None
        may = method != "POST" if repeatable is None else repeatable
        async with self._answer(method, path, limit, content, query, may) as answer:
            data = await self._read(answer, limit)
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, RecursionError) as error:
            raise JmftsError(
                f"{self.url} answers {method} {path} with something that no JMFTS sends: {error}; "
                "is it one?"
            ) from error

    def _encode(self, body: Mapping[str, Any]) -> bytes:
        try:
            return msgspec.json.encode(body)
        except (UnicodeEncodeError, msgspec.EncodeError, RecursionError) as error:
            raise JmftsError(f"{self.url} cannot be sent this: {error}") from error

    @asynccontextmanager
    async def _answer(
        self,
        method: str,
        path: str,
        limit: float,
        content: bytes | None = None,
        query: Mapping[str, Any] | None = None,
        repeatable: bool = True,
    ) -> AsyncIterator[httpx.Response]:
        """The head of a successful answer. Asked again where the connection was dropped before
        there was one: after a failure the server drops all that are kept open, one by one."""
        asked = f"{method} {path}"
        async with self._slots:
            for tries_left in reversed(range(_IN_FLIGHT + 1 if repeatable else 1)):
                request = httpx.Request(
                    method,
                    self.url + path,
                    params=query,
                    content=content,
                    headers=self._headers,
                    extensions={"timeout": httpx.Timeout(limit, connect=_CONNECT).as_dict()},
                )
                try:
                    answer = await self._connections.handle_async_request(request)
                    break
                except httpx.HTTPError as error:
                    if not tries_left or not isinstance(error, _DROPPED):
                        raise self._no_answer(error, limit) from error
            try:
                if not answer.is_success:
                    body = await self._read(answer, limit)
                    kind = answer.headers.get("content-type", "")
                    raise refusal(self.url, asked, answer.status_code, kind, body)
                yield answer
            except httpx.HTTPError as error:
                raise self._no_answer(error, limit) from error
            finally:
                await answer.aclose()

    async def _read(self, answer: httpx.Response, limit: float) -> bytes:
        try:
            return await answer.aread()
        except httpx.HTTPError as error:
            raise self._no_answer(error, limit) from error

    async def _exists(self, document: int) -> bool:
        try:
            await self.document(document)
        except JmftsError as error:
            if error.is_missing:
                return False
            raise
        return True

    @property
    def _connections(self) -> httpx.AsyncBaseTransport:
        # No httpx.AsyncClient, which costs a quarter of a request: no cookies, no redirects.
        if self._opened is None:
            limits = httpx.Limits(max_connections=_IN_FLIGHT)
            self._opened = httpx.AsyncHTTPTransport(trust_env=False, limits=limits)
        return self._opened

    def _no_answer(self, error: httpx.HTTPError, limit: float) -> JmftsError:
        match error:
            case httpx.ConnectTimeout():
                why = f"no connection within {_CONNECT:.0f} seconds"
            case httpx.TimeoutException():
                why = f"no answer within {limit:.0f} seconds"
            case httpx.ConnectError():
                why = _reason(error)
            case _:
                why = f"the connection broke ({str(error) or type(error).__name__})"
        return JmftsError(f"{self.url} cannot be reached: {why}; is the server running?")


def _reason(error: BaseException) -> str:
    """What the system said, which is several causes down."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno:
            # asyncio puts the address in the place of what the system said
            return os.strerror(cause.errno).lower() if cause.errno > 0 else words_of(cause)
        cause = cause.__cause__ or cause.__context__
    return str(error).lower() or "no connection"
