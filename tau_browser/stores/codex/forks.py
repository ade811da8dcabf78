"""What of a rollout was said before it. A fork of older versions repeats the lines of its source,
as if anew; one of newer versions says where in its source it goes on.

Only the source tells where the repeated lines end: they are written again with new times, and no
line says that it is one of them.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from tau_browser.stores.files import words_of
from tau_browser.stores.peek import first_records
from tau_browser.stores.store import StoreError

_DAYS = ("sessions", "archived_sessions")


class Source(NamedTuple):
    """What a fork was made of: the id of its rollout, and, for a fork of newer versions, the byte
    of it at which the fork goes on. Older ones repeat all that was said until then."""

    id: str
    end: int | None


def source_of(path: str) -> Source | None:
    """What a rollout is a fork of, if it is one."""
    match next(iter(first_records(path)), {}).get("payload"):
        case {"history_base": {"thread_id": str(id), "end_byte_offset": int(end)}}:
            return Source(id, end)
        case {"forked_from_id": str(id)} if id:
            return Source(id, None)
    return None


def lines_before(path: str, end: int) -> int:
    """How many lines of a rollout end before a byte. Raises StoreError."""
    try:
        with open(path, "rb") as file:
            return file.read(end).count(b"\n")
    except OSError as error:
        raise StoreError(f"{path}: {words_of(error)}") from error


def home_of(path: str) -> str:
    """The home that a rollout lies in, or else its folder."""
    folder = os.path.dirname(path)
    while os.path.basename(folder) not in _DAYS:
        above = os.path.dirname(folder)
        if above == folder:
            return os.path.dirname(path)
        folder = above
    return os.path.dirname(folder)


def rollout_of(session_id: str, beside: str) -> str | None:
    """The file of a rollout, told by its name, in the home or the folder of another one."""
    end = f"-{session_id}.jsonl"
    for folder in _folders(beside):
        for above, _, names in os.walk(folder):
            for name in names:
                if name.endswith(end):
                    return os.path.join(above, name)
    return None


def repeated_lines(path: str, source: str) -> int:
    """The line up to which a fork repeats its source. Raises StoreError."""
    said = _digests(source, _state_of(source))
    places: dict[bytes, deque[int]] = {}
    for at, digest in enumerate(said):
        places.setdefault(digest, deque()).append(at)
    line, reached = 1, -1  # its first line is its own
    for digest in _lines(path, skip=1):
        due = places.get(digest, deque())
        while due and due[0] <= reached:
            due.popleft()
        if not due:
            break
        reached = due.popleft()
        line += 1
    return line


def _folders(beside: str) -> list[str]:
    """Where the rollouts of a home lie: its two folders, or else the one of the other rollout."""
    home = home_of(beside)
    if home == os.path.dirname(beside):
        return [home]
    return [os.path.join(home, name) for name in _DAYS]


def _state_of(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise StoreError(f"{path}: {words_of(error)}") from error
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=4)
def _digests(path: str, state: tuple[int, int]) -> list[bytes]:
    """What the lines of a rollout say, as hashes. state: of the file, so that no old one counts."""
    return list(_lines(path))


def _lines(path: str, skip: int = 0) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            for at, line in enumerate(file):
                if at >= skip:
                    yield _digest(line)
    except OSError as error:
        raise StoreError(f"{path}: {words_of(error)}") from error


def _digest(line: bytes) -> bytes:
    """A hash of what a line says, whatever its time and the order of its fields."""
    try:
        record: Any = msgspec.json.decode(line)
        said = _encode([record["type"], record["payload"]])
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError, UnicodeEncodeError):
        said = line
    return hashlib.blake2b(said, digest_size=16).digest()


_encode = msgspec.json.Encoder(order="deterministic").encode
