"""Following sessions while they are written, until somebody says that it is enough."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tau_browser.actions.observe.calls import Calls
from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.redacting import Redaction
from tau_browser.model.session import Session
from tau_browser.stores.store import (
    Change,
    Listed,
    OpenSession,
    Store,
    StoreError,
    Unreadable,
    whole,
)

Tell = Callable[[str], None]
"""Takes a sentence for a person about what just happened."""


@dataclass(frozen=True, slots=True)
class Pace:
    """every: seconds between two looks · batch: observations that are committed at once ·
    interval: seconds after which fewer are, too."""

    every: float = 1.0
    batch: int = 50
    interval: float = 300.0


@dataclass
class _Followed:
    """A session that is followed. `opened` None: it could not be read, and is tried again when
    it changes."""

    opened: OpenSession
    calls: Calls
    session: Session | None = None
    complained: str = ""


@dataclass
class Observing:
    """Captures the calls of some sessions of a store: of one, or of all there are and will be."""

    store: Store
    path: str | None
    capture: Capture
    pace: Pace
    tell: Tell = lambda _: None
    redaction: Redaction = field(default_factory=Redaction)
    _followed: dict[str, _Followed] = field(default_factory=dict)
    _since: float | None = None  # when the first of what is pending was captured

    def run(self, stop: threading.Event, *, once: bool = False) -> None:
        """Look at the sessions again and again until told to stop, or once. Raises StoreError
        where the repository cannot be written to."""
        while True:
            for path in self._paths():
                if stop.is_set():
                    return
                self._look(path)
            self._commit_if_due()
            if once or stop.wait(self.pace.every):
                return

    @property
    def waiting(self) -> int:
        """Entries with calls that have no result yet."""
        return sum(followed.calls.waiting for followed in self._followed.values())

    @property
    def sessions(self) -> int:
        """How many sessions were read."""
        return sum(followed.session is not None for followed in self._followed.values())

    @property
    def unread(self) -> dict[str, str]:
        """What could not be read, and why."""
        followed = self._followed.items()
        return {path: each.complained for path, each in followed if each.complained}

    def _paths(self) -> Iterator[str]:
        if self.path is not None:
            require_other(self.path, self.capture.root)
            yield self.path
            return
        for item in self.store.scan():
            if isinstance(item, Listed):
                require_other(item.path, self.capture.root)
                yield item.path
            elif isinstance(item, Unreadable) and item.path not in self._followed:
                self.tell(f"{item.path}: {item.reason}")

    def _look(self, path: str) -> None:
        """Capture what is new in one session."""
        followed = self._followed.get(path)
        try:
            if followed is None:
                opened = self.store.open(path)
                followed = self._followed[path] = _Followed(opened, Calls(self.store.name))
            session = self._read_on(followed)
        except StoreError as error:
            if followed is None:
                raise
            if followed.complained != str(error):
                followed.complained = str(error)
                self.tell(str(error))
            return
        if session is None:
            return
        followed.complained = ""
        for observation in followed.calls.done(session):
            if self.capture.add(self.redaction.observation(observation)):
                self._since = time.monotonic() if self._since is None else self._since
            if self.capture.pending >= self.pace.batch:
                self._commit()

    def _read_on(self, followed: _Followed) -> Session | None:
        """The session as it stands now; None if nothing changed since."""
        if followed.session is None:
            return self._load(followed)
        change = followed.opened.check()
        if change in (Change.NONE, Change.GONE):
            return None
        if change is Change.GREW:
            followed.session = followed.opened.follow()
            if not followed.session.is_nested:
                return followed.session
            followed.calls.restart()  # entries of a hierarchy do not all come at its end
            return followed.session
        followed.calls.restart()
        return self._load(followed)

    def _load(self, followed: _Followed) -> Session:
        followed.session = whole(followed.opened)
        return followed.session

    def _commit_if_due(self) -> None:
        if self._since is not None and time.monotonic() - self._since >= self.pace.interval:
            self._commit()

    def _commit(self) -> None:
        count = self.capture.pending
        if made := self.capture.commit():
            self.tell(f"committed {count:,} observations: {made[:8]}")
        self._since = None


def require_other(path: str, root: Path) -> None:
    """Raises StoreError where a repository would be captured into itself, again and again."""
    if os.path.realpath(path) == os.path.realpath(root):
        raise StoreError(f"{root}: it would be captured into itself: name another repository")
