"""Which session files may hold a call of a memory's tool, judged by their bytes alone.

Sound, never exact: a file in which none of the needles of the table of tools fits, and without an
escape that could spell a letter of them, holds no such call.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence

from tau_browser.audit.tools import ToolTable
from tau_browser.search.ripgrep import ripgrep, shares

_OPTIONS = (
    "--no-config --text --encoding none --no-mmap --no-ignore --hidden --ignore-case --null"
    " --files-with-matches --no-messages"
)
_SPELLED_OTHERWISE = r"\\u00[2-7]"
_CHUNK = 1 << 20
_LONGEST = 1 << 10  # bytes of what a needle fits


def may_recall(paths: Sequence[str], tools: ToolTable) -> set[str]:
    """Those of some files that must be looked into. Files that cannot be read are among them:
    whoever reads them says why."""
    needles = tools.needles
    if not needles:
        return set(paths)
    program = ripgrep()
    if program is None:
        return {path for path in paths if _holds(path, needles)}
    pattern = "|".join([*needles, _SPELLED_OTHERWISE])
    found = {path for share in shares(paths) for path in _found(program, pattern, share)}
    return found | {path for path in paths if not os.access(path, os.R_OK)}


def _found(program: str, pattern: str, paths: Sequence[str]) -> Iterator[str]:
    command = [program, *_OPTIONS.split(), "--regexp", pattern, "--", *paths]
    run = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    yield from map(os.fsdecode, filter(None, run.stdout.split(b"\0")))


def _holds(path: str, needles: Sequence[str]) -> bool:
    pattern = re.compile("|".join([*needles, _SPELLED_OTHERWISE]).encode(), re.IGNORECASE)
    tail = b""
    try:
        with open(path, "rb", buffering=0) as file:
            while data := file.read(_CHUNK):
                if pattern.search(tail + data):
                    return True
                tail = data[-_LONGEST:]
    except OSError:
        return True
    return False
