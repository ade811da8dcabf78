"""Repositories to capture into."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.conftest import DATA


@pytest.fixture
def agmem_crash(tmp_path: Path) -> Path:
    """What a crash of agmem's own daemon leaves."""
    with zipfile.ZipFile(DATA / "agmem.zip") as archive:
        archive.extractall(
            tmp_path, [name for name in archive.namelist() if name.startswith("crash-snapshot/")]
        )
    return tmp_path / "crash-snapshot"
