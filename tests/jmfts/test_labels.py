"""Labels on conversations: beside them, on no server, and on no entry but the one that they were
written on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tau_browser.config import Settings
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.tui.browsing import lines, press, settle


@pytest.fixture(autouse=True)
def named(home: Path, appliance: Appliance, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is the one that commands find."""
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)


def labels(run: Run, root: int) -> dict[str, str]:
    found = run("label", "--store", "jmfts", str(root), "--json").json["labels"]
    return {each["entry"]: each["label"] for each in found}


def test_label_is_written_and_taken_back(run: Run, making: Making, appliance: Appliance) -> None:
    root, first, second = making.chain("a", "b")
    before = appliance.sql("SELECT count(*), max(updated_at) FROM documents")
    for entry, label in ((first, "good"), (second, "bad")):
        assert run("label", "--store", "jmfts", str(root), str(entry), label).code == 0
    assert labels(run, root) == {str(first): "good", str(second): "bad"}
    assert appliance.sql("SELECT count(*), max(updated_at) FROM documents") == before
    assert run("undo", "--store", "jmfts").code == 0
    assert labels(run, root) == {str(first): "good"}


def test_label_is_of_one_conversation_of_one_server(
    run: Run,
    making: Making,
    appliance: Appliance,
    old: Appliance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root, first = making.chain("a")
    twin, _ = making.chain("b")  # with the same session id
    assert run("label", "--store", "jmfts", str(root), str(first), "good").code == 0
    assert labels(run, root) == {str(first): "good"} and labels(run, twin) == {}
    elsewhere = Making(old)
    assert elsewhere.chain("c") == [root, first]
    elsewhere.close()
    monkeypatch.setenv("JMFTS_API_URL", old.url)
    assert labels(run, root) == {}


async def test_label_on_the_screen(
    making: Making, appliance: Appliance, run: Run, tmp_path: Path
) -> None:
    root, _, second = making.chain("first words", "an answer")
    twin, *_ = making.chain("first words", "an answer")
    store = JmftsStore(appliance.url, appliance.token, tmp_path / "cache")
    app = BrowserApp(Target(store, str(root)), Settings(Path("config.toml")), {})
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "b", *"look", "enter")
        assert any("look" in line and "answer" in line for line in lines(app))
    assert labels(run, root) == {str(second): "look"} and labels(run, twin) == {}
    store.close()
