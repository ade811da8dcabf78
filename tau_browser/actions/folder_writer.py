"""How a folder of new files is made and taken back: whole or not at all.

It is written under another name beside its place, onto the disk, and only then renamed. It never
takes the place of anything; what is taken back is in the trash first, and can be brought again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tau_browser.actions.disk import sync
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Refusal, Refused, Verb
from tau_browser.actions.progress import Tell, silent
from tau_browser.stores.files import words_of
from tau_browser.stores.store import StoreError

_TEMPORARY = ".tau-browse-"


@dataclass(frozen=True, slots=True)
class Folder:
    """What will be in it: the bytes of its files by their paths."""

    files: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """How many bytes all of them are."""
        return sum(map(len, self.files.values()))

    def pieces(self) -> Iterator[bytes]:
        """The bytes of one file after the other."""
        yield from self.files.values()

    @property
    def digest(self) -> str:
        """The same for the same files."""
        return _digest({name: _sha256(data) for name, data in self.files.items()})


class FolderWriter:
    """The hand that makes workspaces of aethergraph's."""

    store = "aethergraph"

    def apply(self, plan: Plan, journal: Journal, tell: Tell = silent) -> Change:
        """Make the folder. Raises Refused where something is there by now, StoreError."""
        plan.require_sound()
        assert isinstance(plan.content, Folder)
        memo = {"before": None, "after": plan.content.digest}
        change = Change(self.store, plan.verb.value, plan.target, plan.about, memo)
        with journal.lock(), _beside(plan.target) as folder:
            for name, data in plan.content.files.items():
                _write(folder, name, data)
            _put(folder, change, journal)
        return change

    def obstacle(self, change: Change, journal: Journal) -> str:
        """Why a change cannot be taken back now; "" if it can."""
        before, after = change.memo.get("before"), change.memo.get("after")
        if after is None:
            if os.path.lexists(change.path):
                return "there is something at its place again"
            kept = (journal.trash / str(before)).is_dir()
            return "" if kept else "what it took back is no longer in the trash"
        if not os.path.isdir(change.path):
            return "what it made is gone"
        try:
            return "" if _digest_of(change.path) == after else "what it made was changed since"
        except OSError as error:
            return f"{error.filename or change.path}: {words_of(error)}"

    def undo(self, change: Change, journal: Journal, tell: Tell = silent) -> Change:
        """Take a change back. Raises Refused where that is no longer possible, StoreError."""
        before, after = change.memo.get("before"), change.memo.get("after")
        about, memo = f"undo: {change.about}", {"before": after, "after": before}
        undo = Change(self.store, Verb.UNDO.value, change.path, about, memo, undoes=change.id)
        with journal.lock():
            if why := self.obstacle(change, journal):
                raise Refused(f"{change.id} cannot be taken back: {why}")
            if after is None:
                with _beside(change.path) as folder:
                    shutil.copytree(journal.trash / str(before), folder, dirs_exist_ok=True)
                    _put(folder, undo, journal)
            else:
                _remove(undo, journal)
        return undo


def obstacles(target: str) -> tuple[Refusal, ...]:
    """Why no folder can be made at a path."""
    if os.path.lexists(target):
        return (Refusal(f"{target} is there already: give another name"),)
    if not os.path.isdir(os.path.dirname(target)):
        return (Refusal(f"{os.path.dirname(target)}: no such folder"),)
    return ()


@contextlib.contextmanager
def _beside(target: str) -> Iterator[Path]:
    """An empty folder beside a path, for its owner alone; gone afterwards, unless renamed."""
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=os.path.dirname(target)))
        yield folder
    except OSError as error:
        raise StoreError(f"{error.filename or target}: {words_of(error)}") from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _write(folder: Path, name: str, data: bytes) -> None:
    path = folder / name
    for parent in reversed(path.relative_to(folder).parents):
        (folder / parent).mkdir(exist_ok=True, mode=0o700)
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _put(folder: Path, change: Change, journal: Journal) -> None:
    """Give a folder its name, once the journal tells of it."""
    journal.write(change)
    if os.path.lexists(change.path):  # an empty folder would give way to it
        raise Refused(f"{change.path} is there already: give another name")
    folder.rename(change.path)
    sync(os.path.dirname(change.path))


def _remove(undo: Change, journal: Journal) -> None:
    """Take a folder away: whole at once, and only when it is in the trash."""
    kept = journal.trash / str(undo.memo["before"])
    if not kept.is_dir():
        with _beside(str(kept)) as folder:
            shutil.copytree(undo.path, folder, dirs_exist_ok=True)
            folder.rename(kept)
            sync(str(journal.trash))
    with _beside(undo.path) as folder:
        journal.write(undo)
        os.rename(undo.path, folder)
        sync(os.path.dirname(undo.path))


def _digest_of(folder: str) -> str:
    """The digest of what is in a folder now. Raises OSError."""
    found = {}
    for where, folders, names in os.walk(folder):
        linked = [name for name in folders if os.path.islink(os.path.join(where, name))]
        for name in [*names, *linked]:
            path = os.path.join(where, name)
            said = os.readlink(path).encode() if os.path.islink(path) else Path(path).read_bytes()
            found[os.path.relpath(path, folder)] = _sha256(said)
    return _digest(found)


def _digest(hashes: Mapping[str, str]) -> str:
    lines = [f"{digest} {name}\n" for name, digest in sorted(hashes.items())]
    return _sha256("".join(lines).encode("utf-8", "surrogatepass"))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
