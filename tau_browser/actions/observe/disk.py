"""Writing so that a kill at any point leaves the old or the new, whole, and never half of it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from tau_browser.actions.disk import sync

TEMPORARY = ".tau-browse-"
"""How the names of files begin that are being written."""


def make_folder(folder: Path) -> None:
    """A folder and all above it that are not there yet, for their owner alone. Raises OSError."""
    missing = [folder, *folder.parents]
    for each in reversed(missing[: next(at for at, it in enumerate(missing) if it.exists())]):
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=0o700)


def put(path: Path, data: bytes) -> None:
    """Bring a file to its path at once, in the place of any other. Raises OSError."""
    make_folder(path.parent)
    handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)  # made 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync(path.parent)


def append(path: Path, line: bytes) -> None:
    """Add a line, and wait until it is on the disk. What a kill left of a line before is ended,
    or completed if it is the beginning of this very line. Raises OSError."""
    make_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        torn = _torn(handle)
        if torn and line.startswith(torn):
            line = line[len(torn) :]
        elif torn:
            line = b"\n" + line
        while line:
            line = line[os.write(handle, line) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _torn(handle: int) -> bytes:
    """What stands behind the last end of a line."""
    size, piece, step = os.fstat(handle).st_size, b"", 4096
    while len(piece) < size and b"\n" not in piece:
        start = max(0, size - len(piece) - step)
        piece = os.pread(handle, size - start, start)
        step *= 2
    return piece.rpartition(b"\n")[2]
