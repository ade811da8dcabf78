"""Files as a store sees them: what state they are in, and their bytes where they are looked at.

Bytes are read with pread. A memory map would be shorter to write, but a file that another process
cuts short would then kill the reader (SIGBUS).
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tau_browser.stores.store import StoreError

# A header that is longer than this is found by reading the session.
_HEADER = 64 * 1024


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells one state of a file from another."""

    device: int
    inode: int
    size: int
    mtime_ns: int


def identity_of(status: os.stat_result) -> Identity:
    """The identity of a file's present state."""
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def passing_folder() -> Path:
    """A private folder that is there until the program ends."""
    import atexit  # the first frame does without
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="tau-browse-")  # made 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


class FileSource:
    """The bytes of an open file. Survives the file's being renamed, replaced or deleted."""

    def __init__(self, path: str) -> None:
        self._fd = -1
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for a writer
            raise StoreError(f"{path}: not a regular file")
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, start: int, stop: int) -> bytes:
        """These bytes; fewer if the file has become shorter since, none once it is closed."""
        return os.pread(self._fd, stop - start, start) if self._fd >= 0 else b""

    def status(self) -> os.stat_result:
        """The state of the open file, which may no longer be the one at its path."""
        return os.fstat(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    __del__ = close


class FileSources:
    """The bytes of the files of one log: those of the nth start at n times `FILE_BYTES`."""

    def __init__(self, path: str) -> None:
        from tau_browser.model.decoder import FILE_BYTES  # the first frame does without

        self._stride = FILE_BYTES
        self.files = [FileSource(path)]

    def add(self, path: str) -> None:
        """Another file. Raises OSError and StoreError."""
        self.files.append(FileSource(path))

    def read(self, start: int, stop: int) -> bytes:
        """These bytes, all of one file; fewer if it has become shorter since."""
        at, offset = divmod(start, self._stride)
        if at >= len(self.files):
            return b""
        return self.files[at].read(offset, offset + stop - start)

    def close(self) -> None:
        for file in self.files:
            file.close()


def header_of(path: str) -> dict[str, Any]:
    """The header of a session, if it is the first line; else {}. Raises OSError, StoreError."""
    from tau_browser.model.heads import decode_record  # the first frame does without

    source = FileSource(path)
    record = decode_record(source.read(0, _HEADER).partition(b"\n")[0])
    source.close()
    return record if record.get("type") == "session" else {}


def words_of(error: OSError) -> str:
    """What the system said, ready for the middle of a sentence."""
    return (error.strerror or str(error)).lower()
