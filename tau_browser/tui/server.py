"""The JMFTS server that a session's entries can be brought to, whatever store they are in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tau_browser import config
from tau_browser.stores.adapters import JMFTS, adapter
from tau_browser.stores.store import Store, StoreError

if TYPE_CHECKING:
    from tau_browser.stores.jmfts.store import JmftsStore


class Server:
    """The server that is open, or else the one that is set up."""

    def __init__(self, opened: Store, cache_folder: Path) -> None:
        self._opened = opened
        self._cache_folder = cache_folder
        self._made: JmftsStore | None = None

    def why_not(self) -> str:
        """Why there is none; "" where there is one. Does not speak to it."""
        try:
            if self._opened.name != JMFTS:
                config.connection(os.environ)
        except config.ConfigError as error:
            return str(error)
        return ""

    def reach(self) -> JmftsStore:
        """Its store. Slow: for a thread. Raises StoreError."""
        if self._opened.name == JMFTS:
            found: JmftsStore = self._opened  # type: ignore[assignment]
            return found
        if self._made is None:
            try:
                to = config.connection(os.environ)
            except config.ConfigError as error:
                raise StoreError(str(error)) from error
            self._made = adapter(JMFTS)(to.url, to.token, self._cache_folder, to.parent)
        return self._made
