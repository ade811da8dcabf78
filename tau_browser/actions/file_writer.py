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
from typing import Any, NamedTuple, Self

from tau_browser.actions.disk import sync, told
from tau_browser.actions.draft import Draft
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
            if plan.way is Way.NEW:
                return _create(change, _new_files(plan), journal)
            assert plan.read is not None
            whole = plan.way is Way.REPLACE  # what was appended to needs no copy to be restored
            pieces = plan.content.pieces()
            return _replace(plan.target, pieces, plan.read, change, journal, keep=whole)

    def obstacle(self, change: Change, journal: Journal) -> str:
        """Why a change cannot be taken back now; "" if it can."""
        before, after = _states(change)
        try:
            now = _seen(change.path, before, after)
            beside = [(then, state_of(then.path)) for then in _beside(change)]
        except StoreError as error:
            return str(error)
        stands = [found for found in beside if found[1] is not None]
        if not _same(now, after):
            if _same(now, before):
                if stands and before is None and all(_same(*found) for found in stands):
                    return ""  # it was cut off between one file and the next
                return "it is not in effect: taken back already, or cut off before it was made"
            return "what it made is gone" if now is None else "what it made was changed since"
        if before is None and not all(_same(*found) for found in beside):
            return "what it made was changed since"
        kept = [] if "kept" in change.memo else [then for then in (before,) if then is not None]
        kept += [then for then, _ in beside] if after is None else []
        if not all((journal.trash / then.digest).exists() for then in kept):
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
                return _remove(undo, [after, *_beside(change)], journal)
            if after is None:
                return _create(undo, _kept([before, *_beside(change)], journal), journal)
            source = FileSource(
                path if "kept" in change.memo else str(journal.trash / before.digest)
            )
            pieces = bytes_of(source, before.size)
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
            return _create(change, [_New(str(path), [data])], journal)
        return _replace(str(path), [data], now, change, journal)


class _New(NamedTuple):
    """A file that is made: its bytes, and the time to give it."""

    path: str
    pieces: Iterable[bytes]
    mtime_ns: int | None = None


def _new_files(plan: Plan) -> list[_New]:
    beside = plan.content.beside if isinstance(plan.content, Draft) else {}
    folder = os.path.dirname(plan.target)
    others = [_New(os.path.join(folder, name), draft.pieces()) for name, draft in beside.items()]
    return [_New(plan.target, plan.content.pieces()), *others]


def _kept(files: list[Read], journal: Journal) -> list[_New]:
    """Files that are in the trash, as they were."""
    sources = [FileSource(str(journal.trash / file.digest)) for file in files]
    return [
        _New(file.path, bytes_of(source, file.size), file.mtime_ns)
        for file, source in zip(files, sources, strict=True)
    ]


def _create(change: Change, files: list[_New], journal: Journal) -> Change:
    """Make the file of a change, the first of these, and what belongs to it: that gets its name
    before, so that whoever finds the file finds all."""
    for file in files:
        if os.path.lexists(file.path):
            raise Refused(f"{file.path}: there is a file of this name already: nothing was written")
    folder, named = os.path.dirname(change.path), list[str]()
    with contextlib.ExitStack() as stack:
        partial = []
        for path, pieces, mtime_ns in files:
            _make_folder(os.path.dirname(path))
            stack.callback(_remove_empty, os.path.dirname(path), folder)
            partial.append(stack.enter_context(_partial(path, pieces, 0o600, mtime_ns)))
        made = [
            replace(state, path=new.path) for new, (_, state) in zip(files, partial, strict=True)
        ]
        memo = {"before": None, "after": _stored(made[0])} | _beside_memo(made)
        change = replace(change, memo=memo)
        journal.write(change)
        try:
            for (path, *_), (temporary, _) in reversed(list(zip(files, partial, strict=True))):
                _name(temporary, path)
                named.append(path)
        except BaseException:
            for path in named:
                os.unlink(path)
            raise
    return change


def _name(temporary: str, path: str) -> None:
    """Give a file its name; unlike a rename, a link never takes another file's place."""
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise Refused(f"{path}: there is a file of this name already") from error
    except OSError:  # a file system without links
        os.rename(temporary, path)
    sync(os.path.dirname(path))


def _make_folder(folder: str) -> None:
    """Make a folder, and those above it that are not there, for their owner alone."""
    if not os.path.isdir(folder):
        above = os.path.dirname(folder)
        _make_folder(above)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        sync(above)


def _remove_empty(folder: str, above: str) -> None:
    """Remove folders in which nothing is left, up to one that stays."""
    with contextlib.suppress(OSError):
        while folder != above:
            os.rmdir(folder)
            folder = os.path.dirname(folder)


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
    with _partial(path, pieces, mode, mtime_ns) as (temporary, after):
        kept = {} if keep else {"kept": "at the start of the file"}
        memo = {"before": _stored(read), "after": _stored(after)} | kept
        change = replace(change, memo=memo)
        journal.write(change)
        if not is_at(path, read):
            raise Refused(f"{path}: {_CHANGED}")
        os.replace(temporary, path)
        sync(os.path.dirname(path))
    if old.status().st_size != read.size:  # somebody had it open, and wrote at that very moment
        with _partial(path, bytes_of(old), mode) as (temporary, _):
            os.replace(temporary, path)
            sync(os.path.dirname(path))
        raise Refused(f"{path}: another process wrote to it at that very moment: left as it was")
    return change


def _remove(change: Change, files: list[Read], journal: Journal) -> Change:
    """Move the file of a change to the trash, the first of these, and then what belongs to it."""
    there = [file for file in files if os.path.lexists(file.path)]
    for file in there:
        _keep(FileSource(file.path), file, journal)
    memo = {"before": _stored(files[0]), "after": None} | _beside_memo(files)
    change = replace(change, memo=memo)
    journal.write(change)
    for file in there:
        if not is_at(file.path, file):
            raise Refused(f"{file.path}: {_CHANGED}")
    for file in there:
        os.unlink(file.path)
        sync(os.path.dirname(file.path))
        _remove_empty(os.path.dirname(file.path), os.path.dirname(change.path))
    return change


def _keep(source: FileSource, read: Read, journal: Journal) -> None:
    """Put a file's bytes into the trash, under their digest, and wait until they are there."""
    kept = journal.trash / read.digest
    if state_of(str(kept)) is not None:
        return
    with _partial(str(kept), bytes_of(source), 0o600) as (temporary, state):
        if state.digest != read.digest:
            raise Refused(f"{read.path}: {_CHANGED}")
        os.replace(temporary, kept)
        sync(str(journal.trash))


@contextlib.contextmanager
def _partial(
    target: str, pieces: Iterable[bytes], mode: int, mtime_ns: int | None = None
) -> Iterator[tuple[str, Read]]:
    """A file of another name with these bytes beside a path, on the disk; gone afterwards, unless
    renamed."""
    handle, path = tempfile.mkstemp(prefix=".", suffix=_PARTIAL, dir=os.path.dirname(target))
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


def _beside_memo(files: list[Read]) -> dict[str, Any]:
    """What the journal keeps of all files but the first, by path from its folder."""
    folder = os.path.dirname(files[0].path)
    beside = {os.path.relpath(file.path, folder): _stored(file) for file in files[1:]}
    return {"beside": beside} if beside else {}


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


def _beside(change: Change) -> list[Read]:
    """The files that belong to the one of a change. Raises StoreError for a memo that is not
    ours."""
    folder = os.path.dirname(change.path)
    try:
        return [
            Read(os.path.join(folder, name), **state)
            for name, state in change.memo.get("beside", {}).items()
        ]
    except (AttributeError, TypeError) as error:
        raise StoreError(f"the journal's line {change.id} cannot be read") from error


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
