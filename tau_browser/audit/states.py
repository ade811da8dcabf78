"""Whether sessions still are as they were audited, told without reading them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, cast

from tau_browser.model.session import Session
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.files import identity_of
from tau_browser.stores.session_file import SessionFile
from tau_browser.stores.store import OpenSession, Store, StoreError

if TYPE_CHECKING:
    from tau_browser.stores.jmfts.store import JmftsStore

State = str
"""What tells one state of a session from another; "" where nothing does."""

_ASKED_AT_ONCE = 20  # conversations on a server


class States(Protocol):
    """The states of a store's sessions. at_once: how many are checked in one go · prefix: how the
    keys of all of them begin."""

    at_once: int
    prefix: str

    def key(self, path: str) -> str:
        """What tells a session from those of other stores."""
        ...

    def unchanged(self, kept: Mapping[str, State]) -> set[str]:
        """Those of some sessions, by path, that are in these states still."""
        ...

    def is_gone(self, key: str) -> bool:
        """Whether there is no session of this key any more, given that it is not listed."""
        ...

    def state(self, path: str) -> State:
        """The state of a session, told before it is read."""
        ...

    def load(self, path: str) -> tuple[Session, State]:
        """A session, read to its end, and its state then. Raises StoreError."""
        ...


def states_of(store: Store) -> States:
    """The states of the sessions of a store."""
    if store.name == JMFTS:
        return ServerStates(cast("JmftsStore", store))
    return FileStates(store)


def load(store: Store, path: str) -> Session:
    """A session of a store, read to its end. Raises StoreError."""
    opened = store.open(path)
    session = _whole(opened)
    opened.close()
    return session


class FileStates:
    """Of sessions that lie in files of this machine, or are translated into some."""

    at_once = sys.maxsize
    prefix = os.sep

    def __init__(self, store: Store) -> None:
        self._store = store

    def key(self, path: str) -> str:
        return path

    def unchanged(self, kept: Mapping[str, State]) -> set[str]:
        return {path for path, state in kept.items() if state and self.state(path) == state}

    def is_gone(self, key: str) -> bool:
        folder = key.rpartition("#")[0]  # of a session that lies in a folder with others
        return key.startswith(self.prefix) and not any(map(os.path.lexists, (key, folder)))

    def state(self, path: str) -> State:
        try:
            files = self._store.open(path).log().files
            states = [identity_of(os.stat(file)) for file in files]
        except (StoreError, OSError):
            return ""
        return " ".join(f"{s.device}:{s.inode}:{s.size}:{s.mtime_ns}" for s in states)

    def load(self, path: str) -> tuple[Session, State]:
        state = self.state(path)  # before: what changes meanwhile is read again
        return load(self._store, path), state


class ServerStates:
    """Of conversations on a JMFTS server, as one token may see them."""

    at_once = _ASKED_AT_ONCE

    def __init__(self, store: JmftsStore) -> None:
        self._store = store
        self.prefix = f"{JMFTS}:{store.owner}:"

    def key(self, path: str) -> str:
        return self.prefix + path

    def unchanged(self, kept: Mapping[str, State]) -> set[str]:
        return self._store.unchanged(kept)

    def is_gone(self, key: str) -> bool:
        return key.startswith(self.prefix)

    def state(self, path: str) -> State:
        return ""

    def load(self, path: str) -> tuple[Session, State]:
        opened = self._store.open(path)
        return _whole(opened), opened.state


def _whole(opened: OpenSession) -> Session:
    if isinstance(opened, SessionFile):
        return opened.read()  # nobody looks at what there is meanwhile
    session = None
    for progress in opened.load():
        session = progress.session
    assert session is not None  # the last progress carries the whole session
    return session
