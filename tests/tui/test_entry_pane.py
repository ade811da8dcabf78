"""The entry pane on the screen: keys, drawing beside the event loop, what is found."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.geometry import Region
from textual.pilot import Pilot

from tau_browser.model.session import Session
from tau_browser.tui.entry import EntryPane
from tests.conftest import log_of, message, read
from tests.tui.entries import ACTING, EVERYWHERE, PRICES, case, fixture, one_entry


class Alone(App[None]):
    """The pane and nothing else."""

    CSS = "Container { border: round $primary; }"

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.pane = EntryPane(PRICES, **options)
        self.shown = 0

    def compose(self) -> ComposeResult:
        with Container():
            yield self.pane

    def on_entry_pane_shown(self) -> None:
        self.shown += 1


async def settle(pilot: Pilot[None]) -> None:
    """Wait until what was asked for has been drawn."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def show(pilot: Pilot[None], session: Session, entry: int | str = 0) -> EntryPane:
    pane = pilot.app.pane  # type: ignore[attr-defined]
    place = session.find(entry)[0] if isinstance(entry, str) else entry
    pane.show(session, place, "path")
    pane.focus()
    await settle(pilot)
    return pane


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


def screen(pane: EntryPane) -> list[str]:
    """The visible rows of the pane."""
    strips = pane.render_lines(Region(0, 0, pane.size.width, pane.size.height))
    return [strip.text for strip in strips]


def words_of(*words: str) -> Any:
    """What the find bar hands over: where these words stand in a text."""
    sought = re.compile("|".join(words))
    return lambda text: [match.span() for match in sought.finditer(text)]


LONG = message("a", None, "\n\n".join(f"line {number} of many" for number in range(90)))


async def test_nothing_is_selected_at_first_and_after_clearing() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        assert screen(app.pane)[0].strip() == "Nothing is selected."
        pane = await show(pilot, fixture("01"), "85984200")
        assert screen(pane)[0].startswith(" assistant  85984200  path ")
        assert pane.place is not None
        pane.clear()
        await settle(pilot)
        assert screen(pane)[0].strip() == "Nothing is selected."
        assert pane.place is None


async def test_keys_scroll() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, one_entry(LONG))
        assert pane.size.height == 18
        for keys, at in {
            "j": 1,
            "down": 2,
            "k": 1,
            "up": 0,
            "pagedown": 17,
            "pageup": 0,
            "G": pane.max_scroll_y,
            "g": 0,
            "end": pane.max_scroll_y,
            "home": 0,
        }.items():
            await press(pilot, keys)
            assert pane.scroll_offset.y == at, keys
        pane.scroll_half_page(1)
        assert pane.scroll_offset.y == 9
        pane.scroll_half_page(-1)
        assert pane.scroll_offset.y == 0


async def test_the_wheel_scrolls() -> None:
    from textual.events import MouseScrollDown

    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, one_entry(LONG))
        await pilot._post_mouse_events([MouseScrollDown], pane)
        await settle(pilot)
        assert pane.scroll_offset.y > 0


async def test_another_entry_is_shown_from_its_top_the_same_where_it_was() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        second = message("b", "a", LONG["message"]["content"][0]["text"])
        data = log_of([LONG, second])
        pane = await show(pilot, read(data), "a")
        await press(pilot, "pagedown")
        grown = read(data + json.dumps(message("c", "b", "new")).encode() + b"\n")
        await show(pilot, grown, "a")
        assert pane.scroll_offset.y == 17
        await show(pilot, grown, "b")
        assert pane.scroll_offset.y == 0


async def test_toggles() -> None:
    app = Alone()
    async with app.run_test(size=(60, 40)) as pilot:
        pane = await show(pilot, fixture("01"), "edb2b4ad")
        assert "▸ thinking, 29 characters" in "\n".join(screen(pane))
        await press(pilot, "T")
        assert "▾ thinking, 29 characters" in "\n".join(screen(pane))
        await press(pilot, "J")
        assert '"type": "message",' in "\n".join(screen(pane))
        await press(pilot, "J", "T")
        assert "▸ thinking" in "\n".join(screen(pane))


async def test_more() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        session = one_entry(message("a", None, "x" * 20_000))
        pane = await show(pilot, session)
        rows = pane.virtual_size.height
        assert pane.is_cut
        await press(pilot, "m")
        assert not pane.is_cut
        assert pane.virtual_size.height > 2 * rows
        before = pane.virtual_size
        await press(pilot, "m")
        assert pane.virtual_size == before
        other = one_entry(message("b", None, "x" * 20_000))
        await show(pilot, other)
        assert pane.is_cut


async def test_a_late_answer_never_overwrites_a_newer_one() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        session = fixture("01")
        pane = app.pane
        for place in range(len(session)):
            pane.show(session, place)
            if place % 5 == 0:
                await pilot.pause(0.07)
        await settle(pilot)
        last = session.entry_id(len(session) - 1)
        assert last in screen(pane)[0]
        assert pane.place == len(session) - 1


async def test_running_through_entries_draws_only_the_one_at_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawings: list[int] = []
    draw = EntryPane._draw

    def counting(self: EntryPane, *args: Any) -> None:
        drawings.append(1)
        draw(self, *args)

    monkeypatch.setattr(EntryPane, "_draw", counting)
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        session = fixture("01")
        for place in range(10):
            app.pane.show(session, place)
        await settle(pilot)
        assert len(drawings) == 1
        app.pane.show(session, 3)
        await settle(pilot)
        app.pane.show(session, 9)
        await settle(pilot)
        assert len(drawings) == 2


async def test_rows_follow_the_width() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, one_entry(message("a", None, "word " * 200)))
        wide = pane.virtual_size.height
        await pilot.resize_terminal(30, 20)
        await settle(pilot)
        assert pane.virtual_size.height > wide
        assert {cell_len(row) for row in screen(pane)} == {pane.size.width}


async def test_the_theme_is_followed() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, fixture("01"), "85984200")

        def colours() -> set[Any]:
            strips = pane.render_lines(Region(0, 0, pane.size.width, 3))
            return {segment.style.color for strip in strips for segment in strip if segment.style}

        dark = colours()
        app.theme = "textual-light"
        await settle(pilot)
        assert not dark & colours()


async def test_without_colour_nothing_has_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, fixture("01"), "0fd0fb2f")
        for strip in pane.render_lines(Region(0, 0, pane.size.width, pane.size.height)):
            for segment in strip:
                red, green, blue = segment.style.color.triplet  # type: ignore[union-attr]
                assert red == green == blue
        assert "+check(pw)" in "\n".join(screen(pane))


@pytest.mark.parametrize("number", ["39", "41"])
async def test_no_strip_holds_anything_that_acts(number: str) -> None:
    session = case(number)
    app = Alone()
    async with app.run_test(size=(40, 12)) as pilot:
        for place in range(len(session)):
            pane = await show(pilot, session, place)
            region = Region(0, 0, pane.size.width, max(1, pane.virtual_size.height))
            for strip in pane.render_lines(region):
                assert not ACTING.search(strip.text)
                assert cell_len(strip.text) == pane.size.width


async def test_what_reaches_the_terminal_holds_no_sequence_but_those_of_the_screen() -> None:
    app = Alone()
    async with app.run_test(size=(60, 40)) as pilot:
        pane = await show(pilot, one_entry({**EVERYWHERE, "type": "message"}))
        written = "".join(
            strip.render(app.console)
            for strip in pane.render_lines(Region(0, 0, pane.size.width, pane.size.height))
        )
        without_colours = re.sub(r"\x1b\[[0-9;]*m", "", written)
        assert not ACTING.search(without_colours)
        assert unicodedata.normalize("NFC", "␛]52;c;aGk=␇") in without_colours


async def test_matches_are_marked_and_gone_to() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, one_entry(LONG))
        pane.highlight(words_of("line 7"))
        await settle(pilot)
        assert (pane.matches, pane.match) == (11, 0)
        row = next(row for row in screen(pane) if "line 7 of" in row)
        strip = pane.render_lines(Region(0, 0, pane.size.width, 18))[screen(pane).index(row)]
        marked = [segment.text for segment in strip if segment.style and segment.style.reverse]
        assert marked == ["line 7"]
        assert all(segment.style.underline for segment in strip if segment.text == "line 7")
        for _ in range(10):
            assert pane.next_match()
        await settle(pilot)
        assert any("line 79 of" in row for row in screen(pane))
        assert not pane.next_match()
        assert pane.previous_match()
        assert pane.match == 9
        pane.highlight(None)
        assert (pane.matches, pane.match) == (0, None)


async def test_what_is_near_is_marked_otherwise_and_gone_to_as_well() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, one_entry(LONG))
        pane.highlight(words_of("line 70"), words_of("line 60"))
        await settle(pilot)
        assert (pane.matches, pane.match) == (2, 0)
        assert any("line 60 of" in row for row in screen(pane))
        drawn = pane.render_lines(Region(0, 0, pane.size.width, 18))
        styles = {it.text: it.style for strip in drawn for it in strip if it.style}
        assert styles["line 60"].italic and not styles["line 60"].reverse
        assert pane.next_match() and not pane.next_match()
        await settle(pilot)
        drawn = pane.render_lines(Region(0, 0, pane.size.width, 18))
        styles = {it.text: it.style for strip in drawn for it in strip if it.style}
        assert styles["line 70"].reverse and not styles["line 70"].italic


async def test_the_first_match_of_the_next_entry_is_gone_to() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, fixture("01"))
        pane.highlight(words_of("line 60"))
        assert pane.matches == 0
        await show(pilot, one_entry(LONG))
        assert (pane.matches, pane.match) == (1, 0)
        assert any("line 60 of" in row for row in screen(pane))


async def test_an_expression_without_end_marks_nothing() -> None:
    from tau_browser.search.find import QueryError

    def endless(_: str) -> list[tuple[int, int]]:
        raise QueryError("takes too long")

    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = await show(pilot, fixture("01"))
        pane.highlight(endless)
        assert pane.matches == 0


async def test_the_text_of_the_pane_has_no_line_ends_of_the_width() -> None:
    app = Alone()
    async with app.run_test(size=(30, 20)) as pilot:
        pane = await show(pilot, one_entry(message("a", None, "word " * 50)))
        assert ("word " * 50).strip() in pane.text()


async def test_whatever_goes_wrong_is_said_in_the_pane(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        session = fixture("01")

        def fail(start: int, stop: int) -> bytes:
            raise OSError("stale handle")

        monkeypatch.setattr(session.source, "read", fail)
        pane = await show(pilot, session)
        assert "This entry cannot be shown: OSError" in screen(pane)[0]


async def test_who_listens_is_told_when_an_entry_is_shown() -> None:
    app = Alone()
    async with app.run_test(size=(60, 20)) as pilot:
        await show(pilot, fixture("01"))
        assert app.shown == 1
