"""Pictures of every screen. A change is looked at, then taken over with --snapshot-update."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tau_browser.tui.app import BrowserApp
from tests.conftest import DATA
from tests.tui.browsing import MEDIUM, SMALL, WIDE, browse, home_in, press, settle

HOME = DATA / "tau" / "home"
SESSIONS = HOME / "sessions" / "--home-dev-demo--"
DAMAGED = DATA / "bugcases" / "13-odd-lines"
MARKUP = DATA / "bugcases" / "40-rich-markup"

Compare = Callable[..., bool]
Before = Callable[[Pilot[None]], Awaitable[None]]


def session(part: str) -> Path:
    """The session in the home store whose file name holds this."""
    return next(SESSIONS.glob(f"*{part}*"))


FORKED = "0e8d7f17"
COMPACTED = "80a508b4"
TOOLS = "7768d191"


def opened(part: str = FORKED, **options: object) -> BrowserApp:
    return browse(HOME, session(part), **options)


def pressing(*keys: str) -> Before:
    """Wait for the session, then press these keys one by one."""

    async def run(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in keys:
            await press(pilot, key)

    return run


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
def test_browser(snap_compare: Compare, theme: str) -> None:
    app = opened(theme=theme)
    assert snap_compare(app, terminal_size=WIDE, run_before=pressing("plus"))


def test_browser_without_colour(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(opened(), terminal_size=WIDE, run_before=pressing("plus"))


def test_browser_in_ascii(snap_compare: Compare) -> None:
    app = opened(ascii_only=True)
    assert snap_compare(app, terminal_size=MEDIUM, run_before=pressing("plus"))


def test_browser_at_80x24(snap_compare: Compare) -> None:
    assert snap_compare(opened(), terminal_size=MEDIUM, run_before=pressing())


def test_sessions_at_80x24(snap_compare: Compare) -> None:
    before = pressing("escape")
    assert snap_compare(opened(), terminal_size=MEDIUM, run_before=before)


def test_tree_at_40x12(snap_compare: Compare) -> None:
    assert snap_compare(opened(), terminal_size=SMALL, run_before=pressing("plus"))


def test_entry_at_40x12(snap_compare: Compare) -> None:
    assert snap_compare(opened(), terminal_size=SMALL, run_before=pressing("tab"))


def test_tools_and_errors(snap_compare: Compare) -> None:
    before = pressing("plus", "g", "right_curly_bracket", "j")
    assert snap_compare(opened(TOOLS), terminal_size=WIDE, run_before=before)


def test_find(snap_compare: Compare) -> None:
    before = pressing("minus", "slash", *"session", "enter", "n")
    assert snap_compare(opened(), terminal_size=WIDE, run_before=before)


def test_find_while_typing(snap_compare: Compare) -> None:
    before = pressing("slash", *"store")
    assert snap_compare(opened(), terminal_size=MEDIUM, run_before=before)


@pytest.mark.parametrize("size", [WIDE, MEDIUM], ids=["140x40", "80x24"])
def test_search(snap_compare: Compare, size: tuple[int, int], tmp_path: Path) -> None:
    app = browse(home_in(tmp_path))
    before = pressing("s", *'"jmfts"', "enter", "j")
    assert snap_compare(app, terminal_size=size, run_before=before)


def test_only_hits(snap_compare: Compare) -> None:
    before = pressing("slash", *"session", "enter", "F")
    assert snap_compare(opened(), terminal_size=WIDE, run_before=before)


def test_model_view(snap_compare: Compare) -> None:
    assert snap_compare(opened(COMPACTED), terminal_size=WIDE, run_before=pressing("c"))


def test_compaction_in_the_full_history(snap_compare: Compare) -> None:
    before = pressing("plus", "less_than_sign")
    assert snap_compare(opened(COMPACTED), terminal_size=WIDE, run_before=before)


def test_compare(snap_compare: Compare) -> None:
    before = pressing("plus", "space", "g", "right_parenthesis", "j", "j", "d")
    assert snap_compare(opened(), terminal_size=WIDE, run_before=before)


def test_coverage(snap_compare: Compare) -> None:
    path = next(DAMAGED.rglob("*.jsonl"))
    app = browse(path.parent, path)
    before = pressing("exclamation_mark", "j")
    assert snap_compare(app, terminal_size=WIDE, run_before=before)


def test_help(snap_compare: Compare) -> None:
    assert snap_compare(opened(), terminal_size=WIDE, run_before=pressing("question_mark"))


def test_help_at_40x12(snap_compare: Compare) -> None:
    assert snap_compare(opened(), terminal_size=SMALL, run_before=pressing("question_mark"))


def test_markup_is_text(snap_compare: Compare) -> None:
    path = next(MARKUP.rglob("*.jsonl"))
    app = browse(path.parent, path)
    assert snap_compare(app, terminal_size=WIDE, run_before=pressing("plus", "g"))
