"""agmem's repositories as a store: each is one session, read through its translation."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tau_browser.stores.agmem.origin import Repository, is_repository, repositories
from tau_browser.stores.agmem.refs import session_id
from tau_browser.stores.files import Identity, passing_folder
from tau_browser.stores.store import Capability, Listed, Place, StoreError, Unreadable, whole

if TYPE_CHECKING:
    from tau_browser.stores.catalog import Catalog
    from tau_browser.stores.translated import State, TranslatedSession
    from tau_browser.stores.verdict import Report

_LOOKED_AT = 200  # folders, to tell whether there is a repository below a path
_CHANGING = ("HEAD", "logs/HEAD", "daemon_buffer.jsonl", "daemon_session.json", "config.json")


class AgmemStore:
    """The repositories at or below some folders."""

    name = "agmem"
    refresh_every = 5.0
    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, roots: Sequence[str], cache_folder: Path | None = None) -> None:
        self.roots = [os.path.abspath(root) for root in roots]
        self.title = ", ".join(self.roots)
        self._cache_folder = cache_folder

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether this is a repository, or a folder with one not far below it."""
        try:
            return next(repositories(path, most=_LOOKED_AT), None) is not None
        except StoreError:
            return False

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """The repository that this directory is in, if any: agmem makes them anywhere."""
        here = os.getcwd()
        while not is_repository(here):
            above = os.path.dirname(here)
            if above == here:
                return []
            here = above
        return [Place(here, "the agmem repository of this directory")]

    def scan(self) -> Iterator[Listed | Unreadable]:
        """All repositories, those changed last first."""
        found = []
        for root in self.roots:
            try:
                found += list(repositories(root))
            except StoreError as error:
                yield Unreadable(root, str(error).removeprefix(f"{root}: "))
        self._catalog.keep_only(set(found))
        listed = [Listed(self.name, path, _modified(path)) for path in dict.fromkeys(found)]
        for item in sorted(listed, key=lambda item: (-item.modified, item.path)):
            try:
                state = Repository(item.path).state()
            except StoreError:  # gone meanwhile
                continue
            summary = self._catalog.get(item.path, _identity(state))
            yield Listed(self.name, item.path, item.modified, summary)

    def look_into(self, listed: Listed) -> Listed | Unreadable:
        """The repository with its summary, from the catalog or from itself."""
        try:
            identity = _identity(Repository(listed.path).state())
            summary = self._catalog.ensured(
                listed.path, identity, lambda: whole(self.open(listed.path))
            )
        except StoreError as error:
            return Unreadable(listed.path, str(error).removeprefix(f"{listed.path}: "))
        return Listed(listed.store, listed.path, listed.modified, summary)

    def identify(self, listed: Listed) -> str:
        """The id of a repository as a session."""
        return session_id(listed.path)

    def is_empty(self) -> bool:
        """Whether there is no repository here."""
        return next(self.scan(), None) is None

    def open(self, path: str) -> TranslatedSession:
        """A repository by its folder."""
        from tau_browser.stores.translated import TranslatedSession  # with numpy

        return TranslatedSession(Repository(path), self._translations)

    def verify(self, path: str, anchor: str = "") -> Report:
        """The audit of a repository's integrity. Raises StoreError."""
        from tau_browser.stores.agmem.integrity import audit

        repository = Repository(path)
        repository.state()  # says so if there is none
        return audit(path, repository.history(), anchor)

    def remember(self) -> None:
        """Keep what was looked into, for the next run."""
        self._catalog.save()

    @cached_property
    def _catalog(self) -> Catalog:
        from tau_browser.stores.catalog import Catalog  # the first frame does without

        return Catalog(self._cache_folder, [self.name, *self.roots])

    @cached_property
    def _translations(self) -> Path:
        return (self._cache_folder or passing_folder()) / "agmem"


def _identity(state: State) -> Identity:
    """A state in the form in which the catalog keeps it."""
    return Identity(0, int(state.mark[:15], 16), state.size, 0)


def _modified(path: str) -> float:
    times = []
    for name in _CHANGING:
        try:
            times.append(os.stat(f"{path}/.mem/{name}").st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)
