"""Which hand writes to which kind of store."""

from __future__ import annotations

from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.undo import Writers
from tau_browser.actions.writer import Writer
from tau_browser.stores.adapters import TAU
from tau_browser.stores.store import StoreError


def writer_beside(store: str, path: str) -> Writer:
    """The writer of what is made of the session at a path. Raises StoreError."""
    if store == TAU:
        return FileWriter.beside(path)
    raise StoreError(f"sessions of the store {store!r} cannot be changed")


def writers() -> Writers:
    """The writers that take changes back, by store."""
    return {TAU: FileWriter("")}
