"""What a server holds and can do, as known for some seconds."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Collection

from tau_browser.model.summary import Summary
from tau_browser.search.results import Coverage
from tau_browser.search.server.asking import BY_MEANING
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.documents import ROOT, TAU, Capabilities, Counts, Index
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Listed

_KNOWN_FOR = 20.0  # seconds
_INDEX = "default"  # which the server asks where none is named


class Holdings:
    """roots: what the list tells of each conversation, by the number of its root · unable: methods
    that the server cannot do, and why. For any number of threads."""

    def __init__(self, store: JmftsStore) -> None:
        self.roots: dict[int, Summary] = {}
        self.unable: dict[str, str] = {}
        self.coverage = Coverage()
        self._store = store
        self._lock = threading.Lock()
        self._known_until = 0.0
        self._strange: set[int] = set()

    def learn(self) -> None:
        """Ask the server, unless it was asked just now. Raises StoreError."""
        with self._lock:
            if time.monotonic() >= self._known_until:
                self._ask()

    def learn_of(self, tops: Collection[int]) -> None:
        """Ask again if there are conversations that are not known: they may be new. tops: the
        outermost documents above what was found. Raises StoreError."""
        with self._lock:
            if strange := set(tops) - self.roots.keys() - self._strange:
                self._ask()
                self._strange |= strange

    def _ask(self) -> None:
        counted = thread.submit(self._count())
        listed = [item for item in self._store.scan() if isinstance(item, Listed)]
        about, counts, indexes = counted.result()
        self.roots = {int(item.path): item.summary for item in listed if item.summary is not None}
        self.unable.clear()
        if not about.embedding.can_embed:
            self.unable.update(dict.fromkeys(BY_MEANING, "the server has no model"))
        self.coverage = _coverage(len(listed), about, counts, indexes)
        self._strange.clear()
        self._known_until = time.monotonic() + _KNOWN_FOR

    async def _count(self) -> tuple[Capabilities, Counts, list[Index]]:
        client = self._store.client
        return await asyncio.gather(client.capabilities(), client.counts(), client.indexes())


def _coverage(sessions: int, about: Capabilities, counts: Counts, indexes: list[Index]) -> Coverage:
    """How much there is, and how much of it can be found by meaning and by words. Roots say
    nothing. An index counts what was deleted, too: then it cannot be told what it lacks."""
    by_kind = counts.by_usetype
    documents = counts.total_documents - by_kind.get(ROOT, 0)
    entries = sum(count for kind, count in by_kind.items() if kind.startswith(TAU) and kind != ROOT)
    held = next((index.total_docs for index in indexes if index.name == _INDEX), 0)
    return Coverage(
        sessions=sessions,
        entries=entries,
        indexed=documents,
        embedded=about.corpus.documents_with_vectors,
        unindexed=documents - held if held <= documents else None,
        what="document",
    )
