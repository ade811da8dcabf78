"""The lines of session files that may hold what is sought, found by ripgrep or, without it, here.

A line that is left out holds no hit; the others must be decoded and looked at.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Container, Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from tau_browser.search.find import Pattern
from tau_browser.search.narrowing import narrowing_of
from tau_browser.search.prefilter import LONGEST_ESCAPE, is_plain
from tau_browser.search.ripgrep import ripgrep, shares

_CHUNK = 1 << 20
_MOST_LINES = 1000  # in one batch of those that are read here
_OPTIONS = (
    "--no-config --text --encoding none --no-mmap --no-ignore --hidden --byte-offset --null"
    " --with-filename --no-heading --no-line-number --color never"
)


class Line(NamedTuple):
    """A line of a file, without its end, and the byte at which it starts."""

    path: str
    start: int
    data: bytes


class _Spelling(IntEnum):
    """In how many ways a file spells its texts."""

    PLAIN = 0  # ASCII is ASCII
    ESCAPED = 1  # some of it may be escaped
    RAW = 2  # there are other characters


def candidates(
    patterns: Sequence[Pattern], paths: Sequence[str], plain: Container[str] = ()
) -> Iterator[list[Line]]:
    """The lines that may hold all the patterns, in batches; some are empty.

    Files that are gone or cannot be read have no lines. plain: paths of files that are known to
    spell their texts in one way only (`Reader.plain_paths`); others are looked into.
    """
    narrowings = [it for it in map(narrowing_of, patterns) if it is not None]
    program = ripgrep()
    if not narrowings or program is None:
        for path in paths:
            yield from _all_lines(path)
        return
    best = max(narrowings, key=lambda it: it.weight)
    by_spelling: dict[_Spelling, list[str]] = {spelling: [] for spelling in _Spelling}
    for path in paths:
        if "\n" in path:  # what ripgrep prints would have no clear end
            yield from _all_lines(path)
        else:
            spelling = _Spelling.PLAIN if path in plain else _spelling(path)
            by_spelling[spelling].append(path)
    patterns_of = (best.in_plain, best.in_escaped, best.in_raw)
    for spelling, some in by_spelling.items():
        for share in shares(some):
            yield from _found(program, patterns_of[spelling], share)


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


def _spelling(path: str) -> _Spelling:
    try:
        status = os.stat(path)
        return _looked_into(path, status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError:
        return _Spelling.RAW


@lru_cache(maxsize=1 << 16)
def _looked_into(path: str, _inode: int, _size: int, _mtime: int) -> _Spelling:
    spelling, tail = _Spelling.PLAIN, b""
    with open(path, "rb", buffering=0) as file:
        while data := file.read(_CHUNK):
            if not data.isascii():
                return _Spelling.RAW
            if spelling is _Spelling.PLAIN and not is_plain(tail + data):
                spelling = _Spelling.ESCAPED
            tail = data[-LONGEST_ESCAPE:]
    return spelling
