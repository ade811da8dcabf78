"""How changes to files are made: so that a crash at any point leaves the old or the new, whole.

New bytes go to a file of another name in the same folder, onto the disk, and only then under the
name where they belong. What is replaced or removed is in the trash before, and the line of the
journal is written before: whether the change took effect is told by what stands at the path.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from tau_browser.actions.disk import sync, told
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Read, Refused, Verb, Way
from tau_browser.actions.progress import Tell, silent
from tau_browser.actions.reading import (
    Reading,
    bytes_of,
    is_as_read,
    is_at,
    read_file,
    state_of,
)
from tau_browser.actions.writer import open_elsewhere
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.stores.adapters import TAU
from tau_browser.stores.files import FileSource, words_of
from tau_browser.stores.store import StoreError

_PARTIAL = ".tau-browse.partial"
_CHANGED = "it changed since it was read: nothing was written; read it again"


class FileWriter:
    """The hand of τ's file store. `folder`: where new sessions go (tau-format 1.1)."""

    store = TAU
    keeps_pieces = True

    def __init__(self, folder: str, *, dashed: bool = True) -> None:
        """dashed: whether the folder holds one folder per working directory, as τ's does."""
        self._folder = folder
        self._dashed = dashed

    @classmethod
    def beside(cls, path: str) -> Self:
        """The writer for what is made of the session at a path: in the same store."""
        folder = os.path.dirname(os.path.abspath(path))
        name = os.path.basename(folder)
        dashed = len(name) >= 4 and name.startswith("--") and name.endswith("--")
        return cls(os.path.dirname(folder) if dashed else folder, dashed=dashed)

    def read(self, path: str, journal: Journal) -> Reading:
        """A session as plans are made from it. Raises StoreError."""
        return read_file(path, journal)

    def place_for(self, header: Record) -> str:
        """The path of a new session, named as τ names it."""
        name = f"{header['timestamp'].replace(':', '-').replace('.', '-')}_{header['id']}.jsonl"
        below = [dashed_name(header["cwd"])] if self._dashed else []
        return os.path.join(self._folder, *below, name)

    def remarks(self, way: Way, result: Session) -> list[str]:
        """What to know before a session like this is written in this way."""
        if way is Way.NEW:
            return []
        return [open_elsewhere(result)]

    def apply(self, plan: Plan, journal: Journal, tell: Tell = silent) -> Change:
        """Carry out a plan, which takes too little time to tell of or to stop it. Raises Refused
        where it does not hold any more, StoreError."""
        plan.require_sound()
        change = Change(self.store, plan.verb.value, plan.target, plan.about, {})
        with told(plan.target), journal.lock():
            if plan.read is not None and not is_as_read(plan.read):
                raise Refused(f"{plan.read.path}: {_CHANGED}")
            pieces = plan.content.pieces()
            if plan.way is Way.NEW:
                return _create(plan.target, pieces, change, journal)
            assert plan.read is not None
            whole = plan.way is Way.REPLACE  # what was appended to needs no copy to be restored
            return _replace(plan.target, pieces, plan.read, change, journal, keep=whole)

    def obstacle(self, change: Change, journal: Journal) -> str:
        """Why a change cannot be taken back now; "" if it can."""
        before, after = _states(change)
        try:
            now = _seen(change.path, before, after)
        except StoreError as error:
            return str(error)
        if not _same(now, after):
            if _same(now, before):
                return "it is not in effect: taken back already, or cut off before it was made"
            return "what it made is gone" if now is None else "what it made was changed since"
        if before and "kept" not in change.memo and not (journal.trash / before.digest).exists():
            return "what it replaced is no longer in the trash"
        return ""

    def undo(self, change: Change, journal: Journal, tell: Tell = silent) -> Change:
        """Take a change back: the bytes, the time and the mode of the file are as they were.

        Raises Refused where what stands there is not what the change left, StoreError.
        """
        before, after = _states(change)
        path = change.path
        undo = Change(
            self.store, Verb.UNDO.value, path, f"undo: {change.about}", {}, undoes=change.id
        )
        with told(path), journal.lock():
            if why := self.obstacle(change, journal):
                raise Refused(f"{change.id} cannot be taken back: {why}")
            if before is None:
                assert after is not None
                return _remove(path, after, undo, journal)
            source = FileSource(
                path if "kept" in change.memo else str(journal.trash / before.digest)
            )
            pieces = bytes_of(source, before.size)
            if after is None:
                return _create(path, pieces, undo, journal, before.mtime_ns)
            now = state_of(path)
            assert now is not None
            return _replace(path, pieces, now, undo, journal, mtime_ns=before.mtime_ns)


def dashed_name(cwd: str) -> str:
    """The name of the folder in which τ keeps the sessions of a working directory."""
    path = os.path.abspath(cwd).lstrip("/")
    return "--" + path.translate(dict.fromkeys(map(ord, "/\\:"), "-")) + "--"


def put(path: Path, data: bytes, change: Change, journal: Journal) -> Change:
    """Make or replace a small file of our own, journalled like any other change.

    Raises Refused, StoreError. The lock is the caller's.
    """
    with told(str(path)):
        now = state_of(str(path))
        if now is None:
            return _create(str(path), [data], change, journal)
        return _replace(str(path), [data], now, change, journal)


def _create(
    path: str,
    pieces: Iterable[bytes],
    change: Change,
    journal: Journal,
    mtime_ns: int | None = None,
) -> Change:
    if os.path.lexists(path):
        raise Refused(f"{path}: there is a file of this name already: nothing was written")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700)
        sync(os.path.dirname(folder))
    with _partial(folder, pieces, 0o600, mtime_ns) as (temporary, after):
        change = replace(change, memo={"before": None, "after": _stored(after)})
        journal.write(change)
        try:
            os.link(temporary, path)  # unlike a rename, this never takes another file's place
        except FileExistsError as error:
            raise Refused(f"{path}: there is a file of this name already") from error
        except OSError:  # a file system without links
            os.rename(temporary, path)
        sync(folder)
    return change


def _replace(
    path: str,
    pieces: Iterable[bytes],
    read: Read,
    change: Change,
    journal: Journal,
    *,
    keep: bool = True,
    mtime_ns: int | None = None,
) -> Change:
    """keep: whether the trash must hold what is replaced. mtime_ns: the time to give it."""
    path = os.path.realpath(path)
    old = FileSource(path)
    mode = old.status().st_mode & 0o777
    if keep:
        _keep(old, read, journal)
    with _partial(os.path.dirname(path), pieces, mode, mtime_ns) as (temporary, after):
        kept = {} if keep else {"kept": "at the start of the file"}
        memo = {"before": _stored(read), "after": _stored(after)} | kept
        change = replace(change, memo=memo)
        journal.write(change)
        if not is_at(path, read):
            raise Refused(f"{path}: {_CHANGED}")
        os.replace(temporary, path)
        sync(os.path.dirname(path))
    if old.status().st_size != read.size:  # somebody had it open, and wrote at that very moment
        with _partial(os.path.dirname(path), bytes_of(old), mode) as (temporary, _):
            os.replace(temporary, path)
            sync(os.path.dirname(path))
        raise Refused(f"{path}: another process wrote to it at that very moment: left as it was")
    return change


def _remove(path: str, read: Read, change: Change, journal: Journal) -> Change:
    old = FileSource(path)
    _keep(old, read, journal)
    change = replace(change, memo={"before": _stored(read), "after": None})
    journal.write(change)
    if not is_at(path, read):
        raise Refused(f"{path}: {_CHANGED}")
    os.unlink(path)
    sync(os.path.dirname(path))
    return change


def _keep(source: FileSource, read: Read, journal: Journal) -> None:
    """Put a file's bytes into the trash, under their digest, and wait until they are there."""
    kept = journal.trash / read.digest
    if state_of(str(kept)) is not None:
        return
    with _partial(str(journal.trash), bytes_of(source), 0o600) as (temporary, state):
        if state.digest != read.digest:
            raise Refused(f"{read.path}: {_CHANGED}")
        os.replace(temporary, kept)
        sync(str(journal.trash))


@contextlib.contextmanager
def _partial(
    folder: str, pieces: Iterable[bytes], mode: int, mtime_ns: int | None = None
) -> Iterator[tuple[str, Read]]:
    """A file of another name with these bytes, on the disk; gone afterwards, unless renamed."""
    handle, path = tempfile.mkstemp(prefix=".", suffix=_PARTIAL, dir=folder)
    try:
        digest, size = hashlib.sha256(), 0
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
            file.flush()
            os.fchmod(file.fileno(), mode)
            if mtime_ns is not None:
                os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))
            os.fsync(file.fileno())
            written = os.fstat(file.fileno()).st_mtime_ns
        yield path, Read(path, size, written, digest.hexdigest())
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _stored(read: Read) -> dict[str, Any]:
    return {"size": read.size, "mtime_ns": read.mtime_ns, "digest": read.digest}


def _states(change: Change) -> tuple[Read | None, Read | None]:
    """The state before and after a change. Raises StoreError for a memo that is not ours."""
    try:
        before, after = (
            None if (state := change.memo[name]) is None else Read(change.path, **state)
            for name in ("before", "after")
        )
    except (KeyError, TypeError) as error:
        raise StoreError(f"the journal's line {change.id} cannot be read") from error
    return before, after


def _seen(path: str, *known: Read | None) -> Read | None:
    """The state of a file; without its digest where its size alone tells that it is not known."""
    try:
        size = os.stat(path).st_size
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: {words_of(error)}") from error
    if any(state is not None and state.size == size for state in known):
        return state_of(path)
    return Read(path, size, 0, "")


def _same(now: Read | None, then: Read | None) -> bool:
    """Whether the bytes are the same."""
    if now is None or then is None:
        return now is then
    return (now.size, now.digest) == (then.size, then.digest)
