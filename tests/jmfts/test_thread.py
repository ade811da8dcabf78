"""Waiting for what is asked in the thread of the servers."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from tau_browser.stores.jmfts import thread


def test_who_is_interrupted_ends_what_was_asked() -> None:
    ended = threading.Event()

    async def asked() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.run(asked())
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.wait(30)
