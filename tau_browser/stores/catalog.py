"""What lists already know about files, kept between runs so that a list need not read them again.

A cache and nothing more: an entry counts only while its file's identity is the same, and a
catalog that cannot be read is made anew. It holds titles, so only its owner may read it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import msgspec

from tau_browser.model.summary import Summary
from tau_browser.stores.session_file import Identity

_VERSION = 1


class _Entry(msgspec.Struct, array_like=True):
    identity: tuple[int, int, int, int]
    summary: Summary


class _Contents(msgspec.Struct):
    version: int
    files: dict[str, _Entry]


class Catalog:
    """Summaries by path. `folder` None keeps it in memory only."""

    def __init__(self, folder: Path | None, roots: list[str]) -> None:
        name = hashlib.sha256("\0".join(roots).encode("utf-8", "surrogateescape")).hexdigest()
        self._path = folder / f"sessions-{name[:16]}.msgpack" if folder else None
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

    def keep_only(self, paths: set[str]) -> None:
        """Forget files that are no longer there."""
        for path in self._files.keys() - paths:
            del self._files[path]
            self._changed = True

    def save(self) -> None:
        """Write it down, if it changed. A cache that cannot be written is no reason to stop."""
        if self._path is None or not self._changed:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=self._path.parent)  # made 0600
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.msgpack.encode(_Contents(_VERSION, self._files)))
            os.replace(temporary, self._path)
            self._changed = False

    def _load(self) -> dict[str, _Entry]:
        if self._path is None:
            return {}
        try:
            contents = msgspec.msgpack.decode(self._path.read_bytes(), type=_Contents)
        except (OSError, msgspec.DecodeError, UnicodeError):
            return {}
        return contents.files if contents.version == _VERSION else {}


def _key(identity: Identity) -> tuple[int, int, int, int]:
    return identity.device, identity.inode, identity.size, identity.mtime_ns
