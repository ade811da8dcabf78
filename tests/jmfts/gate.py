"""A gate before one method of a server: what is asked of it waits until the gate is opened."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.client import Client


class Gate:
    """waiting: queries that wait before it · given_up: those that were cancelled there."""

    def __init__(self, client: Client, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waiting: list[str] = []
        self.given_up: list[str] = []
        self._is_open = thread.run(_event())
        search = client.search

        async def gated(asked: str, body: Any, index: str | None = None) -> Any:
            if asked == method:
                self.waiting.append(body["query"])
                try:
                    await self._is_open.wait()
                except asyncio.CancelledError:
                    self.given_up.append(body["query"])
                    raise
            return await search(asked, body, index)

        monkeypatch.setattr(client, "search", gated)

    def open(self) -> None:
        """Let all through, now and later."""
        thread.run(_set(self._is_open))


async def _event() -> asyncio.Event:
    return asyncio.Event()


async def _set(event: asyncio.Event) -> None:
    event.set()
