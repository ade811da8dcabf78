"""Changes of a server from the screen: how they go, how they are stopped, and enriching."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tau_browser import config
from tau_browser.actions import reading as readings
from tau_browser.actions.journal import Journal
from tau_browser.config import Settings
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.browser import BrowserScreen
from tests.jmfts.appliance import Appliance
from tests.jmfts.hold import Hold
from tests.jmfts.making import Making, message
from tests.jmfts.proxy import Proxy, proxy_before
from tests.jmfts.test_enrich import LONG
from tests.tui.browsing import MEDIUM, WIDE, browse, press, settle, text, tree

SIZES = pytest.mark.parametrize("size", [(120, 40), MEDIUM], ids=["wide", "medium"])


@pytest.fixture(autouse=True)
def nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests have just written counts as written long ago."""
    monkeypatch.setattr(readings, "_STILL", 0)


def opened(url: str, token: str, root: int, folder: Path) -> BrowserApp:
    """The app with a conversation open."""
    target = Target(JmftsStore(url, token, folder / "cache"), str(root))
    return BrowserApp(target, Settings(Path("config.toml")), {})


def documents(appliance: Appliance) -> str:
    return appliance.sql("SELECT id, parent_id, usetype, content FROM documents ORDER BY id")


# Forks and prunings


async def test_esc_stops_a_fork_and_nothing_of_it_is_left(
    appliance: Appliance, proxy: Proxy, making: Making, tmp_path: Path
) -> None:
    root, *_ = making.chain(*"abcd")
    before = documents(appliance)
    app = opened(proxy.url, appliance.token, root, tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "G", "f")
        hold = Hold(proxy, "POST /documents", 3)
        await pilot.press("enter")
        await hold.reached(pilot)
        assert "writing" in text(app) and "Esc takes it back" in text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "stopping: what was written is removed again" in text(app)
        hold.release()
        await settle(pilot)
        assert "stopped: nothing of it is left" in text(app)
        assert documents(appliance) == before
        await press(pilot, "enter")  # the plan still holds
        assert isinstance(app.screen, BrowserScreen) and len(tree(app).session or ()) == 4
    assert documents(appliance) != before


async def test_who_quits_while_it_is_written_stops_it(
    appliance: Appliance, proxy: Proxy, making: Making, tmp_path: Path
) -> None:
    root, *_ = making.chain(*"abcd")
    before = documents(appliance)
    app = opened(proxy.url, appliance.token, root, tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "G", "f")
        hold = Hold(proxy, "POST /documents", 3)
        await pilot.press("enter")
        await hold.reached(pilot)
        await pilot.press("ctrl+q")
    hold.release()
    with Journal(config.changes_folder()).lock():  # which the change holds to its end
        pass
    assert documents(appliance) == before


async def test_deleting_cannot_be_stopped_and_says_so(
    appliance: Appliance, proxy: Proxy, making: Making, tmp_path: Path
) -> None:
    root, *_ = making.chain(*"abcd")
    app = opened(proxy.url, appliance.token, root, tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "G", "x", "2")
        assert "Esc stops it only before" in text(app) and "under new numbers" in text(app)
        hold = Hold(proxy, "DELETE", 1)
        await pilot.press("enter", "1", "enter")
        await hold.reached(pilot)
        assert "deleting 1 document · too late to stop: it goes on to its end" in text(app)
        await pilot.press("escape")
        await pilot.pause()
        hold.release()
        await settle(pilot)
        assert isinstance(app.screen, BrowserScreen) and len(tree(app).session or ()) == 3
        await press(pilot, "u", "enter")
        assert len(tree(app).session or ()) == 4


async def test_esc_stops_taking_back_and_it_can_be_asked_again(
    appliance: Appliance, proxy: Proxy, making: Making, tmp_path: Path
) -> None:
    root, *_ = making.chain(*"abcd")
    app = opened(proxy.url, appliance.token, root, tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        tree(app).go_to(1)
        await press(pilot, "x", "2", "enter", "3", "enter")
        assert len(tree(app).session or ()) == 1
        pruned = documents(appliance)
        hold = Hold(proxy, "POST /documents", 2)
        await press(pilot, "u")
        await pilot.press("enter")
        await hold.reached(pilot)
        assert "writing 3 documents · Esc leaves all as it was" in text(app)
        await pilot.press("escape")
        await pilot.pause()
        hold.release()
        await settle(pilot)
        assert "stopped: nothing of it is left" in text(app) and documents(appliance) == pruned
        await press(pilot, "enter")
        assert isinstance(app.screen, BrowserScreen) and len(tree(app).session or ()) == 4


# Enriching


async def test_enriching_is_planned_done_and_told(full: Appliance, tmp_path: Path) -> None:
    making = Making(full)
    root, *_ = making.chain("How are sessions kept?", "Hm.", "In a folder, one file each.")
    app = opened(full.url, full.token, root, tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "E")
        assert "2 entries to embed, ≈ 2 vectors" in text(app)
        assert "1 entry: nothing said, or too little" in text(app)
        await press(pilot, "enter")
        assert "done: 2 embedded" in text(app)
        await press(pilot, "enter")
        assert "nothing to do" in text(app)
        read = tree(app).session
        await press(pilot, "escape")
        assert tree(app).session is not read  # documents with vectors are others to the server
        await press(pilot, "E")
        assert "2 entries: embedded already" in text(app)
    making.close()


async def test_esc_pauses_enriching_and_the_same_key_goes_on(
    full: Appliance, tmp_path: Path
) -> None:
    making = Making(full)
    root, *_ = making.chain("How are sessions kept?", "In a folder, one file each.")
    with proxy_before(full.url) as proxy:
        app = opened(proxy.url, full.token, root, tmp_path)
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            await press(pilot, "E")
            hold = Hold(proxy, "/embed", 1)
            await pilot.press("enter")
            await hold.reached(pilot)
            assert "enriching 2 documents · Esc pauses" in text(app)
            await pilot.press("escape")
            await pilot.pause()
            assert "pausing after this document" in text(app)
            hold.release()
            await settle(pilot)
            assert "paused after 1 embedded" in text(app) and "1 left to do" in text(app)
            await press(pilot, "escape")
            assert isinstance(app.screen, BrowserScreen)
            said = [notice.message for notice in app._notifications]
            assert "paused after 1 embedded; E goes on from there" in said
            await press(pilot, "E")
            assert "1 entry to embed" in text(app) and "1 entry: embedded already" in text(app)
            await press(pilot, "enter")
            assert "done: 1 embedded" in text(app)
    making.close()


async def test_server_that_is_gone_is_told_where_it_was_enriched(
    appliance: Appliance, proxy: Proxy, making: Making, tmp_path: Path
) -> None:
    root, *_ = making.chain("something to embed")
    app = opened(proxy.url, appliance.token, root, tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "E")
        proxy.gone_after = 0
        await press(pilot, "enter")
        assert "not done: " in text(app) and "cannot be reached" in text(app)
        await press(pilot, "enter")
        assert "refused: " in text(app)


async def test_evidence_is_not_enriched(
    appliance: Appliance, making: Making, tmp_path: Path
) -> None:
    root, first, _ = making.chain("something to embed", "and more of it")
    making.message(first, 2, "by another program")
    app = opened(appliance.url, appliance.token, root, tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "E")
        assert "refused: a second program wrote to it" in text(app)
        assert "Enter" not in text(app)


async def test_files_are_not_enriched_and_it_is_said_why() -> None:
    from tests.jmfts.test_changes import TAU_FILES

    app = browse(TAU_FILES[0].parent, TAU_FILES[0])
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "E")
        assert isinstance(app.screen, BrowserScreen) and "enrich: " in text(app)


@SIZES
def test_picture_of_an_enrichment(
    size: tuple[int, int],
    appliance: Appliance,
    making: Making,
    tmp_path: Path,
    snap_compare,
) -> None:  # type: ignore[no-untyped-def]
    root, first, *_, last = making.chain("How are sessions kept?", "Hm.", LONG)
    making.document(
        first,
        usetype="jmfts:chunk",
        title="— chunk 0",
        content="old",
        structured_content={"chunked_from": 9999},
    )
    call = message("", "assistant")
    call["message"]["content"] = [{"type": "toolCall", "id": "c", "name": "read", "arguments": {}}]
    making.entry(last, 4, call)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await press(pilot, "E")

    app = opened(appliance.url, appliance.token, root, tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=before)
