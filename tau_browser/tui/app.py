"""The application: one browser over one store, with its themes, keys and commands.

The first frame needs Textual and nothing else. The browser, with the model behind it (some 300 ms
of imports), is loaded in a thread while that frame is on screen.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from tau_browser import config
from tau_browser.tui import keys
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import ASCII, UNICODE

if TYPE_CHECKING:
    from pathlib import Path

    from tau_browser.stores.targets import Target


class BrowserApp(App[None]):
    """tau-browse on a screen."""

    TITLE = "tau-browse"
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.APP)]
    COMMAND_PALETTE_BINDING = "ctrl+p"

    def __init__(
        self,
        target: Target,
        settings: config.Settings,
        prices: dict[str, dict[str, float]],
        *,
        ascii_only: bool = False,
        theme: str | None = None,
        cache_folder: Path | None = None,
    ) -> None:
        """`cache_folder`: where indexes are kept; None: where they usually are."""
        super().__init__()
        self.target = target
        self.settings = settings
        self.prices = prices
        self._cache_folder = cache_folder
        self.glyphs = ASCII if ascii_only or settings.ascii else UNICODE
        if theme in self.available_themes:
            self.theme = theme
        self.set_keymap(settings.keys)

    @property
    def cache_folder(self) -> Path:
        """Where what can be made anew is kept."""
        return self._cache_folder or config.cache_folder()

    def compose(self) -> ComposeResult:
        yield Bar("tau-browse")
        yield Widget()
        yield Bar("opening")

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda theme: self._remember_theme(theme.name))
        self.call_after_refresh(self._load_browser)

    @work(thread=True)
    def _load_browser(self) -> None:
        from tau_browser.tui.browser import BrowserScreen

        self.call_from_thread(self._show_browser, BrowserScreen)

    def _show_browser(self, browser: Callable[[], Screen[None]]) -> None:
        self.push_screen(browser())
        self.call_after_refresh(_settle_memory)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every verb by its name, for the palette."""
        yield from super().get_system_commands(screen)
        own = keys.OF_SCREENS.get(type(screen).__name__, [])
        tables = (("app.", keys.APP), ("screen.", own), ("", keys.TREE), ("", keys.ENTRY))
        for owner, table in tables:
            for key in table:
                run = self._runner(f"{owner}{key.verb}")
                yield SystemCommand(key.verb.replace("_", " "), key.does, run)

    def action_help(self) -> None:
        from tau_browser.tui.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.glyphs, self.settings.keys))

    def _runner(self, action: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await self.run_action(action, self.screen.focused or self.screen)

        return run

    def _remember_theme(self, name: str) -> None:
        # forgetting the theme is no reason to disturb anybody
        with contextlib.suppress(OSError):
            config.remember(theme=name)


def run(target: Target, *, ascii_only: bool = False) -> int:
    """Open the app; returns the exit code. Raises ConfigError before anything is drawn."""
    import os

    settings = config.settings()
    config.use_rules(settings)
    theme = settings.theme or config.remembered().get("theme")
    app = BrowserApp(
        target, settings, config.prices(os.environ), ascii_only=ascii_only, theme=theme
    )
    app.run()
    return app.return_code or 0


def _settle_memory() -> None:
    """The widgets of the first frame live as long as the app: later collections skip them."""
    gc.collect()
    gc.freeze()
