"""All that is asked of servers runs in one thread, whoever asks first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tau_browser.stores.jmfts import thread

ASKERS = 16


@pytest.fixture
def none_yet() -> Iterator[None]:
    """As in a program that has asked nothing yet."""
    thread._made.cache_clear()
    yield
    thread._made.cache_clear()


@pytest.mark.parametrize("_", range(20))
def test_there_is_one_loop_for_all_who_ask_at_once(none_yet: None, _: int) -> None:
    start = threading.Barrier(ASKERS)

    async def here() -> str:
        return f"{threading.get_ident()}"

    def ask() -> str:
        start.wait()
        return thread.run(here())

    with ThreadPoolExecutor(ASKERS) as pool:
        assert len({each.result() for each in [pool.submit(ask) for _ in range(ASKERS)]}) == 1
