"""A short look into files, to tell whose they are."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from tau_browser.stores.files import FileSource
from tau_browser.stores.store import StoreError

_BYTES = 64 * 1024
_LONGEST = 16 << 20  # bytes of a first line that holds a picture, say
_LINES = 20
# How many names of a folder are looked at in search of its first log, and how many logs at most.
_NAMES = 2000
_LOGS = 5


def first_records(path: str) -> list[dict[str, Any]]:
    """The records at the start of a log: at most a few. [] where there are none, or no file."""
    from tau_browser.model.heads import decode_record  # the first frame does without

    try:
        source = FileSource(path)
        start = source.read(0, _BYTES)
        while b"\n" not in start and len(start) < _LONGEST:
            if not (more := source.read(len(start), 2 * len(start))):
                break
            start += more
        source.close()
    except (OSError, ValueError, StoreError):
        return []
    lines = start.split(b"\n")[:_LINES]
    return [record for line in lines if (record := decode_record(line))]


def holds_log(path: str, is_ours: Callable[[list[dict[str, Any]]], bool]) -> bool:
    """Whether a file, or the first log with records in a folder, begins as ours do."""
    if not os.path.isdir(path):
        return is_ours(first_records(path))
    looked = 0
    for log in _logs_in(path):
        if records := first_records(log):
            if is_ours(records):
                return True
            looked += 1
        if looked == _LOGS:
            break
    return False


def _logs_in(folder: str) -> Iterator[str]:
    """Files whose names end in .jsonl at or below a folder, those higher up first."""
    due, names = deque([folder]), 0
    while due:
        try:
            with os.scandir(due.popleft()) as entries:
                items = sorted(entries, key=lambda item: item.name)
        except OSError:
            continue
        for item in items:
            names += 1
            if names > _NAMES:
                return
            if item.name.endswith(".jsonl"):
                yield item.path
            elif item.is_dir(follow_symlinks=False):
                due.append(item.path)
