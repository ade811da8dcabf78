"""τ's file store: logs in folders (tau-format 1.1), read where they lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tau_browser.stores.files import header_of, identity_of, words_of
from tau_browser.stores.peek import holds_log
from tau_browser.stores.store import Capability, Listed, Place, StoreError, Unreadable

if TYPE_CHECKING:
    from tau_browser.stores.catalog import Catalog
    from tau_browser.stores.session_file import SessionFile

_CAPABILITIES = frozenset(Capability) - {Capability.ENRICH}
_NOT_LISTED = {
    ".tau-browse.partial": "left by a change that was cut off before it took effect: delete it",
    ".partial": "a session whose first lines are still being written",
    ".jsonl.gz": "compressed with gzip: unpack the file to read it",
}


class TauFileStore:
    """Sessions in files below some folders, or some files named one by one.

    A folder that does not exist holds nothing; whether that is an error is the caller's to say.
    """

    name = "tau"
    refresh_every = 5.0

    def __init__(
        self, roots: Sequence[str], cache_folder: Path | None = None, *, read_only: bool = False
    ) -> None:
        self.roots = [os.path.abspath(root) for root in roots]
        self.capabilities = frozenset() if read_only else _CAPABILITIES
        self.title = ", ".join(self.roots)
        self._cache_folder = cache_folder

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether this begins with a header that only τ writes."""
        return holds_log(path, _is_tau)

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """None: where τ's sessions are is a setting (`config.session_roots`)."""
        return []

    @cached_property
    def _catalog(self) -> Catalog:
        from tau_browser.stores.catalog import Catalog  # the first frame does without

        return Catalog(self._cache_folder, self.roots)

    def scan(self) -> Iterator[Listed | Unreadable]:
        """All sessions, those changed last first; what cannot be listed, as it is met."""
        found: list[tuple[str, os.stat_result]] = []
        for item in _walk(self.roots):
            if isinstance(item, Unreadable):
                yield item
            else:
                found.append(item)
        self._catalog.keep_only({path for path, _ in found})
        for path, status in sorted(found, key=lambda item: (-item[1].st_mtime_ns, item[0])):
            summary = self._catalog.get(path, identity_of(status))
            yield Listed(self.name, path, status.st_mtime, summary)

    def look_into(self, listed: Listed) -> Listed | Unreadable:
        """The session with its summary, from the catalog or from the file itself."""
        from tau_browser.model.summary import summary_of
        from tau_browser.stores.session_file import load_session

        try:
            status = os.stat(listed.path)
            identity = identity_of(status)
            summary = self._catalog.get(listed.path, identity)
            if summary is None:
                summary = summary_of(load_session(listed.path))
                self._catalog.put(listed.path, identity, summary)
        except OSError as error:
            return Unreadable(listed.path, words_of(error))
        except StoreError as error:
            return Unreadable(listed.path, str(error).removeprefix(f"{listed.path}: "))
        return Listed(listed.store, listed.path, status.st_mtime, summary)

    def identify(self, listed: Listed) -> str:
        """The id of a session, from its first line alone where that tells; "" if it has none."""
        if listed.summary is not None:
            return listed.summary.id
        try:
            session_id = header_of(listed.path).get("id")
        except (OSError, StoreError):
            return ""
        if isinstance(session_id, str):
            return session_id
        looked = self.look_into(listed)
        return looked.summary.id if isinstance(looked, Listed) and looked.summary else ""

    def is_empty(self) -> bool:
        """Whether there is nothing at all here: no session, and nothing that cannot be read."""
        return next(_walk(self.roots), None) is None

    @property
    def catalog_path(self) -> Path | None:
        """Where what was looked into is kept between runs, if anywhere."""
        return self._catalog.path

    def open(self, path: str) -> SessionFile:
        """A session by its path."""
        from tau_browser.stores.session_file import SessionFile  # numpy comes with it: 160 ms

        return SessionFile(path)

    def remember(self) -> None:
        """Keep what was looked into, for the next run."""
        self._catalog.save()


def _is_tau(records: list[dict[str, Any]]) -> bool:
    headers = [record for record in records if record.get("type") == "session"]
    return bool(headers) and not {"parent", "parent_id"}.isdisjoint(headers[0])


def _walk(roots: Sequence[str]) -> Iterator[tuple[str, os.stat_result] | Unreadable]:
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
                elif item.name.endswith(".jsonl"):
                    yield _examine(item.path)


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir()
    except OSError:  # a link that leads nowhere, or where we may not look
        return False


def _not_listed(name: str) -> str:
    return next((why for end, why in _NOT_LISTED.items() if name.endswith(end)), "")


def _examine(path: str) -> tuple[str, os.stat_result] | Unreadable:
    try:
        status = os.stat(path)
    except OSError as error:
        return Unreadable(path, words_of(error))
    if not stat.S_ISREG(status.st_mode):
        return Unreadable(path, "not a regular file")
    return path, status
