"""Which adapters there are. Our own comes through the same door as those of other packages."""

from __future__ import annotations

from typing import Any

from tau_browser.stores.store import StoreError

GROUP = "tau_browser.stores"
"""The entry-point group in which a package registers its adapter, under the store's name."""
TAU = "tau"


def adapter(name: str) -> Any:
    """The adapter registered under a name: called with what its store needs, it gives a `Store`.

    Raises StoreError if there is none, or if it cannot be imported.
    """
    if name == TAU:  # looking through what is installed costs more than all else at the start
        from tau_browser.stores.tau_file import TauFileStore

        return TauFileStore
    from importlib.metadata import entry_points

    registered = entry_points(group=GROUP)
    if name not in registered.names:
        known = ", ".join(sorted({TAU, *registered.names}))
        raise StoreError(f"no store is called {name!r}; installed are: {known}")
    try:
        return registered[name].load()
    except Exception as error:  # whatever a strange package does when it is imported
        raise StoreError(f"the store {name!r} cannot be used: {error}") from error
