"""How a change goes on: how far it has come, how fast, and whether a person has had enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tau_browser.model.text import counted
from tau_browser.stores.store import StoreError


@dataclass(frozen=True, slots=True)
class Progress:
    """does: what is being done, as in "writing" · done, total: how many of how many of some thing ·
    final: whether it is too late to stop."""

    does: str
    done: int
    total: int
    thing: str = "document"
    final: bool = False


Tell = Callable[[Progress], None]
"""Is told before each step of a change, in whatever thread makes it, how far it has come, and
raises Stopped to end it there; never where that is final."""


class Stopped(StoreError):
    """A person stopped a change: nothing of it is left."""

    def __init__(self) -> None:
        super().__init__("stopped: nothing of it is left")


def silent(progress: Progress) -> None:
    """For where nobody watches."""


class Meter:
    """Puts progress into words, with the rate and the time that is left."""

    def __init__(self) -> None:
        self._does = ""
        self._begun = 0.0

    def words(self, at: Progress) -> str:
        """It in one line."""
        now = time.monotonic()
        if at.does != self._does:
            self._does, self._begun = at.does, now
        things = counted(at.total, at.thing)
        if not at.done or now == self._begun:
            return f"{at.does} {things}"
        rate = at.done / (now - self._begun)
        left = span(max(0, at.total - at.done) / rate)
        return f"{at.does} {at.done:,} of {things} · {rate:,.1f}/s · {left} left"


def span(seconds: float) -> str:
    """A time that something takes, as in "2 min 5 s"."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes:,} min {seconds} s" if minutes else f"{seconds} s"
