"""Waiting for what is asked in the thread of the servers."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from tau_browser.stores.jmfts import thread


def test_who_is_interrupted_at_any_moment_ends_what_was_asked() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(300):  # the interrupt also comes before there is something to wait for
            _interrupted()
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupted() -> None:
    ended = threading.Event()

    async def asked() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        thread.run(asked())
    assert ended.wait(30)
