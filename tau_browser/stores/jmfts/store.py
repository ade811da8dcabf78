"""The conversations of a JMFTS server as a store."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tau_browser.model.summary import Summary, placeholder_title, stamp_text, summary_of
from tau_browser.model.times import parse_time
from tau_browser.stores.files import passing_folder
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.cache import Cache
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import ROOT, Capabilities, Document, Located
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.opened import JmftsSession
from tau_browser.stores.jmfts.records import header_line, stamp
from tau_browser.stores.jmfts.storing import MADE_BY, UNFINISHED
from tau_browser.stores.store import Capability, Listed, StoreError, Unreadable, whole

D = TypeVar("D", Document, Located)
_PAGE = 1000
_NAME = "tau:session_info"
# Conversations with more documents are counted, and looked into only when they are opened: that
# costs a server seconds, and much of its memory.
_LOOKED_INTO = 2000


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A root that is no conversation yet. change: the line of a journal that tells of it."""

    document: int
    change: str


class JmftsStore:
    """Conversations of one server, as far as one token may see them. Paths are the numbers of
    their root documents."""

    name = "jmfts"
    refresh_every = 30.0
    capabilities = frozenset(Capability)

    def __init__(
        self, url: str, token: str, cache_folder: Path | None = None, parent: int | None = None
    ) -> None:
        """`parent`: the document below which new conversations are made."""
        self.parent = parent
        self.title = f"JMFTS at {url}"
        self.client = Client(url, token)
        folder = cache_folder or passing_folder()
        # not every token sees the same
        self.owner = hashlib.sha256(f"{self.client.url}\0{token}".encode()).hexdigest()
        self._cache = Cache(folder / "jmfts", self.owner)
        self._looked: dict[int, Summary] = {}

    def scan(self) -> Iterator[Listed | Unreadable]:
        """All conversations, the newest first, from what their roots and names say."""
        roots, names = thread.run(self._roots_and_names())
        known = {root.id for root in roots}
        name_of: dict[int, str] = {}
        for each in sorted(names, key=lambda document: document.id):
            above = next((number for number in each.path if number in known), None)
            if above is not None and (name := _name_in(each)):
                name_of[above] = name
        self._looked = {root: self._looked[root] for root in self._looked.keys() & known}
        for root in sorted(roots, key=lambda document: -document.id):
            created = parse_time(stamp(root.created_at)) / 1000
            yield Listed(self.name, str(root.id), created, self._summary(root, name_of))

    def look_into(self, listed: Listed) -> Listed | Unreadable:
        """The session with its summary; of a very long one, no more than how many entries."""
        document = _number(listed.path)
        try:
            count = thread.run(self.client.frontier(document)).nodes_total
            if count > _LOOKED_INTO and listed.summary is not None:
                summary = msgspec.structs.replace(listed.summary, entries=count - 1)
            else:
                summary = summary_of(whole(self.open(listed.path)))
        except StoreError as error:
            return Unreadable(listed.path, str(error))
        self._looked[document] = summary
        return Listed(listed.store, listed.path, listed.modified, summary)

    def identify(self, listed: Listed) -> str:
        """The id of a session: its header's."""
        return listed.summary.id if listed.summary is not None else ""

    def conversations_of(self, session_id: str) -> list[int]:
        """The root documents of the conversations with this session id, the newest first."""
        roots = thread.run(self._roots())
        of_it = (root.id for root in roots if _session_id(_header(root)[0]) == session_id)
        return sorted(of_it, reverse=True)

    def is_empty(self) -> bool:
        """Whether there is no conversation at all."""
        return not thread.run(self.client.documents(ROOT, 1))

    def open(self, path: str) -> JmftsSession:
        """A session by the number of its root document."""
        return JmftsSession(self.client, self._cache, _number(path))

    def unchanged(self, states: Mapping[str, str]) -> set[str]:
        """Those of some sessions, by path, that stand as they did (`JmftsSession.state`). What
        cannot be asked about is not among them."""
        return thread.run(self._unchanged(states))

    def is_light(self, path: str) -> bool:
        """Whether a session is at hand, or so short that it may be read just to look at it."""
        document = _number(path)
        if self._cache.find(document) is not None:
            return True
        try:
            return thread.run(self.client.frontier(document)).nodes_total <= _LOOKED_INTO
        except JmftsError:
            return False

    def about(self) -> Capabilities:
        """What the server is, can do and holds. Raises JmftsError."""
        return thread.run(self.client.capabilities())

    def unfinished(self) -> list[Unfinished]:
        """What was cut off while it was made, or is being made now."""
        found = thread.run(self.client.documents(UNFINISHED, _PAGE))
        return [Unfinished(each.id, str(each.structured.get(MADE_BY, ""))) for each in found]

    def close(self) -> None:
        """Let go of the connections."""
        thread.run(self.client.close())

    def remember(self) -> None:
        """Nothing to do: what was read is kept when it is read."""

    async def _roots_and_names(self) -> tuple[list[Document], list[Located]]:
        names = _all(lambda at: self.client.located(_NAME, _PAGE, at))
        return await asyncio.gather(self._roots(), names)

    async def _roots(self) -> list[Document]:
        return await _all(lambda at: self.client.documents(ROOT, _PAGE, at))

    async def _unchanged(self, states: Mapping[str, str]) -> set[str]:
        async def holds(path: str, state: str) -> bool:
            try:
                return await self.open(path).is_in(state)
            except StoreError:
                return False

        found = await asyncio.gather(*(holds(*each) for each in states.items()))
        return {path for path, holding in zip(states, found, strict=True) if holding}

    def _summary(self, root: Document, names: dict[int, str]) -> Summary:
        name = names.get(root.id, "")
        if (looked := self._looked.get(root.id)) is not None and (looked.named or not name):
            return msgspec.structs.replace(looked, title=name) if name else looked
        header, flaw = _header(root)
        session_id = _session_id(header)
        title = name or _own_title(root, session_id)
        return Summary(
            id=session_id,
            title=title or placeholder_title(session_id),
            named=bool(title),
            cwd=_text(header.get("cwd")),
            parent=_text(header.get("parent")) or None,
            created=stamp_text(header.get("timestamp")),
            modified="",
            entries=0,
            messages=0,
            forks=0,
            unreadable=0,
            damage=int(bool(flaw)),
            notes=0,
            pending=False,
            partial=True,
        )


async def _all(ask: Callable[[int], Awaitable[list[D]]]) -> list[D]:
    """Every document of a listing, page by page."""
    found: dict[int, D] = {}
    while True:
        page, before = await ask(len(found)), len(found)
        found |= {document.id: document for document in page}
        if len(page) < _PAGE or len(found) == before:
            return list(found.values())


def _header(root: Document) -> tuple[dict[str, Any], str]:
    """The header of a conversation, {} without one, and what is wrong with it."""
    raw, flaw = header_line(root)
    return msgspec.json.decode(raw, type=dict[str, Any]) if raw else {}, flaw


def _session_id(header: Mapping[str, Any]) -> str:
    return _text(header.get("id"))


def _own_title(root: Document, session_id: str) -> str:
    """The title of a root, but for the one that τ gives to what has no name."""
    title = (root.title or "").strip()
    return "" if title == f"{ROOT} {session_id[:8]}" else title


def _name_in(document: Located) -> str:
    try:
        stored = msgspec.json.decode(document.structured_content, type=_Named)
    except msgspec.DecodeError:
        return ""
    return stored.tau.name.strip()


class _Name(msgspec.Struct, frozen=True):
    name: str = ""


class _Named(msgspec.Struct, frozen=True):
    tau: _Name = _Name()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(path: str) -> int:
    if not path.isdecimal():
        raise StoreError(f"{path!r} is no number of a document")
    return int(path)
