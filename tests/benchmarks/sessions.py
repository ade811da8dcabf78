"""Generated sessions of any size and shape."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

Parent = Callable[[int], int]
"""Place of the parent of an entry, or -1."""

_ROLES = ("user", "assistant", "toolResult", "assistant")


def forked(seed: int = 1, share: float = 0.02, back: int = 200) -> Parent:
    """Mostly a chain; a share of the entries hangs up to `back` entries further up."""
    rng = random.Random(seed)

    def parent(place: int) -> int:
        if place and rng.random() < share:
            return max(-1, place - 1 - rng.randint(1, back))
        return place - 1

    return parent


def chain(place: int) -> int:
    """Each entry under the one before."""
    return place - 1


def fan(place: int) -> int:
    """All entries under the first."""
    return 0 if place else -1


def write_session(path: Path, entries: int, parent: Parent) -> Path:
    """Write a session as τ does: JSON with spaces, about 210 bytes a line. Kept if it is there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        with partial.open("w", encoding="ascii") as file:
            file.writelines(_lines(entries, parent))
        partial.rename(path)
    return path


def _lines(entries: int, parent: Parent) -> Iterator[str]:
    header = {"type": "session", "version": 1, "id": "0" * 32, "timestamp": _time(0)}
    yield json.dumps(header | {"cwd": "/home/sam/harbor", "parent": None}) + "\n"
    for place in range(entries):
        above = parent(place)
        role = _ROLES[place % 4]
        text = json.dumps(f"step {place} of a long piece of work")
        yield (
            f'{{"type": "message", "id": "{_id(place)}", '
            f'"parentId": {json.dumps(_id(above)) if above >= 0 else "null"}, '
            f'"timestamp": "{_time(place)}", "message": {{"role": "{role}", '
            f'"content": [{{"type": "text", "text": {text}}}]}}}}\n'
        )


def _id(place: int) -> str:
    return f"{place * 2654435761 & 0xFFFFFFFF:08x}"


def _time(place: int) -> str:
    moment = datetime(2026, 11, 1) + timedelta(milliseconds=place)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{place % 1000:03}Z"
