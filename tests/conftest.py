"""What tests share: the stored examples, sessions made in memory, and how much Hypothesis tries.

Examples are the same in every run, so that a test which passes stays passed. To look for new ones:
pytest --hypothesis-profile=wide
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from tau_browser.model.decoder import Decoder
from tau_browser.model.session import Session, session_of

DATA = Path(__file__).parent / "data"

_COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("steady", max_examples=70, derandomize=True, **_COMMON)
settings.register_profile("wide", max_examples=2000, **_COMMON)
settings.load_profile("steady")

HEADER = {
    "type": "session",
    "version": 1,
    "id": "s1",
    "timestamp": "2026-03-01T10:00:00.000Z",
    "cwd": "/proj/demo",
    "parent": None,
}


class Bytes:
    """The bytes of a log, held in memory: a source of sessions."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, start: int, stop: int) -> bytes:
        return self.data[start:stop]


def read(*pieces: bytes) -> Session:
    """The session that these bytes hold, decoded piece by piece."""
    decoder = Decoder()
    for piece in pieces:
        decoder.feed(piece)
    return session_of(decoder.log(), Bytes(b"".join(pieces)))


def load(path: Path) -> Session:
    """The session that a file holds."""
    return read(path.read_bytes())


def message(
    entry_id: str, parent: str | None, text: str = "", role: str = "user", **fields: Any
) -> dict[str, Any]:
    """A record of kind message, in τ's order of fields. `fields` go to the record itself."""
    blocks = [{"type": "text", "text": text}] if text else []
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-03-01T10:00:01.000Z",
        "message": {"role": role, "content": blocks},
        **fields,
    }


def log_of(records: Iterable[Any], header: Any = HEADER) -> bytes:
    """Records as the lines of a log. Without a header where that is None."""
    lines = [header, *records] if header is not None else [*records]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
