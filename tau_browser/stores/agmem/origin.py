"""A repository where it is stored: its present state, and its translation."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from tau_browser.stores.agmem.beside import Beside
from tau_browser.stores.agmem.history import History, history_of
from tau_browser.stores.agmem.objects import Objects
from tau_browser.stores.agmem.refs import refs_of
from tau_browser.stores.files import words_of
from tau_browser.stores.store import StoreError
from tau_browser.stores.translated import State, Translation

_COMMIT_WEIGHT = 1 << 24


class Repository:
    """The repository at a folder that holds `.mem` and `current`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def state(self) -> State:
        """Told from the sizes and times of its files; of its objects, from those of their folders.

        The size grows with what is captured, and more with what is committed.
        """
        if not is_repository(self.path):
            raise StoreError(
                f"{self.path}: no agmem repository: .mem/config.json or .mem/HEAD is not there"
            )
        digest = hashlib.sha256()
        for path, status in _watched(self.path):
            told = f"{path}\0{status.st_ino}\0{status.st_size}\0{status.st_mtime_ns}\n"
            digest.update(told.encode("utf-8", "surrogateescape"))
        committed = _size(f"{self.path}/.mem/logs/HEAD")
        captured = min(_size(f"{self.path}/.mem/daemon_buffer.jsonl"), _COMMIT_WEIGHT - 1)
        return State(digest.hexdigest(), committed * _COMMIT_WEIGHT + captured)

    def translate(self) -> Iterator[Translation]:
        """All of it in τ's lines. Raises StoreError."""
        from tau_browser.stores.agmem.lines import translations

        return translations(self.path, Beside(self.path), self.history())

    def history(self) -> History:
        """Its commits. Raises StoreError."""
        mem = f"{self.path}/.mem"
        return history_of(Objects(f"{mem}/objects"), refs_of(mem))


def is_repository(path: str) -> bool:
    """Whether a folder is a repository, be it one without any object."""
    try:
        return os.path.isfile(f"{path}/.mem/config.json") and os.path.isfile(f"{path}/.mem/HEAD")
    except ValueError:  # a NUL in the path
        return False


def repositories(root: str, *, most: int | None = None) -> Iterator[str]:
    """The repositories at or below a folder, those higher up first. Hidden folders and links are
    not gone into. most: how many folders are looked at."""
    due, looked = [root], 0
    while due and (most is None or looked < most):
        folder = due.pop(0)
        looked += 1
        if is_repository(folder):
            yield folder
            continue
        try:
            with os.scandir(folder) as entries:
                items = sorted(entries, key=lambda item: item.name)
            due += [
                item.path
                for item in items
                if not item.name.startswith(".") and item.is_dir(follow_symlinks=False)
            ]
        except (OSError, ValueError) as error:
            if folder == root and not isinstance(error, FileNotFoundError | NotADirectoryError):
                raise StoreError(f"{root}: {_words(error)}") from error


def _watched(root: str) -> Iterator[tuple[str, os.stat_result]]:
    folders = [f"{root}/.mem", f"{root}/current"]
    while folders:
        folder = folders.pop()
        is_objects = folder.startswith(f"{root}/.mem/objects/")
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder:
                        folders.append(entry.path)
                    if is_folder or not is_objects:
                        yield entry.path, entry.stat(follow_symlinks=False)
        except OSError:
            continue


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _words(error: Exception) -> str:
    return words_of(error) if isinstance(error, OSError) else str(error)
