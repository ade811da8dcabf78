"""The protocol that every store follows, and the words that it speaks in.

An adapter lists, opens and watches; it never repairs in silence and never falls back to another
store. Whatever goes wrong is a `StoreError` with a sentence for a person, or an `Unreadable`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the model needs numpy, 160 ms that the first frame does not wait for
    from tau_browser.model.session import Session
    from tau_browser.model.summary import Summary
    from tau_browser.stores.session_log import SessionLog


class StoreError(Exception):
    """A store, or a session in it, cannot be used. The message says what, where and what to do."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A session in a list. `summary` is None until the session has been looked into.

    modified: seconds since 1970 of the last change to the stored thing, for a first order only.
    """

    store: str
    path: str
    modified: float
    summary: Summary | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something in the store that is or may be a session and cannot be listed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load has come, in bytes. total: 0 while it is not known · session: what there is so
    far, now and then."""

    done: int
    total: int
    session: Session | None = None


class Change(StrEnum):
    """What happened to an open session since it was last looked at."""

    NONE = "unchanged"
    GREW = "grew"
    SHRANK = "was cut short"
    REPLACED = "was replaced by another file"
    REWRITTEN = "was rewritten"
    GONE = "is gone"
    BACK = "is back"
    AWAY = "cannot be reached"


class Capability(StrEnum):
    """A change that a store can make, by the verb that asks for it. Only those are offered."""

    FORK = "fork"  # a new session out of entries of one
    PRUNE = "prune"  # the same, without some subtrees
    PRUNE_IN_PLACE = "prune in place"
    FOLD = "fold"  # an elide after the leaf
    RENAME = "rename"
    IMPORT = "import"
    ENRICH = "enrich"


class OpenSession(Protocol):
    """One session, open for reading. Reading leaves the stored thing as it is."""

    path: str

    def load(self) -> Iterator[Progress]:
        """Read it from the start. The last progress carries the whole session.

        Raises StoreError where it cannot be read.
        """
        ...

    def check(self) -> Change:
        """What happened since the last load or follow. Cheap: reads no entry."""
        ...

    def follow(self) -> Session:
        """Read on from where the last load or follow ended. Raises StoreError."""
        ...

    def log(self) -> SessionLog:
        """Where its lines can be read here and now, for the search. Raises StoreError, also where
        they are kept nowhere on this machine."""
        ...

    def close(self) -> None:
        """Let go of it. Sessions that were read from it can still be looked at."""
        ...


class Store(Protocol):
    """A place where sessions live."""

    name: str
    title: str  # the place in words, for a person
    capabilities: frozenset[Capability]
    refresh_every: float  # seconds after which it may be listed again at little cost

    def scan(self) -> Iterator[Listed | Unreadable]:
        """All there is, cheaply, without looking into anything not looked into before."""
        ...

    def look_into(self, listed: Listed) -> Listed | Unreadable:
        """The same session with its summary."""
        ...

    def identify(self, listed: Listed) -> str:
        """The id of a session, told as cheaply as it can be; "" if it has none."""
        ...

    def is_empty(self) -> bool:
        """Whether there is nothing at all here: no session, and nothing that cannot be read."""
        ...

    def open(self, path: str) -> OpenSession:
        """A session by its path in the store. Raises StoreError."""
        ...

    def remember(self) -> None:
        """Keep what was looked into, so that the next run need not look again."""
        ...


def whole(opened: OpenSession) -> Session:
    """All of a session that was just opened. Raises StoreError."""
    *_, last = opened.load()
    assert last.session is not None  # the last progress always carries one
    return last.session


def why_not(store: Store, needed: Capability) -> str:
    """Why a store does not do what it is asked for, in a sentence."""
    where = f"{needed.value}: {store.title} (store {store.name})"
    if not store.capabilities:
        return f"{where} is read only"
    can = ", ".join(sorted(each.value for each in store.capabilities))
    return f"{where} cannot be changed so; it can: {can}"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which a program usually keeps its sessions, and what says so."""

    path: str
    origin: str


class Adapter(Protocol):
    """What a package registers: the class of its store, which says what it recognises.

    A store on a server recognises no path and has no places; it is asked for by its name. (Our own,
    "jmfts", is made from a connection instead of folders.)
    """

    name: str

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether what lies at a path, a file or a folder, is surely of this kind.

        Told from little of it, and never from its name alone. False where it cannot be read.
        """
        ...

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """Where its program keeps sessions, whether or not anything is there."""
        ...

    def __call__(self, roots: Sequence[str], cache_folder: Path | None) -> Store:
        """The store over some folders or files. `cache_folder`: what may be kept between runs."""
        ...
