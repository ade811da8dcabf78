"""An answer of a server that waits, so that a test can look at the screen and act meanwhile."""

from __future__ import annotations

import asyncio
import socket
import threading

from textual.pilot import Pilot

from tests.jmfts.proxy import Proxy, whole


class Hold:
    """Holds back the nth answer to some kind of request until it is let go."""

    def __init__(self, proxy: Proxy, asked: str, nth: int) -> None:
        self._proxy, self._asked, self._left = proxy, asked, nth
        self._reached, self._released = threading.Event(), threading.Event()
        proxy.spoil = self._spoil

    def _spoil(self, number: int, client: socket.socket, answer: bytes) -> bool:
        if self._asked in self._proxy.asked[number]:
            self._left -= 1
            if not self._left:
                self._reached.set()
                assert self._released.wait(60)
        return whole(number, client, answer)

    async def reached(self, pilot: Pilot[None]) -> None:
        """Wait until that answer is held back, and what is shown by then is shown."""
        assert await asyncio.to_thread(self._reached.wait, 60)
        await pilot.pause()

    def release(self) -> None:
        self._released.set()
