"""Which hand writes to which kind of store."""

from __future__ import annotations

import os

from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.folder_writer import FolderWriter
from tau_browser.actions.log_writers import ClaudeCodeWriter, PiWriter
from tau_browser.actions.undo import Writers
from tau_browser.actions.writer import Hand, Writer
from tau_browser.stores.adapters import JMFTS, TAU
from tau_browser.stores.store import Store, StoreError

_FILES = {hand.store: hand for hand in (FileWriter, PiWriter, ClaudeCodeWriter)}
"""The hands of stores of files, by the store's name."""


def writer_beside(store: Store, path: str) -> Writer:
    """The writer of what is made of the session at a path. Raises StoreError."""
    if hand := _FILES.get(store.name):
        return hand.beside(path)
    if (writer := _server_writer(store)) is not None:
        return writer
    raise StoreError(f"sessions of the store {store.name!r} cannot be changed")


def writer_into(store: Store) -> Writer:
    """The writer of what comes into a store from elsewhere. Raises StoreError."""
    if store.name != TAU:
        raise StoreError(f"nothing can be brought into the store {store.name!r} here")
    root: str = next(iter(getattr(store, "roots", [])), "")
    return FileWriter.beside(root) if os.path.isfile(root) else FileWriter(root)


def writers(store: Store | None = None) -> Writers:
    """The writers that take changes back, by store. store: one that is open, if it is a server."""
    found: dict[str, Hand] = {name: hand("") for name, hand in _FILES.items()}
    found[FolderWriter.store] = FolderWriter()
    if store is not None and (writer := _server_writer(store)) is not None:
        found[JMFTS] = writer
    return found


def _server_writer(store: Store) -> Writer | None:
    if store.name != JMFTS:
        return None
    from tau_browser.actions.server_writer import ServerWriter  # which speaks HTTP
    from tau_browser.stores.jmfts.store import JmftsStore

    assert isinstance(store, JmftsStore)
    return ServerWriter(store)
