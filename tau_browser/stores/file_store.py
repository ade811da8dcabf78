"""Stores of logs in folders, read where they lie: what all of them share."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tau_browser.stores.files import Identity, header_of, identity_of, words_of
from tau_browser.stores.store import Capability, Listed, StoreError, Unreadable

if TYPE_CHECKING:
    from tau_browser.model.format import Format
    from tau_browser.stores.catalog import Catalog
    from tau_browser.stores.session_file import SessionFile

_NOT_LISTED = {
    ".tau-browse.partial": "left by a change that was cut off before it took effect: delete it",
    ".partial": "a session whose first lines are still being written",
    ".jsonl.gz": "compressed with gzip: unpack the file to read it",
}


class FileStore:
    """Sessions in files below some folders, or some files named one by one.

    A folder that does not exist holds nothing; whether that is an error is the caller's to say.
    A kind of store is a subclass: it says what it is called, what of it can be changed, which
    files of a folder are sessions, and how their lines are written.
    """

    name: str
    changes: frozenset[Capability] = frozenset()
    refresh_every = 5.0

    def __init__(
        self, roots: Sequence[str], cache_folder: Path | None = None, *, read_only: bool = False
    ) -> None:
        self.roots = [os.path.abspath(root) for root in roots]
        self.capabilities = frozenset() if read_only else self.changes
        self.title = ", ".join(self.roots)
        self._cache_folder = cache_folder

    @staticmethod
    def is_session(path: str) -> bool:
        """Whether a file of a folder is taken for a session, by its path."""
        return path.endswith(".jsonl")

    @staticmethod
    def identity(path: str) -> Identity:
        """The present state of a session. Raises OSError."""
        return identity_of(os.stat(path))

    @staticmethod
    def format() -> Format:
        """How the lines of a session are written."""
        raise NotImplementedError

    @cached_property
    def _catalog(self) -> Catalog:
        from tau_browser.stores.catalog import Catalog  # the first frame does without

        return Catalog(self._cache_folder, self.roots)

    def scan(self) -> Iterator[Listed | Unreadable]:
        """All sessions, those changed last first; what cannot be listed, as it is met."""
        found: list[tuple[str, Identity]] = []
        for item in self._walk():
            if isinstance(item, Unreadable):
                yield item
                continue
            try:
                found.append((item, self.identity(item)))
            except OSError as error:
                yield Unreadable(item, words_of(error))
        self._catalog.keep_only({path for path, _ in found})
        for path, identity in sorted(found, key=lambda item: (-item[1].mtime_ns, item[0])):
            summary = self._catalog.get(path, identity)
            yield Listed(self.name, path, identity.mtime_ns / 1e9, summary)

    def look_into(self, listed: Listed) -> Listed | Unreadable:
        """The session with its summary, from the catalog or from the file itself."""
        try:
            identity = self.identity(listed.path)
            summary = self._catalog.ensured(
                listed.path, identity, lambda: self.open(listed.path).read()
            )
        except OSError as error:
            return Unreadable(listed.path, words_of(error))
        except StoreError as error:
            return Unreadable(listed.path, str(error).removeprefix(f"{listed.path}: "))
        return Listed(listed.store, listed.path, identity.mtime_ns / 1e9, summary)

    def identify(self, listed: Listed) -> str:
        """The id of a session, from its first lines alone where they tell; "" if it has none."""
        if listed.summary is not None:
            return listed.summary.id
        try:
            session_id = self.id_in(listed.path)
        except (OSError, StoreError):
            return ""
        if isinstance(session_id, str):
            return session_id
        looked = self.look_into(listed)
        return looked.summary.id if isinstance(looked, Listed) and looked.summary else ""

    @staticmethod
    def id_in(path: str) -> object:
        """The id of the session in a file, as its first lines tell it; else None.

        Raises OSError and StoreError.
        """
        return header_of(path).get("id")

    def is_empty(self) -> bool:
        """Whether there is nothing at all here: no session, and nothing that cannot be read."""
        return next(self._walk(), None) is None

    @property
    def catalog_path(self) -> Path | None:
        """Where what was looked into is kept between runs, if anywhere."""
        return self._catalog.path

    def open(self, path: str) -> SessionFile:
        """A session by its path."""
        from tau_browser.stores.session_file import SessionFile  # numpy comes with it: 160 ms

        return SessionFile(path, self.format())

    def _walk(self) -> Iterator[str | Unreadable]:
        return _walk(self.roots, self.is_session)

    def remember(self) -> None:
        """Keep what was looked into, for the next run."""
        self._catalog.save()


def _walk(roots: Sequence[str], is_session: Callable[[str], bool]) -> Iterator[str | Unreadable]:
    """Every session file at or below some paths, and whatever stands in the way.

    Links are followed; a folder that is met again is gone through once.
    """
    met: set[tuple[int, int]] = set()
    folders = list(reversed(roots))
    while folders:
        folder = folders.pop()
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in met:
                continue
            met.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                items = sorted(entries, key=lambda entry: entry.name)
        except NotADirectoryError:
            yield _examine(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Unreadable(folder, words_of(error))
        else:
            for item in items:
                if _is_folder(item):
                    folders.append(item.path)
                elif reason := _not_listed(item.name):
                    yield Unreadable(item.path, reason)
                elif is_session(item.path):
                    yield _examine(item.path)


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir()
    except OSError:  # a link that leads nowhere, or where we may not look
        return False


def _not_listed(name: str) -> str:
    return next((why for end, why in _NOT_LISTED.items() if name.endswith(end)), "")


def _examine(path: str) -> str | Unreadable:
    try:
        status = os.stat(path)
    except OSError as error:
        return Unreadable(path, words_of(error))
    if not stat.S_ISREG(status.st_mode):
        return Unreadable(path, "not a regular file")
    return path
