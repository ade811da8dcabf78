"""The integrity of a repository on the screen."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tau_browser.config import Settings
from tau_browser.stores.agmem.store import AgmemStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tests.conftest import DATA
from tests.tui.browsing import WIDE, browse, chosen, press, settle, text


@pytest.fixture(scope="module")
def agmem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agmem")
    zipfile.ZipFile(DATA / "agmem.zip").extractall(folder)
    return folder


async def test_shows_verdicts_and_leads_to_what_they_are_about(agmem: Path, tmp_path: Path) -> None:
    path = str(agmem / "bugs" / "b52-verify2")
    target = Target(AgmemStore([path], tmp_path), path)
    app = BrowserApp(target, Settings(Path("config.toml"), keys={}), {})
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "I")
        await settle(pilot)
        assert "All of it: broken" in text(app)
        assert "broken at its own object: its bytes do not give its id" in text(app)
        assert "anchor 7d62bb19" in text(app)
        await press(pilot, "j", "enter")
        assert chosen(app).startswith("c747ec64")


async def test_says_where_there_is_nothing_to_verify() -> None:
    path = DATA / "tau" / "02-forked-tree.jsonl"
    app = browse(path, path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "I")
        assert "hold nothing to verify them by" in text(app)
