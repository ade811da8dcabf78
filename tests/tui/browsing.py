"""What the tests of the screens share: an app over fixtures, and the screen as text."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot
from textual.worker import Worker, WorkerCancelled

from tau_browser.config import Settings
from tau_browser.stores.targets import Target, store_over
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.browser import BrowserScreen
from tau_browser.tui.entry import EntryPane
from tau_browser.tui.search.results_view import ResultsView
from tau_browser.tui.search.screen import SearchScreen
from tau_browser.tui.session_list import SessionList
from tau_browser.tui.tree_view import TreeView
from tests.conftest import DATA

WIDE = (140, 40)
MEDIUM = (80, 24)
SMALL = (40, 12)


def browse(root: Path | str, opened: Path | str | None = None, **options: object) -> BrowserApp:
    """An app over the sessions below a path; `opened` is open from the start."""
    target = Target(store_over([str(root)], None), str(opened) if opened else None)
    settings = Settings(Path("config.toml"), keys=options.pop("keys", {}))  # type: ignore[arg-type]
    return BrowserApp(target, settings, {}, **options)  # type: ignore[arg-type]


def home_in(folder: Path) -> Path:
    """A copy of the home store in which no two files are of the same age: equal scores are told
    apart by what was indexed first, which is what changed last."""
    home = folder / "home"
    shutil.copytree(DATA / "tau" / "home", home)
    for at, path in enumerate(sorted(home.rglob("*.jsonl"))):
        os.utime(path, (1_800_000_000 + at, 1_800_000_000 + at))
    return home


def search_screen(app: BrowserApp) -> SearchScreen:
    screen = app.screen
    assert isinstance(screen, SearchScreen)
    return screen


def results(app: BrowserApp) -> ResultsView:
    return search_screen(app).query_one(ResultsView)


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing runs behind the screen and all that was posted is shown."""
    calm = 0
    while calm < 3:  # what was shown may have led to more, such as a new width to a new drawing
        await pilot.pause()
        running = _running(pilot.app)
        with contextlib.suppress(WorkerCancelled):  # another has taken its place
            for worker in running:
                await worker.wait()
        calm = 0 if running or _has_new_width(pilot.app) else calm + 1


def _has_new_width(app: App[None]) -> bool:
    """Whether an entry is still drawn for the width that its pane had before."""
    panes = app.screen.query(EntryPane)
    return any(pane._key() not in (None, pane._asked) for pane in panes)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait for what they lead to."""
    await pilot.press(*keys)
    await settle(pilot)


async def until(pilot: Pilot[None], what: str) -> None:
    """Wait until something stands on the screen that comes by itself."""
    app = pilot.app
    assert isinstance(app, BrowserApp)
    for _ in range(600):
        if what in text(app):
            return
        await pilot.pause(0.05)  # between two looks at the screen: not a wait for anything
    raise AssertionError(f"{what!r} does not come:\n{text(app)}")


def lines(app: BrowserApp) -> list[str]:
    """The screen as text, a string per line."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def text(app: BrowserApp) -> str:
    """The screen as one text."""
    return "\n".join(lines(app))


def tree(app: BrowserApp) -> TreeView:
    return _browser(app).query_one(TreeView)


def sessions(app: BrowserApp) -> SessionList:
    return _browser(app).query_one(SessionList)


def entry(app: BrowserApp) -> EntryPane:
    return _browser(app).query_one(EntryPane)


def chosen(app: BrowserApp) -> str:
    """The id of the entry under the cursor."""
    view = tree(app)
    assert view.session is not None and view.entry is not None
    return view.session.entry_id(view.entry)


def _browser(app: BrowserApp) -> BrowserScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, BrowserScreen))


def _running(app: App[None]) -> list[Worker[object]]:
    """What comes to its end by itself: a capture goes on until it is told to end."""
    return [each for each in app.workers if not each.is_finished and each.group != "capture"]
