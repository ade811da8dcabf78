"""What runs made and kept: the index of artifacts, and the files, found by what they hold.

A file is named by the SHA-256 of its bytes. The addresses in the index are absolute, and wrong as
soon as the workspace is moved or copied; the name is not.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tau_browser.model.diagnostic import Severity
from tau_browser.stores.aethergraph.database import opened
from tau_browser.stores.aethergraph.lines import read_lines
from tau_browser.stores.aethergraph.records import Damage, Json, Read, Spot, Stored, text_in
from tau_browser.stores.store import StoreError

FOLDER = "artifacts"
LINES, TABLE = "index/artifacts.jsonl", "artifacts/index.sqlite"
_HASH = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Check:
    """Whether an artifact is what its index says. file: as seen from the workspace, "" if none ·
    verdict: in a word or two · is_sound: whether nothing is wrong."""

    file: str
    verdict: str
    is_sound: bool


class Artifacts:
    """The artifacts of one workspace."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._checked: dict[str, Check] = {}

    def index(self) -> Read:
        """The rows of the index, of either version."""
        read = read_lines(self._root, LINES)
        read.add(self._table())
        return read

    @cached_property
    def files(self) -> dict[str, str]:
        """The files by the hash that is their name, as seen from the workspace."""
        found = {}
        for folder, _, names in os.walk(self._root / FOLDER):
            for name in names:
                if _HASH.fullmatch(hash_ := name.partition(".")[0]):
                    found[hash_] = os.path.relpath(os.path.join(folder, name), self._root)
        return found

    def check(self, hash_: str) -> Check:
        """Look whether the file of a hash is there, and holds what it should."""
        if hash_ not in self._checked:
            self._checked[hash_] = self._check(hash_)
        return self._checked[hash_]

    def check_uri(self, uri: str) -> Check | None:
        """The same for an address that ends in a file of the store; None for any other."""
        found = _HASH.fullmatch(os.path.basename(uri).partition(".")[0])
        return self.check(found[0]) if found else None

    def text(self, hash_: str, most: int) -> str:
        """The beginning of an artifact that is text; "" where it is none."""
        try:
            with (self._root / self.files[hash_]).open("rb") as file:
                return file.read(4 * most).decode("utf-8")[:most]
        except (KeyError, OSError, UnicodeDecodeError):
            return ""

    def _check(self, hash_: str) -> Check:
        file = self.files.get(hash_, "")
        if not file:
            return Check("", "the file is gone", False)
        digest = hashlib.sha256()
        try:
            with (self._root / file).open("rb") as opened_file:
                while piece := opened_file.read(_PIECE):
                    digest.update(piece)
        except OSError as error:
            return Check(file, f"cannot be read: {error.strerror}", False)
        if digest.hexdigest() != hash_:
            return Check(file, "not the bytes that were stored", False)
        return Check(file, "verified by its SHA-256", True)

    def _table(self) -> Read:
        read = Read()
        path = self._root / TABLE
        if not path.is_file():
            return read
        try:
            with opened(path) as connection:
                cursor = connection.execute("SELECT rowid AS row_, * FROM artifacts ORDER BY rowid")
                names = [column[0] for column in cursor.description]
                for row in cursor:
                    value = {
                        name: cell
                        for name, cell in zip(names, row, strict=True)
                        if cell is not None
                    }
                    number = int(value.pop("row_"))
                    read.values.append(Stored(value, Spot(TABLE, table="artifacts", row=number)))
        except StoreError as error:
            reason = str(error).removeprefix(f"{path}: ")
            read.damage.append(Damage(Spot(TABLE), reason, Severity.UNREADABLE))
        return read


def hash_of(artifact: Json) -> str:
    """The hash of a row of the index."""
    return text_in(artifact, "sha256") or text_in(artifact, "artifact_id")
