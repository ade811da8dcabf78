"""The objects of a repository: blobs, trees, commits and tags by their ids, loose or packed.

An id is the sha256 of a header ("blob 12", a NUL) and the content. agmem never works it out again
when it reads; here every object that is read is held against its id.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from tau_browser.stores.agmem.packs import KINDS, LARGEST, Damaged, Pack, unpacked
from tau_browser.stores.files import words_of
from tau_browser.stores.store import StoreError

_ID = re.compile("[0-9a-f]{64}")
_PIECE = 256 * 1024


class Object(NamedTuple):
    """An object. `harm`: what is wrong with it though it can be read, or ""."""

    kind: str
    content: bytes
    harm: str


class Objects:
    """The objects below a folder `.mem/objects`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.problems: list[tuple[str, str]] = []  # path and reason, of packs

    def read(self, object_id: str, kind: str) -> Object:
        """An object by its id. Raises KeyError if there is none, Damaged if it is unreadable."""
        try:
            whole = unpacked(bytes_at(f"{self.folder}/{kind}/{object_id[:2]}/{object_id[2:]}"))
        except (FileNotFoundError, NotADirectoryError):
            pack = self._packed.get(object_id)
            if pack is None:
                raise KeyError(object_id) from None
            whole = pack.read(object_id)
        except OSError as error:
            raise Damaged(words_of(error)) from error
        head, nul, content = whole.partition(b"\0")
        harm = ""
        if hashlib.sha256(whole).hexdigest() != object_id:
            harm = "its bytes do not give its id: they were altered"
        elif not nul or head != b"%s %d" % (kind.encode(), len(content)):
            harm = f"its header does not say that it is a {kind} of {len(content):,} bytes"
        return Object(kind, content, harm)

    def ids(self, kind: str) -> Iterator[str]:
        """The ids of all objects of a kind, those loose first, each once."""
        seen: set[str] = set()
        for prefix in _names(f"{self.folder}/{kind}"):
            for rest in _names(f"{self.folder}/{kind}/{prefix}"):
                if is_id(object_id := prefix + rest):
                    seen.add(object_id)
                    yield object_id
        for object_id, pack in self._packed.items():
            if object_id not in seen and pack.items[object_id].kind == kind:
                yield object_id

    def kind_of(self, object_id: str) -> str:
        """The kind of an object; "" if there is none."""
        if not is_id(object_id):
            return ""
        for kind in KINDS:
            if os.path.exists(f"{self.folder}/{kind}/{object_id[:2]}/{object_id[2:]}"):
                return kind
        pack = self._packed.get(object_id)
        return pack.items[object_id].kind if pack else ""

    @cached_property
    def packs(self) -> list[Pack]:
        """The packs that can be read; the others are among `problems`."""
        found = []
        folder = f"{self.folder}/pack"
        for name in _names(folder):
            if not name.endswith(".pack"):
                continue
            try:
                found.append(Pack(f"{folder}/{name}"))
            except StoreError as error:
                self.problems.append((f"{folder}/{name}", str(error).partition(": ")[2]))
        self.problems += [(pack.path, note) for pack in found for note in pack.notes]
        return found

    @cached_property
    def _packed(self) -> dict[str, Pack]:
        return {object_id: pack for pack in self.packs for object_id in pack.items}


def bytes_at(path: str) -> bytes:
    """The bytes of a file. Raises OSError, Damaged. A pipe is empty, and never waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        data = piece = os.read(handle, _PIECE)
        if len(piece) == _PIECE:
            pieces, size = [piece], _PIECE
            while piece := os.read(handle, _PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST:
                    raise Damaged("larger than 256 MB")
            data = b"".join(pieces)
        return data
    finally:
        os.close(handle)


def is_id(text: object) -> bool:
    """Whether this is the id of an object, in full."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
