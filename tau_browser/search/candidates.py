"""The lines of session files that may hold what is sought, found by ripgrep or, without it, here.

Sound, never exact: see `prefilter`. A line that is left out holds no hit; the others must be
decoded and looked at.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from tau_browser.search.factors import factor_of
from tau_browser.search.find import Expression, Literal, Pattern
from tau_browser.search.folding import fold_case
from tau_browser.search.prefilter import ASCII_ESCAPE, ASCII_SPELLINGS, WORD, is_usable

_CHUNK = 1 << 20
_MOST_ARGUMENTS = 1 << 17  # bytes of paths for one process
_LONGEST_WORD = 200
_OPTIONS = (
    "--no-config --text --encoding none --no-mmap --no-ignore --hidden --byte-offset --null"
    " --with-filename --no-heading --no-line-number --color never"
)
# Kinds of entries whose texts say more than what is stored in them.
_SENTENCES = r'"(?:elide|navigate|model_change|thinking_change|config|agent_spec)"'
_ALWAYS = f"(?i:{ASCII_ESCAPE.pattern.decode()})|{_SENTENCES}"
_ADDED_SIGN = "≈"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, without its end, and the byte at which it starts."""

    path: str
    start: int
    data: bytes


@dataclass(frozen=True, slots=True)
class _Sought:
    """Patterns of ripgrep's that every hit's line matches: in files of plain ASCII, in others."""

    in_ascii: str
    in_others: str
    weight: int


def candidates(patterns: Sequence[Pattern], paths: Sequence[str]) -> Iterator[Line | None]:
    """The lines that may hold all the patterns; None now and then, for the caller to look up.

    Files that are gone or cannot be read have no lines.
    """
    known = [sought for sought in map(_sought, patterns) if sought is not None]
    program = ripgrep()
    if not known or program is None:
        for path in paths:
            yield from _all_lines(path)
        return
    best = max(known, key=lambda sought: sought.weight)
    plain = [path for path in paths if "\n" not in path]
    ascii_paths = [path for path in plain if _is_ascii(path)]
    others = sorted(set(plain).difference(ascii_paths))
    for pattern, some in ((best.in_ascii, ascii_paths), (best.in_others, others)):
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


def _sought(pattern: Pattern) -> _Sought | None:
    """What to look for; None where the bytes of a record tell nothing."""
    if isinstance(pattern, Expression):
        any_case = bool(pattern.compiled.flags & re.IGNORECASE)
        factor = factor_of(pattern.query, any_case=any_case)
        if factor is None:
            return None
        return _Sought(f"{factor}|{_ALWAYS}", f"{factor}|{_ALWAYS}|{ASCII_SPELLINGS}", len(factor))
    assert isinstance(pattern, Literal)
    words = [word for word in WORD.findall(pattern.needle) if is_usable(word)]
    if words:
        word = max(words, key=len)[:_LONGEST_WORD]
        spelled = re.escape(word)
        found = f"(?i:{spelled})" if pattern.fold is fold_case else spelled
        return _Sought(f"{found}|{_ALWAYS}", f"{found}|{_ALWAYS}|{ASCII_SPELLINGS}", len(word) * 3)
    if pattern.needle.isascii() or _ADDED_SIGN in pattern.needle:
        return None
    return _Sought(rf"\\u|{_SENTENCES}", rf"\\u|{_SENTENCES}|[^\x00-\x7f]", 1)


def _found(program: str, pattern: str, paths: Sequence[str]) -> Iterator[Line | None]:
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
            rest = b""
            while data := process.stdout.read(_CHUNK):
                *lines, rest = (rest + data).split(b"\n")
                yield from map(_line, lines)
                yield None
            if rest:
                yield _line(rest)
        finally:
            process.kill()


def _line(printed: bytes) -> Line:
    path, _, rest = printed.partition(b"\0")
    start, _, data = rest.partition(b":")
    return Line(os.fsdecode(path), int(start), data)


def _all_lines(path: str) -> Iterator[Line | None]:
    """Every line of a file."""
    try:
        with open(path, "rb") as file:
            start = 0
            for number, data in enumerate(file):
                yield Line(path, start, data.rstrip(b"\n"))
                start += len(data)
                if number % 1000 == 0:
                    yield None
    except OSError:
        return


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
