"""What the app keeps between runs is kept apart from what the person who runs the tests keeps."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def no_server(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the servers that are set up on this machine, none is asked."""
    monkeypatch.setenv("TAU_HOME", str(tmp_path_factory.mktemp("home-of-tau")))
    for name in ("JMFTS_API_URL", "JMFTS_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on most machines: the model of the extra is not there."""
    for user in ("search.engine", "tui.search.wording"):
        monkeypatch.setattr(f"tau_browser.{user}.is_installed", lambda: False)
