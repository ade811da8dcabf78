"""What a person sees of a search on a server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from tau_browser.config import Settings
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.browser import BrowserScreen
from tau_browser.tui.entry import EntryPane
from tests.jmfts.appliance import Appliance
from tests.jmfts.gate import Gate
from tests.jmfts.making import Making
from tests.tui.browsing import lines, press, results, search_screen, settle, text, tree

_PATIENCE = 60  # seconds until a test that waits for something has failed
SMALL, LARGE = (80, 24), (120, 40)


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def browse(store: JmftsStore, opened: int | None = None) -> BrowserApp:
    target = Target(store, None if opened is None else str(opened))
    return BrowserApp(target, Settings(Path("config.toml"), keys={}), {})


async def search(pilot: Pilot[None], query: str) -> None:
    """Open the search and type a query."""
    await press(pilot, "s")
    await pilot.press(*(_KEYS.get(char, char) for char in query))


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait for something that is bound to come."""
    end = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < end, text(pilot.app)
        await pilot.pause()


def shown(app: BrowserApp) -> list[str]:
    """The entries that are shown, in order."""
    return [row.hits[0].entry for row in results(app)._rows if not row.is_head]


def answered(app: BrowserApp) -> str:
    """The query whose answer is shown."""
    question = search_screen(app)._answered
    return question.text if question is not None else ""


def selected(app: BrowserApp) -> str:
    hit = results(app).selected
    assert hit is not None
    return hit.entry


_KEYS = {" ": "space", ":": "colon"}


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "120x40"])
def test_picture(
    store: JmftsStore, making: Making, snap_compare: Any, size: tuple[int, int]
) -> None:
    root, first, *_ = making.chain(
        "Why is the fox so quick?", "The quick brown fox is quick by nature.", "And the dog?"
    )
    making.message(first, 4, "A fox runs because it must.", "assistant")
    making.chain("Draw a fox.", "Here is a fox.", id="1" * 32, cwd="/proj/art")
    making.document(title="field guide", content="The fox is a small animal.", usetype="book")

    async def find(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await search(pilot, "quick fox")
        await settle(pilot)
        await press(pilot, "enter", "w", "l", "escape", "g", "down", "down")
        await until(pilot, lambda: "Session (" not in text(pilot.app))  # titles come behind

    assert snap_compare(browse(store, root), terminal_size=size, run_before=find)


async def test_methods_that_a_server_cannot_do_are_struck_out_with_the_reason(
    store: JmftsStore, making: Making
) -> None:
    making.chain("the fox")
    app = browse(store)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await search(pilot, "fox")
        await settle(pilot)
        assert "no vector · no maxsim" in lines(app)[0]
        assert "no vector, maxsim: " in lines(app)[-2]
        await press(pilot, "enter", "w")
        assert sum("not to be had: " in line for line in lines(app)[20:-4]) == 2


async def test_the_server_s_own_mixture_is_one_key_away(store: JmftsStore, making: Making) -> None:
    making.chain("the fox")
    app = browse(store)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await search(pilot, "fox")
        await settle(pilot)
        await press(pilot, "enter", "w", "j", "j", "l")
        assert "mixture  server" in text(app)
        assert "bm25 0.14 · fulltext 0" in lines(app)[0] and "· rrf" in lines(app)[0]
        await press(pilot, "l")
        assert "mixture  usual" in text(app)


async def test_where_it_looks_is_chosen_and_said(store: JmftsStore, making: Making) -> None:
    root, first, second = making.chain("one fox", "two foxes")
    aside = making.message(first, 3, "fox aside")
    _, other = making.chain("another fox", id="1" * 32)
    _, far = making.chain("a far fox", id="2" * 32, cwd="/proj/far")
    note = making.document(title="note", content="fox of nobody", usetype="note")
    app = browse(store, root)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await search(pilot, "fox")
        await settle(pilot)
        everywhere = {str(each) for each in (first, second, aside, other, far)}
        assert set(shown(app)) == everywhere
        await press(pilot, "enter", "w", "l", "escape")
        assert "· in everything ·" in text(app)
        assert set(shown(app)) == everywhere | {str(note)}
        await press(pilot, "w", "l", "escape")
        assert "· in this session ·" in text(app)
        assert set(shown(app)) == {str(each) for each in (first, second, aside)}
        await press(pilot, "w", "l", "escape")
        assert set(shown(app)) == everywhere - {str(far)}
        await press(pilot, "w", "l", "escape")
        assert "· in this branch ·" in text(app)
        assert str(second) not in shown(app)  # τ reopens what was written last: the other branch
        assert set(shown(app)) == {str(first), str(aside)}


async def test_what_belongs_to_no_session_is_shown_and_said(
    store: JmftsStore, making: Making
) -> None:
    making.chain("the dog")
    note = making.document(title="of foxes", content="fox of nobody", usetype="note")
    app = browse(store)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await search(pilot, "fox")
        await settle(pilot)
        await press(pilot, "enter", "w", "l", "escape")
        assert "in no session" in text(app) and "fox of nobody" in text(app)
        assert f"Document {note} · in no session" in text(app)
        await press(pilot, "enter")
        assert f"document {note} belongs to no session · title: of foxes · kind: note" in text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, BrowserScreen)


async def test_fast_methods_are_drawn_first_and_the_selection_stays(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, *some = making.chain("fox trot", "the foxes and the fox and more", "fox trotting")
    gate = Gate(store.client, "fulltext", monkeypatch)
    app = browse(store)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        query = "foxes fox trots"
        await search(pilot, query)
        # answers to what was typed by then come, too
        await until(pilot, lambda: answered(app) == query and "fulltext to come" in text(app))
        assert set(shown(app)) <= {str(each) for each in some}
        before = shown(app)
        await pilot.press("enter", "down")
        await until(pilot, lambda: selected(app) == before[1])
        gate.open()
        await settle(pilot)
        assert "fulltext to come" not in text(app)
        assert selected(app) == before[1]


async def test_requests_of_an_older_query_are_cancelled_and_their_answers_dropped(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, fox, dog = making.chain("the fox", "the dog")
    gate = Gate(store.client, "fulltext", monkeypatch)
    app = browse(store)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await search(pilot, "fox")
        await until(pilot, lambda: shown(app) == [str(fox)])
        await pilot.press("ctrl+u", *"dog")
        await until(pilot, lambda: shown(app) == [str(dog)])
        await until(pilot, lambda: "fox" in gate.given_up)
        gate.open()
        await settle(pilot)
        assert shown(app) == [str(dog)] and gate.waiting[-1] == "dog"


@pytest.fixture
def car(full: Appliance, tmp_path: Path) -> Iterator[tuple[JmftsStore, list[int]]]:
    """A store with a conversation that late interaction finds for "car trouble"."""
    making, store = Making(full), JmftsStore(full.url, full.token, tmp_path / "cache")
    numbers = making.chain("What about my vehicle?", "Vehicle repair takes a week.", "Thanks")
    making.request("POST", f"/documents/{numbers[2]}/embed?with_tokens=true")
    yield store, numbers
    store.close()
    making.close()


async def test_what_late_interaction_probably_matched_is_said_and_marked(
    car: tuple[JmftsStore, list[int]],
) -> None:
    store, (_, _, found, _) = car
    app = browse(store)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await search(pilot, "car trouble")
        await settle(pilot)
        assert "≈ vehicle (for car 0." in text(app)
        assert nearly_marked(app) == ["Vehicle"]
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: "≈ vehicle" in text(app))
        await settle(pilot)
        view = tree(app)
        assert view.session is not None and view.filtered
        assert view.entry == view.session.find(str(found))[0]
        assert nearly_marked(app) == ["Vehicle"]
        rows = [view.draw(row, 100)[0] for row in range(view.row_count())]
        near = [[said for said, style in row if style == "near"] for row in rows]
        assert near == [["vehicle"], ["Vehicle"], []]  # who asked, the hit, what is hidden
        assert "≈ vehicle (for car 0." in lines(app)[-2]  # of the entry under the cursor
        await press(pilot, "escape")
        await settle(pilot)
        assert not view.likely


def nearly_marked(app: BrowserApp) -> list[str]:
    """What the entry that is shown marks as near to what is sought."""
    pane = app.screen.query_one(EntryPane)
    rows = pane.render_lines(Region(0, 0, *pane.size))
    styled = [segment for strip in rows for segment in strip if segment.style]
    return [it.text for it in styled if it.style.underline and it.style.italic]


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "120x40"])
def test_picture_of_what_late_interaction_found(
    car: tuple[JmftsStore, list[int]], snap_compare: Any, size: tuple[int, int]
) -> None:
    async def find(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await search(pilot, "car trouble")
        await settle(pilot)
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: "≈" in text(pilot.app))
        await settle(pilot)

    assert snap_compare(browse(car[0]), terminal_size=size, run_before=find)
