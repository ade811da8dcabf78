"""The index behind the search: brought up to date while one searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import work
from textual.screen import Screen

from tau_browser.search.engines import engine_for
from tau_browser.tui.loading import Pace
from tau_browser.tui.search import searching

if TYPE_CHECKING:
    from tau_browser.search.engines import AnyEngine
    from tau_browser.tui.app import BrowserApp

    _Base = Screen[Any]
else:
    _Base = object

_PAUSED = "indexing is paused: Ctrl+T goes on"


class Indexing(_Base):
    """Keeps the index up to date, and asks again when there is more to be found."""

    app: BrowserApp
    _unanswered: bool

    def __init__(self) -> None:
        super().__init__()
        self._index_said = ""
        self._indexing = self._paused = False
        self._behind = True  # the index may lack something
        self._due = False  # indexing is to go on once it is over
        self._retry = Pace()

    # What the search does for it

    def _search_again(self) -> None:
        raise NotImplementedError

    def _learn(self) -> Any:
        raise NotImplementedError

    def _show_status(self) -> None:
        raise NotImplementedError

    # What it does

    def _index(self) -> None:
        self._due = self._indexing  # what is written meanwhile may be missed
        if not self._indexing:
            self._indexing = True
            self._bring_up_to_date(engine_for(self.app.target.store, self.app.cache_folder))

    @work(thread=True, group="index", exit_on_error=False)
    def _bring_up_to_date(self, engine: AnyEngine) -> None:
        searching.bring_up_to_date(engine, self.post_message, lambda: self._paused)

    def on_index_news(self, event: searching.IndexNews) -> None:
        self._indexing = not event.over
        self._index_said = event.said
        self._behind = event.behind or (self._behind and not event.over)
        if event.over:
            self._learn()
        if event.over and self._due and not self._paused:
            self._index()
        if self._paused and event.over:
            self._index_said = _PAUSED
        self._show_status()
        if event.changed or (self._unanswered and self._retry()):
            self._search_again()

    def action_pause_indexing(self) -> None:
        """Stop indexing where it is, or go on from there."""
        self._paused = not self._paused
        if self._paused:
            self._index_said = _PAUSED
            self._show_status()
        else:
            self._index()

    def sessions_changed(self) -> None:
        """Something in the store was written: it is to be found too."""
        if self.is_current and not self._paused:
            self._index()
