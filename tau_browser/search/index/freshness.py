"""Whether a file still is what was indexed, and which of its bytes are.

Sizes and times say that nothing happened; what did happen is told by the bytes. A file that has
grown is recognised by the digest of all that was there before, so a rewrite is never taken for
growth, however alike its end is.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Protocol

from tau_browser.search.prefilter import LONGEST_ESCAPE, is_plain

_CHUNK = 1 << 20

FileIdentity = tuple[int, int, int, int, int]
"""Device, inode, size in bytes, mtime and ctime in ns. The ctime gives away an edit that put the
mtime back."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was indexed to its end. `digest`: of its first `size` bytes."""

    identity: FileIdentity
    digest: bytes

    @property
    def size(self) -> int:
        """Bytes that were indexed."""
        return self.identity[2]


class Bytes(Protocol):
    """What digests are made of."""

    def read(self, start: int, stop: int) -> bytes: ...


def identity_of(status: os.stat_result) -> FileIdentity:
    """The identity of a file's present state."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


class Digest:
    """A digest that is made on and on, from the start of a source to any later place.

    is_plain: whether all bytes so far spell their texts in one way only (`prefilter.is_plain`).
    """

    def __init__(self, source: Bytes) -> None:
        self.is_plain = True
        self._source = source
        self._hash = hashlib.blake2b(digest_size=16)
        self._at = 0
        self._tail = b""

    def to(self, stop: int) -> bytes:
        """The digest of the bytes before `stop`, which never goes back."""
        while self._at < stop:
            data = self._source.read(self._at, min(stop, self._at + _CHUNK))
            if not data:  # cut short meanwhile: then this digest fits nothing
                break
            self._hash.update(data)
            self._at += len(data)
            self.is_plain = self.is_plain and is_plain(self._tail + data)
            self._tail = data[-LONGEST_ESCAPE:]
        return self._hash.digest()
