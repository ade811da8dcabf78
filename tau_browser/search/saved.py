"""Searches that a person gave a name, kept in a file of their own that only they can read."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tau_browser.search import fusion
from tau_browser.search.fusion import DEFAULT_WEIGHTS
from tau_browser.search.index.folder import replace_file
from tau_browser.search.results import Asking, Method

_FILE, _LOCK = "searches.json", "searches.lock"
_LONGEST_NAME = 100


class SavedError(Exception):
    """Searches cannot be kept or read. The message says which, where, and what to do."""


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A search as it is kept: what was typed, and how it was asked."""

    query: str
    method: Method = Method.HYBRID
    weights: dict[str, float] = msgspec.field(default_factory=DEFAULT_WEIGHTS.copy)
    fused_by: fusion.Method = fusion.Method.CONVEX


def saved_of(asking: Asking) -> Saved:
    """What is kept of a search."""
    return Saved(asking.query.text, asking.method, dict(asking.weights), asking.fused_by)


class SavedSearches:
    """The searches kept in a folder, by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / _FILE

    def all(self) -> dict[str, Saved]:
        """All of them, in the order in which they were saved. Raises SavedError."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Saved])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, RecursionError) as error:
            raise SavedError(f"{self._path}: {error}; mend the file or move it away") from error

    def get(self, name: str) -> Saved:
        """One of them. Raises SavedError if there is none of this name."""
        kept = self.all()
        if name not in kept:
            names = ", ".join(map(repr, kept)) or "none"
            raise SavedError(f"no search is saved as {name!r}; there are: {names}")
        return kept[name]

    def save(self, name: str, search: Saved) -> bool:
        """Keep a search; returns whether it took the place of another of this name. Raises
        SavedError."""
        name = name.strip()
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise SavedError(f"a name has 1 to {_LONGEST_NAME} letters that can be printed")
        with self._alone():
            kept = self.all()
            replaced = kept.pop(name, None) is not None
            self._write({**kept, name: search})
        return replaced

    def delete(self, name: str) -> None:
        """Keep a search no longer. Raises SavedError if there is none of this name."""
        with self._alone():
            self.get(name)
            self._write({other: it for other, it in self.all().items() if other != name})

    def _write(self, kept: dict[str, Saved]) -> None:
        text = msgspec.json.format(msgspec.json.encode(kept), indent=1).decode()
        replace_file(self._path, text)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process writes them. What the system refuses is a SavedError."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                yield
            finally:
                os.close(handle)
        except OSError as error:
            raise SavedError(f"{self._path}: {error.strerror or error}") from error
