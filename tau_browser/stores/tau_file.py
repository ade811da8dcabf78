"""τ's file store: logs in folders (tau-format 1.1), read where they lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from tau_browser.model.summary import summary_of
from tau_browser.stores.catalog import Catalog
from tau_browser.stores.session_file import SessionFile, identity_of, load_session
from tau_browser.stores.store import Listed, StoreError, Unreadable

_NOT_LISTED = {
    ".partial": "a session whose first lines are still being written",
    ".jsonl.gz": "compressed with gzip: unpack the file to read it",
}


class TauFileStore:
    """Sessions in files below some folders, or some files named one by one.

    A folder that does not exist holds nothing; whether that is an error is the caller's to say.
    """

    name = "tau"

    def __init__(self, roots: Sequence[str], cache_folder: Path | None = None) -> None:
        self.roots = [os.path.abspath(root) for root in roots]
        self.title = ", ".join(self.roots)
        self._catalog = Catalog(cache_folder, self.roots)

    def scan(self) -> Iterator[Listed | Unreadable]:
        """All sessions, those changed last first; what cannot be listed, as it is met."""
        found: list[tuple[str, os.stat_result]] = []
        for root in self._distinct_roots():
            for item in _walk(root):
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
        try:
            status = os.stat(listed.path)
            identity = identity_of(status)
            summary = self._catalog.get(listed.path, identity)
            if summary is None:
                summary = summary_of(load_session(listed.path))
                self._catalog.put(listed.path, identity, summary)
        except OSError as error:
            return Unreadable(listed.path, (error.strerror or str(error)).lower())
        except StoreError as error:
            return Unreadable(listed.path, str(error).removeprefix(f"{listed.path}: "))
        return Listed(listed.store, listed.path, status.st_mtime, summary)

    def open(self, path: str) -> SessionFile:
        """A session by its path."""
        return SessionFile(path)

    def remember(self) -> None:
        """Keep what was looked into, for the next run."""
        self._catalog.save()

    def _distinct_roots(self) -> list[str]:
        return list({os.path.realpath(root): root for root in self.roots}.values())


def _walk(root: str) -> Iterator[tuple[str, os.stat_result] | Unreadable]:
    """Every session file at or below a path, and whatever stands in the way."""
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                items = sorted(entries, key=lambda entry: entry.name)
        except NotADirectoryError:
            yield _examine(folder)
            continue
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Unreadable(folder, (error.strerror or str(error)).lower())
            continue
        for item in items:
            reason = next((why for end, why in _NOT_LISTED.items() if item.name.endswith(end)), "")
            if item.is_dir(follow_symlinks=False):
                folders.append(item.path)
            elif reason:
                yield Unreadable(item.path, reason)
            elif item.name.endswith(".jsonl"):
                yield _examine(item.path)


def _examine(path: str) -> tuple[str, os.stat_result] | Unreadable:
    try:
        status = os.stat(path)
    except OSError as error:
        return Unreadable(path, (error.strerror or str(error)).lower())
    if not stat.S_ISREG(status.st_mode):
        return Unreadable(path, "not a regular file")
    return path, status
