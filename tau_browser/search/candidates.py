"""The lines of session files that may hold what is sought, found by ripgrep or, without it, here.

A line that is left out holds no hit; the others must be decoded and looked at.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from tau_browser.search.find import Pattern
from tau_browser.search.narrowing import narrowing_of

_CHUNK = 1 << 20
_MOST_LINES = 1000  # in one batch of those that are read here
_MOST_ARGUMENTS = 1 << 18  # bytes of paths for one process
_OPTIONS = (
    "--no-config --text --encoding none --no-mmap --no-ignore --hidden --byte-offset --null"
    " --with-filename --no-heading --no-line-number --color never"
)


class Line(NamedTuple):
    """A line of a file, without its end, and the byte at which it starts."""

    path: str
    start: int
    data: bytes


def candidates(patterns: Sequence[Pattern], paths: Sequence[str]) -> Iterator[list[Line]]:
    """The lines that may hold all the patterns, in batches; some are empty.

    Files that are gone or cannot be read have no lines.
    """
    narrowings = [it for it in map(narrowing_of, patterns) if it is not None]
    program = ripgrep()
    if not narrowings or program is None:
        for path in paths:
            yield from _all_lines(path)
        return
    best = max(narrowings, key=lambda it: it.weight)
    plain = [path for path in paths if "\n" not in path]
    in_ascii = [path for path in plain if _is_ascii(path)]
    others = sorted(set(plain).difference(in_ascii))
    for pattern, some in ((best.in_ascii, in_ascii), (best.in_others, others)):
        for chunk in _chunks(some):
            yield from _found(program, pattern, chunk)
    for path in paths:
        if "\n" in path:
            yield from _all_lines(path)


@cache
def ripgrep() -> str | None:
    """The rg program: the one installed with this Python, or the one on the PATH."""
    own = os.path.join(sysconfig.get_path("scripts"), "rg")
    return own if os.access(own, os.X_OK) else shutil.which("rg")


def _found(program: str, pattern: str, paths: Sequence[str]) -> Iterator[list[Line]]:
    """What ripgrep finds."""
    command = [program, *_OPTIONS.split(), "--regexp", pattern, "--", *paths]
    with subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        try:
            rest: list[bytes] = []  # pieces of the line that has no end yet
            while data := process.stdout.read(_CHUNK):
                end = data.rfind(b"\n") + 1
                if end:
                    yield _lines(b"".join([*rest, data[: end - 1]]))
                    rest = []
                rest.append(data[end:])
        finally:
            process.kill()


def _lines(printed: bytes) -> list[Line]:
    """What was printed: a path, a NUL, an offset, a colon and the line itself, each time."""
    lines = []
    for each in printed.split(b"\n"):
        path, _, rest = each.partition(b"\0")
        start, _, data = rest.partition(b":")
        lines.append(Line(os.fsdecode(path), int(start), data))
    return lines


def _all_lines(path: str) -> Iterator[list[Line]]:
    """Every line of a file."""
    lines: list[Line] = []
    try:
        with open(path, "rb") as file:
            start = 0
            for data in file:
                lines.append(Line(path, start, data.rstrip(b"\n")))
                start += len(data)
                if len(lines) == _MOST_LINES:
                    yield lines
                    lines = []
    except OSError:  # what could be read counts
        pass
    yield lines


def _chunks(paths: Sequence[str]) -> Iterator[list[str]]:
    """Paths for one process each: a command line has a length."""
    chunk: list[str] = []
    size = 0
    for path in paths:
        size += len(os.fsencode(path)) + 1
        if size > _MOST_ARGUMENTS and chunk:
            yield chunk
            chunk, size = [], 0
        chunk.append(path)
    if chunk:
        yield chunk


def _is_ascii(path: str) -> bool:
    try:
        status = os.stat(path)
        return _looked_into(path, status.st_size, status.st_mtime_ns)
    except OSError:
        return True


@lru_cache(maxsize=1 << 16)
def _looked_into(path: str, _size: int, _mtime: int) -> bool:
    with open(path, "rb", buffering=0) as file:
        while data := file.read(_CHUNK):
            if not data.isascii():
                return False
    return True
