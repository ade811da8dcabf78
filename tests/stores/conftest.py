"""Small stores, and one of which not all may be read."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import DATA, HEADER, log_of, message

_NOBODY = 65534
_TEMPORARY = tempfile.gettempdir()  # tests may set another, that only they may look into


def write(path: Path, session_id: str = "s1", text: str = "hello") -> Path:
    """A session of one message."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log_of([message("a", None, text)], HEADER | {"id": session_id}))
    return path


@pytest.fixture
def locked() -> Iterator[Path]:
    """Case 42 as somebody sees it who may not read all of it.

    Root may read everything, so root becomes somebody else meanwhile.
    """
    user = os.geteuid()
    with tempfile.TemporaryDirectory(dir=_TEMPORARY) as base:
        os.chmod(base, 0o755)
        root = Path(base) / "sessions"
        shutil.copytree(DATA / "bugcases" / "42-permission-denied" / "sessions", root)
        closed = [root / "--proj-locked--", *root.glob("--proj-demo--/*noread*")]
        for path in closed:
            path.chmod(0)
        if user == 0:
            os.seteuid(_NOBODY)
        try:
            yield root
        finally:
            os.seteuid(user)
            for path in closed:
                path.chmod(0o755)
