"""The slider: what has less signal is hidden, and how much that is stands on the screen."""

from __future__ import annotations

from pathlib import Path

from tau_browser.config import Settings
from tau_browser.model.usage import Ledger
from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.entry.parts import View
from tau_browser.tui.entry.present import sections_of
from tests.conftest import DATA
from tests.tui.browsing import MEDIUM, WIDE, browse, press, settle, text, tree

ROOT = DATA / "aethergraph" / "a1-root"
RUN = f"{ROOT}#run:run-20260303-2"


def browse_run() -> BrowserApp:
    target = Target(AethergraphStore([str(ROOT)]), RUN)
    return BrowserApp(target, Settings(Path("config.toml"), keys={}), {})


async def test_hides_what_has_less_and_says_how_much() -> None:
    app = browse_run()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus")
        everything = tree(app).row_count()
        await press(pilot, "v")
        assert tree(app).threshold == 25
        assert "signal ██" in text(app) and "0.25 and more, 0 hidden" in text(app)
        await press(pilot, *["v"] * 8)
        assert tree(app).threshold == 65
        assert "0.65 and more, 6 hidden" in text(app)
        assert "… 1 hidden" in text(app) and "thanks" not in text(app)
        await press(pilot, "V")
        assert tree(app).threshold == 60
        await press(pilot, "escape")
        assert tree(app).threshold == 0 and tree(app).row_count() == everything
        assert "thanks" in text(app)


async def test_a_gap_opens() -> None:
    app = browse_run()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus", *["v"] * 7)
        row = next(at for at in range(tree(app).row_count()) if tree(app).rows.gap(at))  # type: ignore[union-attr]
        tree(app).move_to(row)
        await settle(pilot)
        assert "1 entry with less signal hidden here" in text(app)
        await press(pilot, "enter")
        assert not tree(app).gap


async def test_other_sessions_have_derived_signals() -> None:
    app = browse(DATA / "tau" / "home", DATA / "tau" / "02-forked-tree.jsonl")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "v", "v")
        assert "derived signal" in text(app)


async def test_it_ends_with_the_session(tmp_path: Path) -> None:
    app = browse_run()
    async with app.run_test(size=MEDIUM) as pilot:
        await settle(pilot)
        await press(pilot, "v")
        app.screen._open(f"{ROOT}#run:run-20260302-1")  # type: ignore[attr-defined]
        await settle(pilot)
        assert tree(app).threshold == 0
        await press(pilot, "v")
        assert tree(app).threshold == 25


async def test_columns_of_an_event_come_with_the_width() -> None:
    app = browse_run()
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "1", "3", "plus")
        row = next(line for line in text(app).splitlines() if "TimeoutError" in line)
        for column in ("#retry", "latency_ms 30012", "observe", "s5", "1.00"):
            assert column in row
        await press(pilot, "3")
        row = next(line for line in text(app).splitlines() if "TimeoutError" in line)
        assert "s5" in row and "#retry" not in row


def test_the_entry_tells_the_four_parts_and_where_it_is_stored() -> None:
    shown = entry_of(RUN, "0a9ee25d61317a42478ed1e7")
    assert "signal: 1 = 0.15 base + 0.5 severity + 0.163 text + 0.2 metrics" in shown
    assert "file: memory/mem/run-20260303-2/events/2026-03-03.jsonl" in shown
    assert shown.count("TimeoutError") == 1


def test_an_answer_tells_which_of_its_citations_its_text_uses() -> None:
    shown = entry_of(f"{ROOT}#run:run-20260304-4", "3a9e4f038d7b8f77dc773a95")
    assert "[1] cited  assistant_msg:act:2026-03-03T15:00:54Z" in shown
    assert "[2] not cited  assistant_msg:act:2026-03-04T23:59:24Z" in shown
    assert "verified by its SHA-256" in shown and "chunk_id" in shown
    assert "citations" not in shown.partition("links")[2]


def entry_of(path: str, entry_id: str) -> str:
    """All that is shown of an entry."""
    *_, last = AethergraphStore([str(ROOT)]).open(path).load()
    assert last.session is not None
    (place,) = last.session.find(entry_id)
    sections = sections_of(last.session, place, "", View(), Ledger(last.session, {}))
    return "\n".join(section.text for section in sections)
