"""What a person meant by a word on the command line: a folder, a file, or a session by its id."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tau_browser.stores.adapters import JMFTS, TAU, adapter, recognising
from tau_browser.stores.store import Listed, Store, StoreError, Unreadable

_SHOWN_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Target:
    """What to open: a store, and the path of the session to begin with, if one was named.

    ref: a word that names the session again ("" without one) · notice: what to tell the person at
    the start, or "" · is_demo: whether the store is the invented one that comes with the program.
    """

    store: Store
    path: str | None = None
    ref: str = ""
    notice: str = ""
    is_demo: bool = False


class NoSession(StoreError):
    """Nothing is called so. The message says where it was looked for."""


class AmbiguousReference(StoreError):
    """Several sessions could be meant: `candidates`, with their summaries; `count` of them all."""

    def __init__(self, message: str, candidates: list[Listed], count: int) -> None:
        super().__init__(message)
        self.candidates = candidates
        self.count = count


def store_over(
    roots: Sequence[str], cache_folder: Path | None, *, read_only: bool = False
) -> Store:
    """τ's file store over some folders, or over files named one by one."""
    store: Store = adapter(TAU)(roots, cache_folder, read_only=read_only)
    return store


def demo_target(notice: str) -> Target:
    """The invented store that comes with the program."""
    from importlib.resources import files

    sessions = files("tau_browser").joinpath("demo", "sessions")
    store = store_over([str(sessions)], None, read_only=True)
    return Target(store, notice=notice, is_demo=True)


def store_at(path: str, cache_folder: Path | None, name: str | None = None) -> Store:
    """The store of a kind over a folder or a file; without a name, of the kind that recognises
    it. Raises StoreError."""
    kind = recognising(path) if name is None or name == JMFTS else adapter(name)
    store: Store = kind([path], cache_folder)
    return store


def target_of(ref: str, store: Store, cache_folder: Path | None, name: str | None = None) -> Target:
    """What a word names: a folder or a file, at any place, else a session of the store by its id.

    name: the kind of store that a path is taken for, if a person named one. Raises StoreError
    where a path leads to nothing, NoSession and AmbiguousReference.
    """
    if not ref:
        raise StoreError("an empty word names no session")
    if store.name == JMFTS and not _looks_like_path(ref):
        try:
            path = session_named(ref, store).path
        except NoSession:
            if not ref.isdecimal():
                raise
            path = ref  # a document that is no session can still be looked at
        return Target(store, path, path)
    path = os.path.abspath(os.path.expanduser(ref))
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as error:
        if not _looks_like_path(ref):
            listed = session_named(ref, store)
            return Target(store, listed.path, store.identify(listed))
        folder, mark, _ = path.rpartition("#")
        if mark and os.path.isdir(folder):  # a session of those that a folder holds together
            return Target(store_at(folder, cache_folder, name), path, path)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreError(f"{ref}: {str(reason).lower()}") from error
    alone = store_at(path, cache_folder, name)
    return Target(alone) if is_folder else Target(alone, path, path)


def session_named(ref: str, store: Store) -> Listed:
    """The session of a store with this id, or else with an id that begins so.

    Raises NoSession and AmbiguousReference.
    """
    exact, begun = [], []
    for listed in _sessions(store):
        session_id = store.identify(listed)
        if listed.path == ref:
            return listed
        if session_id == ref:
            exact.append(listed)
        elif session_id.startswith(ref):
            begun.append(listed)
    found = exact or begun
    if not found:
        raise NoSession(f"no session {ref!r} in {store.title}")
    return _only(found, f"{ref!r} names {len(found):,} sessions", store)


def only_session(target: Target) -> Target:
    """The target with a path: its own, or that of the only session in its store.

    Raises NoSession and AmbiguousReference.
    """
    if target.path is not None:
        return target
    found = list(_sessions(target.store))
    title = target.store.title
    if not found:
        raise NoSession(f"no session in {title}")
    path = _only(found, f"{title} holds {len(found):,} sessions", target.store).path
    return Target(target.store, path, path, target.notice, target.is_demo)


def _sessions(store: Store) -> list[Listed]:
    return [item for item in store.scan() if isinstance(item, Listed)]


def _only(found: list[Listed], problem: str, store: Store) -> Listed:
    if len(found) == 1:
        return found[0]
    looked = [store.look_into(listed) for listed in found[:_SHOWN_CANDIDATES]]
    candidates = [
        found[at] if isinstance(item, Unreadable) else item for at, item in enumerate(looked)
    ]
    raise AmbiguousReference(problem, candidates, len(found))


def _looks_like_path(ref: str) -> bool:
    return os.sep in ref or ref.endswith(".jsonl") or ref.startswith(("~", "."))
