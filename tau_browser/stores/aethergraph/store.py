"""aethergraph workspaces as a store: read only, by way of a translation into τ's lines."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tau_browser.stores.aethergraph.layout import (
    Address,
    Kind,
    address_of,
    addresses,
    event_files_of,
    files_of_session,
    files_of_workspace,
    is_workspace,
    workspaces,
)
from tau_browser.stores.aethergraph.records import Damage
from tau_browser.stores.files import Identity, passing_folder, words_of
from tau_browser.stores.store import Capability, Listed, Place, StoreError, Unreadable, whole
from tau_browser.stores.translated import State, TranslatedSession, Translation

if TYPE_CHECKING:
    from tau_browser.stores.aethergraph.parts import Parts
    from tau_browser.stores.catalog import Catalog
    from tau_browser.stores.verdict import Report

_PIECE = 1 << 20  # bytes of a translation that are handed on at once
_WORKSPACE = "AETHERGRAPH_WORKSPACE"


class AethergraphStore:
    """The sessions, runs and corpora of some workspaces."""

    name = "aethergraph"
    refresh_every = 5.0
    capabilities: frozenset[Capability] = frozenset()  # it is another program's memory

    def __init__(self, roots: Sequence[str], cache_folder: Path | None = None) -> None:
        self.roots = [os.path.abspath(root) for root in roots]
        self.title = ", ".join(self.roots)
        self._cache_folder = cache_folder
        self._known: dict[Path, tuple[str, tuple[list[Address], list[Damage]]]] = {}

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether a folder is a workspace, or holds some."""
        return bool(workspaces(path))

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """The workspace that the program's own variable names."""
        path = env.get(_WORKSPACE)
        return [Place(path, f"${_WORKSPACE}")] if path else []

    @cached_property
    def _catalog(self) -> Catalog:
        from tau_browser.stores.catalog import Catalog  # the first frame does without

        return Catalog(self._cache_folder, [self.name, *self.roots])

    @cached_property
    def _translations(self) -> Path:
        """Where translations are kept: for good, or for as long as this store is."""
        return (self._cache_folder or passing_folder()) / "aethergraph"

    def scan(self) -> Iterator[Listed | Unreadable]:
        """All sessions, those changed last first; what cannot be listed, as it is met."""
        found: list[Listed] = []
        for root in chain.from_iterable(map(workspaces, self.roots)):
            sessions, damage = self._addresses(root)
            for each in damage:
                yield Unreadable(str(root / each.spot.file), each.reason)
            for address in sessions:
                try:
                    state = _state(address)
                except StoreError as error:
                    yield Unreadable(address.path, str(error).removeprefix(f"{address.path}: "))
                    continue
                summary = self._catalog.get(address.path, _identity(state))
                found.append(Listed(self.name, address.path, _modified(address), summary))
        self._catalog.keep_only({listed.path for listed in found})
        yield from sorted(found, key=lambda listed: (-listed.modified, listed.path))

    def _addresses(self, root: Path) -> tuple[list[Address], list[Damage]]:
        """The sessions of a workspace: looked for again only after something has changed."""
        mark = _mark(files_of_workspace(root))
        if root not in self._known or self._known[root][0] != mark:
            self._known[root] = mark, addresses(root)
        return self._known[root][1]

    def look_into(self, listed: Listed) -> Listed | Unreadable:
        """The session with its summary, from the catalog or by reading it."""
        try:
            identity = _identity(_state(address_of(listed.path)))
            summary = self._catalog.ensured(
                listed.path, identity, lambda: whole(self.open(listed.path))
            )
        except StoreError as error:
            return Unreadable(listed.path, str(error).removeprefix(f"{listed.path}: "))
        return Listed(listed.store, listed.path, listed.modified, summary)

    def identify(self, listed: Listed) -> str:
        """The id of a session."""
        return address_of(listed.path).id

    def is_empty(self) -> bool:
        """Whether there is nothing at all here."""
        return not any(workspaces(root) for root in self.roots)

    def open(self, path: str) -> TranslatedSession:
        """A session by its path. Raises StoreError."""
        return TranslatedSession(_Origin(path), self._translations)

    def verify(self, path: str, anchor: str = "") -> Report:
        """The audit of a session or a corpus. Raises StoreError."""
        from tau_browser.stores.aethergraph.corpora import read_corpus
        from tau_browser.stores.aethergraph.verifying import verify_corpus, verify_session

        address = address_of(path)
        _state(address)  # which says so if there is no such session
        if address.kind is Kind.CORPUS:
            corpus = read_corpus(address.root, address.name)
            return verify_corpus(path, address.root, corpus, anchor)
        return verify_session(path, _parts(address))

    def remember(self) -> None:
        """Keep what was looked into, for the next run."""
        self._catalog.save()


class _Origin:
    """A session where it is stored."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._address = address_of(path)

    def state(self) -> State:
        return _state(self._address)

    def translate(self) -> Iterator[Translation]:
        """Everything is read first: what is found about an entry stands in the header."""
        total = _state(self._address).size or 1
        done, lines = 0, bytearray()
        for line in _lines(self._address):
            lines += line
            if len(lines) >= _PIECE:
                done += len(lines)
                yield Translation(bytes(lines), min(done, total), total)
                lines.clear()
        yield Translation(bytes(lines), total, total)


def _lines(address: Address) -> Iterator[bytes]:
    from tau_browser.stores.aethergraph.corpora import read_corpus
    from tau_browser.stores.aethergraph.corpus_hierarchy import CorpusHierarchy
    from tau_browser.stores.aethergraph.hierarchy import Hierarchy

    if address.kind is Kind.CORPUS:
        return CorpusHierarchy(address.root, read_corpus(address.root, address.name)).lines()
    return Hierarchy(_parts(address)).lines()


def _parts(address: Address) -> Parts:
    from tau_browser.stores.aethergraph.parts import run_parts, session_parts, timeline_parts

    read = {Kind.RUN: run_parts, Kind.TIMELINE: timeline_parts}.get(address.kind, session_parts)
    return read(address.root, address.name)


def _state(address: Address) -> State:
    """The present state of a session: that of all files it is read from. Raises StoreError."""
    if not is_workspace(address.root):
        raise StoreError(f"{address.path}: no such session")
    files = [*files_of_session(address)]
    growing = {*event_files_of(address)}
    size = sum(
        status.st_size
        for path in files
        if (path in growing or path.suffix == ".db") and (status := _status(path))
    )
    return State(_mark(files), size)


def _mark(paths: Iterable[Path]) -> str:
    """Another string after any change to these files. Raises StoreError."""
    digest = hashlib.sha256()
    for path in paths:
        if status := _status(path):
            told = f"{path}\0{status.st_ino}\0{status.st_size}\0{status.st_mtime_ns}\n"
            digest.update(told.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: {words_of(error)}") from error


def _identity(state: State) -> Identity:
    """The same as the catalog wants it."""
    return Identity(0, int(state.mark[:15], 16), state.size, 0)


def _modified(address: Address) -> float:
    times = (os.path.getmtime(path) for path in files_of_session(address) if path.is_file())
    return max(times, default=0.0)
