"""Searches that are saved, searched for again, and copied as commands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from tau_browser import config
from tau_browser.model.text import safe_line
from tau_browser.search.commands import command_line
from tau_browser.search.manner import Manner
from tau_browser.search.query import Query
from tau_browser.search.results import Asking, Hit
from tau_browser.search.saved import Saved, SavedError, SavedSearches, saved_of
from tau_browser.tui.copy_menu import CopyMenu, deliver
from tau_browser.tui.prompt import Prompt
from tau_browser.tui.search.query_line import QueryLine
from tau_browser.tui.search.searches_screen import SearchesScreen

if TYPE_CHECKING:
    from tau_browser.tui.app import BrowserApp

    _Base = Screen[Any]
else:
    _Base = object

_SAVE_AS = "save the search as"


class Keeping(_Base):
    """Keeps what is typed and how it is asked."""

    app: BrowserApp
    _how: Asking
    _line: QueryLine
    _prompt: Prompt

    # What the search does for it

    @property
    def _manner(self) -> Manner:
        raise NotImplementedError

    @property
    def _selected(self) -> Hit | None:
        raise NotImplementedError

    def _look(self, how: Asking) -> None:
        raise NotImplementedError

    def _asked_here(self, asking: Asking) -> Asking:
        raise NotImplementedError

    def _focus_found(self) -> None:
        raise NotImplementedError

    def _say(self, text: str) -> None:
        raise NotImplementedError

    # What the keys do

    def action_searches(self) -> None:
        """Search for what was sought before."""
        self.app.push_screen(SearchesScreen(self.app.glyphs), self._recall)

    def _recall(self, search: Saved | None) -> None:
        if search is not None:
            weights = {**self._manner.weights, **search.weights}
            how = replace(self._how, method=search.method, weights=weights)
            self._look(replace(how, fused_by=search.fused_by))
            self._line.put(search.query)

    def action_save(self) -> None:
        """Save the search under a name."""
        if self._line.text.strip():
            self._prompt.ask(_SAVE_AS)
        else:
            self._say("type a query first")

    def on_prompt_accepted(self, event: Prompt.Accepted) -> None:
        self._left_prompt()
        searches, search = SavedSearches(config.state_folder()), self._search_typed()
        try:
            replaced = searches.save(event.value, search)
        except SavedError as error:
            self._say(safe_line(str(error)))
            return
        instead = ", in place of another of this name" if replaced else ""
        self._say(f"saved as {safe_line(event.value.strip())}{instead}: Ctrl+R lists all")

    def on_prompt_left(self) -> None:
        self._left_prompt()

    def _left_prompt(self) -> None:
        self._prompt.hide()
        self._focus_found()

    def _search_typed(self) -> Saved:
        return saved_of(replace(self._how, query=Query(self._line.text)))

    def action_copy(self) -> None:
        """Copy the search as a command, or what of it is selected."""
        query, hit = self._line.text, self._selected
        here = self._asked_here(self._how)
        command = command_line(self._search_typed(), here.paths, here.reach)
        choices = {"c": ("command", command), "t": ("query", query)}
        if hit is not None:
            choices |= {"i": ("id", hit.entry), "p": ("path", hit.standing.path)}
        self.app.push_screen(CopyMenu(choices), self._copy)

    def _copy(self, chosen: tuple[str, bool] | None) -> None:
        if chosen is not None:
            self._say(deliver(self.app, *chosen))
