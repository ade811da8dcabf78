"""One thread with an event loop, in which everything that is asked of servers runs.

The rest of the program is synchronous or has a loop of its own (the screen's): it waits here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Iterator
from concurrent.futures import Future, TimeoutError
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
W = TypeVar("W")
_making = threading.Lock()
_BEAT = 0.1  # seconds of waiting after which the one who waits is asked whether to go on


def run(asked: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns or raises; interrupted, it is cancelled. Not to be called from
    within the thread itself."""
    with _under_way(asked) as future:
        return future.result()


def submit(asked: Coroutine[Any, Any, T]) -> Future[T]:
    """A coroutine under way; cancelling the future cancels what it asks."""
    return asyncio.run_coroutine_threadsafe(asked, _loop())


def wait(asked: Coroutine[Any, Any, T], waiting: W) -> Generator[W, None, T]:
    """What a coroutine returns or raises; yields `waiting` again and again until then.

    Closing the generator cancels what is asked.
    """
    with _under_way(asked) as future:
        while True:
            try:
                return future.result(_BEAT)
            except TimeoutError:
                if future.done():  # then it was a time limit of what was asked
                    raise
            yield waiting


def iterate(items: AsyncGenerator[T], waiting: T) -> Iterator[T]:
    """The items as they come, and `waiting` again and again while none does.

    Closing the iterator ends what the items come from.
    """
    try:
        while (item := (yield from wait(_next(items), waiting))) is not None:
            yield item
    finally:
        submit(_close(items))


@contextmanager
def _under_way(asked: Coroutine[Any, Any, T]) -> Iterator[Future[T]]:
    """A coroutine under way, cancelled when its future is left: also by an interrupt that comes
    before there is a future to cancel."""
    left: Future[None] = Future()
    try:
        yield submit(_until(left, asked))
    finally:
        left.set_result(None)


async def _until(left: Future[None], asked: Coroutine[Any, Any, T]) -> T:
    asking = asyncio.ensure_future(asked)
    await asyncio.wait((asking, asyncio.wrap_future(left)), return_when=asyncio.FIRST_COMPLETED)
    if not asking.done():
        asking.cancel()
    return await asking


async def _next(items: AsyncGenerator[T]) -> T | None:
    return await anext(items, None)


async def _close(items: AsyncGenerator[Any]) -> None:
    while True:
        try:
            await items.aclose()
            return
        except RuntimeError:  # its last step is still being cancelled
            await asyncio.sleep(0)


def _loop() -> asyncio.AbstractEventLoop:
    with _making:  # whoever comes first, there is one
        return _made()


@cache
def _made() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="jmfts", daemon=True).start()
    return loop
