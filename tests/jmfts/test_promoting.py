"""Promotion from the screen: shown first, once, stopped whole, taken back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tau_browser.actions.promote.server import Promotion, plan_promotion
from tau_browser.config import Settings
from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.plan.screen import PlanScreen
from tests.conftest import DATA
from tests.jmfts.appliance import Appliance
from tests.jmfts.hold import Hold
from tests.jmfts.making import Making
from tests.jmfts.proxy import Proxy
from tests.jmfts.test_promote import promoted
from tests.tui.browsing import MEDIUM, WIDE, press, settle, text, tree, until

ROOT = DATA / "aethergraph" / "a1-root"
RUN = f"{ROOT}#run:run-20260303-2"


@pytest.fixture
def app(appliance: Appliance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BrowserApp:
    """A run of aethergraph's is open, and a server is set up."""
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    target = Target(AethergraphStore([str(ROOT)]), RUN)
    return BrowserApp(target, Settings(Path("config.toml"), keys={}), {})


async def go_to(pilot: Pilot[None], entry_id: str) -> None:
    assert isinstance(pilot.app, BrowserApp)
    view = tree(pilot.app)
    assert view.session is not None
    view.go_to(view.session.find(entry_id)[0])
    await settle(pilot)


def corpora(making: Making) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = making.request(
        "GET", "/documents?usetype=tau-browse:corpus&limit=100"
    )
    return found


async def test_what_is_marked_is_shown_then_promoted_once(app: BrowserApp, making: Making) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus")
        for entry in ("0a9ee25d61317a42478ed1e7", "8e372101c393bace83b496ee"):
            await go_to(pilot, entry)
            await press(pilot, "space")
        await press(pilot, "M", "p", *"lessons", "enter")
        shown = text(app)
        assert "promote 2 entries into corpus lessons" in shown and "written anew" in shown
        assert "error:observe:2026-03-03T10:00:21.000Z" in shown and "TimeoutError" in shown
        assert "from 0a9ee25d61317a42478ed1e7: stage observe, run_id run-20260303-2" in shown
        assert corpora(making) == []
        await press(pilot, "enter")
        (corpus,) = corpora(making)
        assert corpus["title"] == "lessons" and len(promoted(making, corpus["id"])) == 2

        await go_to(pilot, "0a9ee25d61317a42478ed1e7")
        await press(pilot, "M", "p", "enter")  # the corpus of before
        assert "there already and left alone: 1 entry" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, PlanScreen)
        await press(pilot, "escape", "u", "enter")
        assert promoted(making, corpus["id"]) == []


async def test_a_filter_begins_with_the_threshold(app: BrowserApp, making: Making) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, *["v"] * 14, "M", "p", *"mixed", "enter", "f", "enter")
        assert "promote 6 entries into corpus mixed" in text(app)
        await press(pilot, "f", "ctrl+u", *"event:checkpoint", "enter")
        assert "promote 1 entry into corpus mixed" in text(app)
        await press(pilot, "f", "ctrl+u", *"words", "enter")
        assert "refused: words: give filters" in text(app)
        await press(pilot, "1")
        assert "promote 1 entry into corpus mixed" in text(app)
        assert corpora(making) == []


async def test_stopped_nothing_of_it_is_left(
    app: BrowserApp, proxy: Proxy, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JMFTS_API_URL", proxy.url)
    hold = Hold(proxy, "POST /documents", 4)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "p", *"halves", "enter", "f", "ctrl+u", *"signal:0", "enter")
        await pilot.press("enter")
        await hold.reached(pilot)
        shown = text(app)
        assert "promoting " in shown and "16 documents · " in shown and "Esc takes it back" in shown
        assert corpora(making) == []  # it is none until it is whole
        await pilot.press("escape")
        hold.release()
        await until(pilot, "stopped: nothing of it is left")
        assert making.request("GET", "/documents") == []
        await press(pilot, "escape", "u")
        assert "what it made is gone" in text(app)


async def test_a_digest_is_kept_in_a_corpus(app: BrowserApp, making: Making) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "d", "k", *"digests", "enter")
        assert "rolling digest:run-20260303-2" in text(app)
        await press(pilot, "enter")
        (corpus,) = corpora(making)
        (kept,) = promoted(making, corpus["id"])
        assert kept["structured_content"]["tau"]["type"] == "branch_summary"
        await press(pilot, "M", "d", "k", *"digests", "enter")
        assert "there already and left alone: 1 entry" in text(app)


@pytest.mark.parametrize("size", [(120, 40), MEDIUM], ids=["roomy", "medium"])
def test_picture_of_a_promotion(
    size: tuple[int, int], app: BrowserApp, snap_compare, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    def plan(*arguments: Any) -> Promotion:
        return replace(plan_promotion(*arguments), url="http://appliance:8100")

    monkeypatch.setattr("tau_browser.actions.promote.server.plan_promotion", plan)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await press(
            pilot, "v", "M", "p", *"lessons", "enter", "f", "ctrl+u", *"event:error", "enter"
        )

    assert snap_compare(app, terminal_size=size, run_before=before)
