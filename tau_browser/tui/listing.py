"""The browser's list of sessions: read behind the screen, and what is on screen looked into."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work
from textual.worker import Worker, WorkerState, get_current_worker

from tau_browser.model.text import safe_line
from tau_browser.stores.store import Listed
from tau_browser.tui import loading
from tau_browser.tui.coverage import Coverage

if TYPE_CHECKING:
    from textual.screen import Screen

    from tau_browser.stores.store import OpenSession
    from tau_browser.tui.app import BrowserApp
    from tau_browser.tui.search.screen import SearchScreen
    from tau_browser.tui.session_list import SessionList

    _Base = Screen[None]
else:
    _Base = object

_LOOK_EVERY = 0.3  # seconds
_LOOKED_AT_ONCE = 5  # what is on screen by then is looked into next
_ENDED = (WorkerState.SUCCESS, WorkerState.ERROR, WorkerState.CANCELLED)


class Listing(_Base):
    """Lists the sessions of the store, again and again."""

    app: BrowserApp
    _sessions: SessionList
    _opened: OpenSession | None
    _search: SearchScreen | None

    def __init__(self) -> None:
        super().__init__()
        self._coverage = Coverage({}, [])
        self._listing = False
        self._looking = False
        self._looked: set[str] = set()  # sessions that were looked into, as their list told little

    # What the browser does for it

    def _show_titles(self) -> None:
        raise NotImplementedError

    def _show_status(self, text: str | None = None) -> None:
        raise NotImplementedError

    # The list

    def _begin_listing(self) -> None:
        self._refresh_list()
        self.set_interval(self.app.target.store.refresh_every, self._refresh_list)
        self.set_interval(_LOOK_EVERY, self._look_at_screen)

    def _list_again(self) -> None:
        self._looked.clear()
        self._refresh_list()

    def _listing_changed(self, event: Worker.StateChanged) -> None:
        """What happened to a worker, which may have been one of ours."""
        if event.worker.group == "look" and event.state in _ENDED:
            self._looking = False
        if event.worker.group == "list" and event.state is WorkerState.ERROR:
            self._listing = False

    def _refresh_list(self) -> None:
        if not self._listing:
            self._listing = True
            self._list()

    @work(thread=True, group="list", exit_on_error=False)
    def _list(self) -> None:
        worker = get_current_worker()
        loading.list_sessions(self.app.target.store, self.post_message, lambda: worker.is_cancelled)

    def on_sessions_found(self, event: loading.SessionsFound) -> None:
        self._listing = not event.done
        if self._search is not None and event.sessions != self._coverage.sessions:
            self._search.sessions_changed()
        self._coverage = Coverage(event.sessions, event.unreadable)
        self._sessions.loading_text = "" if event.sessions else "no sessions here"
        self._sessions.show(event.sessions)
        self._show_titles()
        if self._opened is None:
            self._sessions.select_first()

    def on_list_failed(self, event: loading.ListFailed) -> None:
        self._listing = False
        reason = safe_line(event.reason)
        self._sessions.loading_text = reason
        self._sessions.refresh()
        self._show_status(reason)

    def _look_at_screen(self) -> None:
        """Look into the sessions on screen of which the list told only what is cheap."""
        if self._looking:
            return
        wanted = [
            listed
            for listed in self._on_screen()
            if listed.summary is not None
            and listed.summary.partial
            and listed.path not in self._looked
        ][:_LOOKED_AT_ONCE]
        if wanted:
            self._looking = True
            self._looked |= {listed.path for listed in wanted}
            self._look_into(wanted)

    def _on_screen(self) -> list[Listed]:
        if self._search is None or not self._search.is_current:
            return self._sessions.on_screen()
        sessions = self._coverage.sessions
        return [sessions[path] for path in self._search.on_screen() if path in sessions]

    @work(thread=True, group="look", exit_on_error=False)
    def _look_into(self, wanted: list[Listed]) -> None:
        worker = get_current_worker()
        store = self.app.target.store
        loading.look_into(store, wanted, self.post_message, lambda: worker.is_cancelled)

    def on_session_looked(self, event: loading.SessionLooked) -> None:
        looked = event.looked
        if isinstance(looked, Listed) and event.path in self._coverage.sessions:
            sessions = self._coverage.sessions | {event.path: looked}
            self._coverage = replace(self._coverage, sessions=sessions)
            self._sessions.show(sessions)
            if self._search is not None:
                self._search.titles_changed()
            self._show_titles()
