"""What runs behind the screen: listing, reading, watching, finding. Each posts what it has.

Workers never touch a widget. Each message carries the generation of the question it answers, so
that a late answer never overwrites a newer one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.message import Message

from tau_browser.model.session import Session
from tau_browser.model.signals import Signals, read_signals
from tau_browser.model.tallies import tallied
from tau_browser.search.find import Pattern, QueryError, find
from tau_browser.stores.store import (
    Change,
    Listed,
    OpenSession,
    Progress,
    Store,
    StoreError,
    Unreadable,
)
from tau_browser.tui.facts import Facts, facts_of

_EVERY = 0.1  # seconds between two messages of one worker
_SAVE_EVERY = 500  # sessions looked into between two savings of the catalog

Post = Callable[[Message], object]
Cancelled = Callable[[], bool]


class SessionsFound(Message):
    """Sessions by path, as far as known; `done` once the store has been gone through."""

    def __init__(
        self, sessions: dict[str, Listed], unreadable: list[Unreadable], *, done: bool
    ) -> None:
        super().__init__()
        self.sessions = sessions
        self.unreadable = unreadable
        self.done = done


class ListFailed(Message):
    """The store could not be gone through."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class Tallied(Message):
    """What the tools of a session made, as far as it was counted: `done` entries."""

    def __init__(self, done: int, told: str) -> None:
        super().__init__()
        self.done = done
        self.told = told


class SessionLooked(Message):
    """A session of the list was looked into."""

    def __init__(self, path: str, looked: Listed | Unreadable) -> None:
        super().__init__()
        self.path = path
        self.looked = looked


class SessionRead(Message):
    """A load came on: some of the session, or all of it. `facts` where there is more to show."""

    def __init__(
        self, generation: int, progress: Progress, facts: Facts | None, *, whole: bool
    ) -> None:
        super().__init__()
        self.generation = generation
        self.progress = progress
        self.facts = facts
        self.whole = whole


class SessionFailed(Message):
    """A load or a follow ended with an error."""

    def __init__(self, generation: int, reason: str) -> None:
        super().__init__()
        self.generation = generation
        self.reason = reason


class SessionChanged(Message):
    """The open session is not what it was; `facts` of what it is now, if it was read on."""

    def __init__(self, generation: int, change: Change, facts: Facts | None) -> None:
        super().__init__()
        self.generation = generation
        self.change = change
        self.facts = facts


class SignalsRead(Message):
    """The signals of a session's entries, or how many were looked at so far."""

    def __init__(self, session: Session, done: int, signals: Signals | None) -> None:
        super().__init__()
        self.session = session
        self.done = done
        self.signals = signals


class HitsFound(Message):
    """A find came on. `hits` are all places so far; `problem` ends it."""

    def __init__(
        self, generation: int, hits: list[int], done: int, total: int, problem: str = ""
    ) -> None:
        super().__init__()
        self.generation = generation
        self.hits = hits
        self.done = done
        self.total = total
        self.problem = problem

    @property
    def finished(self) -> bool:
        """Whether every entry has been looked at, or no more will be."""
        return self.done >= self.total or bool(self.problem)


def list_sessions(store: Store, post: Post, cancelled: Cancelled) -> None:
    """Go through a store: first what is known at once, then each session not looked into."""
    sessions: dict[str, Listed] = {}
    unreadable: list[Unreadable] = []
    due = Pace()

    def tell(*, done: bool) -> None:
        post(SessionsFound(dict(sessions), list(unreadable), done=done))

    try:
        for item in store.scan():
            if isinstance(item, Listed):
                sessions[item.path] = item
            else:
                unreadable.append(item)
    except StoreError as error:
        post(ListFailed(str(error)))
        return
    tell(done=False)
    unknown = [listed for listed in sessions.values() if listed.summary is None]
    for at, listed in enumerate(unknown, 1):
        if cancelled():
            return
        looked = store.look_into(listed)
        if isinstance(looked, Listed):
            sessions[listed.path] = looked
        else:
            del sessions[listed.path]
            unreadable.append(looked)
        if due():
            tell(done=False)
        if at % _SAVE_EVERY == 0:
            store.remember()
    store.remember()
    tell(done=True)


def look_into(store: Store, wanted: list[Listed], post: Post, cancelled: Cancelled) -> None:
    """Look into some sessions of a store whose list tells little of each."""
    for listed in wanted:
        if cancelled():
            return
        post(SessionLooked(listed.path, store.look_into(listed)))


def load(opened: OpenSession, generation: int, post: Post, cancelled: Cancelled) -> None:
    """Read a session from its start."""
    due = Pace()
    last: Progress | None = None
    try:
        for progress in opened.load():
            if cancelled():
                return
            last = progress
            early = progress.session if progress.done != progress.total else None
            if early is not None or due():
                facts = facts_of(early) if early is not None else None
                post(SessionRead(generation, progress, facts, whole=False))
            time.sleep(0)  # let the screen have the interpreter between two pieces
    except StoreError as error:
        post(SessionFailed(generation, str(error)))
        return
    if last is not None and last.session is not None:
        post(SessionRead(generation, last, facts_of(last.session), whole=True))


def watch(opened: OpenSession, generation: int, post: Post, *, follow: bool) -> None:
    """Look once whether the open session changed; read on if it grew and is followed."""
    change = opened.check()
    if change is Change.NONE:
        return
    facts = None
    if change is Change.GREW and follow:
        try:
            facts = facts_of(opened.follow())
        except StoreError as error:
            post(SessionFailed(generation, str(error)))
            return
    post(SessionChanged(generation, change, facts))


def find_all(
    session: Session, pattern: Pattern, generation: int, post: Post, cancelled: Cancelled
) -> None:
    """Find in a session, telling the hits as they come."""
    hits: list[int] = []
    due = Pace()
    batches = find(session, pattern)
    done, total = 0, len(session)
    try:
        for batch in batches:
            if cancelled():
                return
            hits += batch.hits
            done = batch.done
            if done < total and due():
                post(HitsFound(generation, list(hits), done, total))
            time.sleep(0)
    except QueryError as error:
        post(HitsFound(generation, hits, done, total, str(error)))
        return
    post(HitsFound(generation, hits, total, total))


def signals(session: Session, post: Post, cancelled: Cancelled) -> None:
    """Read what each entry of a session is worth."""
    due = Pace()
    for done, found in read_signals(session):
        if cancelled():
            return
        if found is not None or due():
            post(SignalsRead(session, done, found))
        time.sleep(0)


def tallies(session: Session, post: Post, cancelled: Cancelled) -> None:
    """Count what the tools of a session's entries made."""
    due = Pace()
    for done, found in tallied(session):
        if cancelled():
            return
        if done == len(session) or due():
            post(Tallied(done, str(found)))
        time.sleep(0)


class Pace:
    """True at the first call, then at most once in a while."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _EVERY
        return True
