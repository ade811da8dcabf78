"""What the search reads of a store: the logs of its sessions, and in which state they are."""

from __future__ import annotations

import os

from tau_browser.model.session import Session
from tau_browser.search.index.freshness import FileIdentity, identity_of
from tau_browser.stores.session_file import SessionFile
from tau_browser.stores.session_log import SessionLog, log_in_file
from tau_browser.stores.store import Store, StoreError, whole


class Logs:
    """The logs of a store; without one, of files of τ's that are named by their paths."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    def of(self, path: str) -> SessionLog:
        """The log of a session. Raises StoreError."""
        return log_in_file(path) if self._store is None else self._store.open(path).log()

    def load(self, path: str) -> Session:
        """A session, read to its end. Raises StoreError."""
        opened = SessionFile(path) if self._store is None else self._store.open(path)
        return opened.read() if isinstance(opened, SessionFile) else whole(opened)

    def identity(self, path: str) -> FileIdentity:
        """The present state of a session's log. Raises OSError and StoreError."""
        first, *others = [identity_of(os.stat(file)) for file in self.of(path).files]
        if not others:
            return first
        device, inode, *rest = first
        sizes, *times = zip(rest, *(other[2:] for other in others), strict=True)
        modified, changed = map(max, times)
        return device, inode, sum(sizes), modified, changed

    def is_now(self, path: str, identity: FileIdentity) -> bool:
        """Whether a session's log is in this state."""
        try:
            return self.identity(path) == identity
        except (OSError, StoreError):
            return False


FILES = Logs()
