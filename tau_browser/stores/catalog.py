"""What lists already know about files, kept between runs so that a list need not read them again.

A cache and nothing more: an entry counts only while its file's identity is the same, and a
catalog that cannot be read is made anew. It holds titles, so only its owner may read it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tau_browser.model.summary import Summary, summary_of
from tau_browser.stores.files import Identity

if TYPE_CHECKING:
    from tau_browser.model.session import Session

_VERSION = 3


class _Entry(msgspec.Struct, array_like=True):
    identity: tuple[int, int, int, int]
    summary: Summary


class _Contents(msgspec.Struct):
    version: int
    files: dict[str, _Entry]


class Catalog:
    """Summaries by path. `folder` None keeps it in memory only, and `path` is None too."""

    def __init__(self, folder: Path | None, roots: list[str]) -> None:
        name = hashlib.sha256("\0".join(roots).encode("utf-8", "surrogateescape")).hexdigest()
        self.path = folder / f"sessions-{name[:16]}.json" if folder else None
        self._files = self._load()
        self._changed = False

    def get(self, path: str, identity: Identity) -> Summary | None:
        """What is known of a file in this very state."""
        entry = self._files.get(path)
        return entry.summary if entry and entry.identity == _key(identity) else None

    def put(self, path: str, identity: Identity, summary: Summary) -> None:
        """Remember what was found."""
        self._files[path] = _Entry(_key(identity), summary)
        self._changed = True

    def ensured(self, path: str, identity: Identity, read: Callable[[], Session]) -> Summary:
        """What is known of a file in this very state; what reading it tells, where that is
        nothing. Raises what `read` raises."""
        summary = self.get(path, identity)
        if summary is None:
            summary = summary_of(read())
            self.put(path, identity, summary)
        return summary

    def keep_only(self, paths: set[str]) -> None:
        """Forget files that are no longer there."""
        for path in self._files.keys() - paths:
            del self._files[path]
            self._changed = True

    def save(self) -> None:
        """Write it down, if it changed. A cache that cannot be written is no reason to stop."""
        if self.path is None or not self._changed:
            return
        # json, as msgspec refuses the lone surrogates that titles and paths may hold
        contents = json.dumps(msgspec.to_builtins(_Contents(_VERSION, self._files)))
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _replace(self.path, contents)
            self._changed = False

    def _load(self) -> dict[str, _Entry]:
        if self.path is None:
            return {}
        try:
            contents = msgspec.convert(json.loads(self.path.read_bytes()), _Contents)
        except (OSError, ValueError, RecursionError):
            return {}
        return contents.files if contents.version == _VERSION else {}


def _replace(path: Path, contents: str) -> None:
    """Put a file in the place of another at once. Raises OSError and leaves the other."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)  # made 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(contents)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def _key(identity: Identity) -> tuple[int, int, int, int]:
    return identity.device, identity.inode, identity.size, identity.mtime_ns
