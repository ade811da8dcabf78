"""The rg program, by which many files are gone through at once."""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache

_MOST_ARGUMENTS = 1 << 18  # bytes of paths for one process


@cache
def ripgrep() -> str | None:
    """The rg program: the one installed with this Python, or the one on the PATH."""
    own = os.path.join(sysconfig.get_path("scripts"), "rg")
    return own if os.access(own, os.X_OK) else shutil.which("rg")


def shares(paths: Sequence[str]) -> Iterator[list[str]]:
    """Paths for one process each: a command line has a length."""
    share: list[str] = []
    size = 0
    for path in paths:
        size += len(os.fsencode(path)) + 1
        if size > _MOST_ARGUMENTS and share:
            yield share
            share, size = [], 0
        share.append(path)
    if share:
        yield share
