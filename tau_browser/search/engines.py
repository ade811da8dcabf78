"""Which engine searches which store: files by an index of ours, a server by its own methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tau_browser.search.engine import Engine
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.store import Store

if TYPE_CHECKING:
    from tau_browser.search.server.engine import ServerEngine

    AnyEngine = Engine | ServerEngine


def engine_for(store: Store, cache_folder: Path) -> AnyEngine:
    """The engine of a store. `cache_folder`: where indexes are kept."""
    if store.name != JMFTS:
        return Engine(store, cache_folder)
    from tau_browser.search.server.engine import ServerEngine  # which speaks HTTP
    from tau_browser.stores.jmfts.store import JmftsStore

    assert isinstance(store, JmftsStore)
    return ServerEngine(store, cache_folder)
