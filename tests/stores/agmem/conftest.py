"""Repositories that agmem 0.3.0 itself made (tests/data/agmem.zip), unpacked once per run."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.session import Session
from tau_browser.stores.agmem.store import AgmemStore
from tests.conftest import DATA

Read = Callable[[Path], Session]


@pytest.fixture(scope="session")
def agmem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the repositories. They are read, and never written."""
    folder = tmp_path_factory.mktemp("agmem")
    zipfile.ZipFile(DATA / "agmem.zip").extractall(folder)
    return folder


@pytest.fixture
def read_repo(tmp_path: Path) -> Read:
    """Reads the repository at a folder."""

    def read(folder: Path) -> Session:
        *_, last = AgmemStore([str(folder)], tmp_path / "cache").open(str(folder)).load()
        assert last.session is not None
        return last.session

    return read


def drawn(session: Session) -> list[str]:
    """The tree of a session as a person sees it."""
    outline = session.outline
    return [
        f"{'  ' * depth}{speaker_of(record)}: {label_of(session, place, record)}"
        for place, depth in zip(outline.entry.tolist(), outline.depth.tolist(), strict=True)
        for record in [session.record(place)]
    ]


def findings(session: Session) -> list[str]:
    """What is wrong, each in a line."""
    return [f"{finding.severity.value}: {finding}" for finding in session.diagnostics]
