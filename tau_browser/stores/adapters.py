"""Which adapters there are. Our own come through the same door as those of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tau_browser.stores.store import StoreError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

GROUP = "tau_browser.stores"
"""The entry-point group in which a package registers its adapter, under the store's name."""
TAU, JMFTS = "tau", "jmfts"


def adapter(name: str) -> Any:
    """The adapter registered under a name (`store.Adapter`).

    Raises StoreError if there is none, or if it cannot be imported.
    """
    if name == TAU:  # looking through what is installed costs more than all else at the start
        from tau_browser.stores.tau_file import TauFileStore

        return TauFileStore
    if name == JMFTS:
        from tau_browser.stores.jmfts.store import JmftsStore

        return JmftsStore
    registered = _registered()
    if name not in registered.names:
        known = ", ".join(sorted({TAU, JMFTS, *registered.names}))
        raise StoreError(f"no store is called {name!r}; installed are: {known}")
    try:
        return registered[name].load()
    except Exception as error:  # whatever a strange package does when it is imported
        raise StoreError(f"the store {name!r} cannot be used: {error}") from error


def names() -> list[str]:
    """The names of all adapters, τ's first."""
    return [TAU, *sorted(_registered().names - {TAU})]


def recognising(path: str) -> Any:
    """The adapter that recognises what lies at a path; τ's where none does.

    An adapter that cannot be imported recognises nothing: `doctor` says why.
    """
    tau = adapter(TAU)
    if tau.recognises(path):
        return tau
    return next((other for other in _others() if other.recognises(path)), tau)


def _others() -> Iterator[Any]:
    for name in names():
        if name in (TAU, JMFTS):  # no path is a server's
            continue
        try:
            yield adapter(name)
        except StoreError:
            continue


def _registered() -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)
