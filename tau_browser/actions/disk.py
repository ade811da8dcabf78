"""What is common to all that is written to a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tau_browser.stores.files import words_of
from tau_browser.stores.store import StoreError


def sync(folder: str | os.PathLike[str]) -> None:
    """Wait until the names in a folder are on the disk. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def told(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system complains of becomes a sentence. Raises StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{error.filename or path}: {words_of(error)}") from error
