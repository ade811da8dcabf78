"""What sessions are called: newer versions keep that in one file for all of them."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import msgspec

from tau_browser.stores.codex.forks import home_of

_INDEX = "session_index.jsonl"


def name_of(session_id: str, path: str) -> str:
    """The name that was given to a session last, in the home that its rollout lies in; "" if none
    was."""
    index = os.path.join(home_of(path), _INDEX)
    try:
        return _names_in(index, os.stat(index).st_mtime_ns).get(session_id, "")
    except OSError:
        return ""


@lru_cache(maxsize=4)
def _names_in(index: str, changed: int) -> dict[str, str]:
    """All names, by session. changed: the time of the file. Raises OSError."""
    names: dict[str, str] = {}
    with open(index, "rb") as file:
        for line in file:
            try:
                record: Any = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                continue  # the last line may still be being written
            match record:
                case {"id": str(session_id), "thread_name": str(name)} if name.strip():
                    names[session_id] = name
    return names
