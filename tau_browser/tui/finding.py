"""The browser's finding: in the open session, by id, and what a search of all sessions found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from textual import work
from textual.message import Message
from textual.screen import Screen
from textual.widget import AwaitMount
from textual.worker import get_current_worker

from tau_browser.model.text import counted, safe_line
from tau_browser.search.find import Pattern, QueryError, pattern_of
from tau_browser.tui import loading

if TYPE_CHECKING:
    from tau_browser.search.results import Hit
    from tau_browser.stores.store import OpenSession
    from tau_browser.tui.app import BrowserApp
    from tau_browser.tui.coverage import Coverage
    from tau_browser.tui.entry import EntryPane
    from tau_browser.tui.prompt import Prompt

    # the index and its library are some 100 ms of imports that the browser does without
    from tau_browser.tui.search.found import Found
    from tau_browser.tui.search.screen import Chosen, SearchScreen
    from tau_browser.tui.tree_view import TreeView

    _Base = Screen[None]
else:
    _Base = object

FIND, JUMP = "find", "jump to id"


@dataclass(frozen=True, slots=True)
class _Arrival:
    """Where to go once a session is read: to the hit whose record starts at this byte, or to the
    first (step 1) or the last (-1). filtered: only hits and what leads to them are shown."""

    start: int | None
    step: int
    filtered: bool


class Explained(Message):
    """One of the hits of what was found, with what probably matched in it."""

    def __init__(self, found: Found, hit: Hit) -> None:
        super().__init__()
        self.found = found
        self.hit = hit


class Finding(_Base):
    """Marks hits in the tree and goes from one to the next, on through all sessions."""

    app: BrowserApp
    _opened: OpenSession | None
    _coverage: Coverage
    _tree: TreeView
    _entry: EntryPane
    _prompt: Prompt

    def __init__(self) -> None:
        super().__init__()
        self._find_generation = 0
        self._search: SearchScreen | None = None
        self._found: Found | None = None  # what is walked through, of all sessions
        self._arrival: _Arrival | None = None

    # What the browser does for it

    def _open(self, path: str) -> None:
        raise NotImplementedError

    def _focus_pane(self, name: str) -> None:
        raise NotImplementedError

    def _show_titles(self) -> None:
        raise NotImplementedError

    def _show_status(self, text: str | None = None) -> None:
        raise NotImplementedError

    def _tell(self, text: str) -> None:
        raise NotImplementedError

    # In the open session

    def action_find(self) -> None:
        pattern = self._tree.pattern if self._found is None else None
        query, regex = (pattern.query, pattern.regex) if pattern else ("", False)
        self._prompt.ask(FIND, query, regex=regex)

    def _start_find(self, query: str, regex: bool) -> None:
        self._find_generation += 1
        if self._found is not None:  # only its hits may be shown
            self._leave_found()
        try:
            pattern = pattern_of(query, regex=regex)
        except QueryError as error:
            self._tree.show_hits(None, np.empty(0, np.intp))
            self._note_find(safe_line(str(error)))
            return
        self._tree.show_hits(pattern, np.empty(0, np.intp))
        self._entry.highlight(pattern.spans if pattern else None)
        if pattern is None or self._tree.session is None:
            self._note_find("")
            return
        self._find(pattern, self._find_generation)

    def _leave_found(self) -> None:
        """What a search found gives way to a find in the session, all of which is shown."""
        self._found = self._arrival = None
        if self._tree.filtered:
            self._tree.show_full_history()
        self._show_titles()

    def _find_again(self) -> None:
        if self._found is not None:
            self._mark_found()
        elif self._tree.pattern is not None:
            self._find_generation += 1
            self._find(self._tree.pattern, self._find_generation)

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def _find(self, pattern: Pattern, generation: int) -> None:
        worker, session = get_current_worker(), self._tree.session
        if session is not None:
            loading.find_all(
                session, pattern, generation, self.post_message, lambda: worker.is_cancelled
            )

    def on_hits_found(self, event: loading.HitsFound) -> None:
        if event.generation != self._find_generation:
            return
        self._tree.show_hits(self._tree.pattern, np.array(event.hits, np.intp))
        if event.problem:
            self._note_find(safe_line(event.problem))
        elif event.finished:
            self._note_find(counted(len(event.hits), "hit") if event.hits else "nothing found")
        else:
            self._note_find(f"{len(event.hits):,} so far, {event.done / event.total:.0%}")

    def _note_find(self, text: str) -> None:
        self._prompt.note(text)
        if not self._prompt.display:
            self._show_status()

    def _leave_find(self) -> None:
        self._find_generation += 1
        self._found = self._arrival = None
        self._prompt.hide()
        self._tree.show_hits(None, np.empty(0, np.intp))
        self._entry.highlight(None)
        self._show_status()

    def action_next_hit(self) -> None:
        self._go_to_hit(1)

    def action_previous_hit(self) -> None:
        self._go_to_hit(-1)

    def _go_to_hit(self, step: int) -> None:
        if self._tree.pattern is None:
            self._tell("nothing is being looked for: / finds, s searches all sessions")
        elif self._found is not None:
            self._walk(self._found, step)
        elif not self._tree.go_to_next(self._tree.hits, step, wrap=True):
            self._show_status("no hit in this view")

    # Search of all sessions

    async def action_search(self) -> None:
        # whoever types on at once types into the query: the screen is there before the next key
        await self._open_search()

    def _open_search(self) -> AwaitMount:
        if self._search is None:
            from tau_browser.tui.search.screen import SearchScreen

            self._search = SearchScreen(lambda: self._coverage.sessions)
            self._show_to_search()
            self.app.install_screen(self._search, "search")
        session, place = self._tree.session, self._tree.entry
        self._search.stand_at("" if session is None or place is None else session.entry_id(place))
        return self.app.push_screen(self._search, self._show_chosen)

    def _show_to_search(self) -> None:
        """Let the open session be searched as it is read, indexed or not."""
        if self._search is not None and self._opened is not None and self._tree.session is not None:
            self._search.follow(self._opened.path, self._tree.session)

    def _show_chosen(self, chosen: Chosen | None) -> None:
        if chosen is not None:
            standing = chosen.hit.standing
            self.show_hit(chosen.found, standing.path, standing.start, filtered=True)

    def show_hit(
        self,
        found: Found,
        path: str,
        start: int | None = None,
        step: int = 1,
        *,
        filtered: bool,
    ) -> None:
        """Open one of the sessions found, its hits marked and the cursor on the one whose record
        starts at a byte; without `start` on its first hit, or its last with step -1. filtered:
        only hits and what leads to them."""
        arrival = _Arrival(start, step, filtered)
        if self._opened is None or self._opened.path != path:
            self._open(path)
        else:
            self._leave_find()
        self._found, self._arrival = found, arrival
        self._explain(found, path)
        self._focus_pane("tree")
        if self._tree.session is not None and not self._tree.notice:
            self._mark_found()
            self._arrive()
            self._show_titles()

    def _mark_found(self) -> None:
        """Mark what was found of the open session."""
        if self._found is not None and self._mark_tree(self._found):
            pattern = self._found.pattern
            self._entry.highlight(pattern.spans, pattern.near)

    def _mark_tree(self, found: Found) -> bool:
        """The same in the tree alone; False if there is none to mark."""
        session, opened = self._tree.session, self._opened
        if session is None or opened is None:
            return False
        likely = found.likely(session, opened.path)
        self._tree.show_hits(found.pattern, found.places(session, opened.path), likely)
        return True

    @work(thread=True, exclusive=True, group="explain", exit_on_error=False)
    def _explain(self, found: Found, path: str) -> None:
        """Find out what probably matched where no word of the query stands."""
        worker = get_current_worker()
        for hit in self._search.explained(found, path) if self._search is not None else ():
            if worker.is_cancelled:
                return
            self.post_message(Explained(found, hit))

    def on_explained(self, event: Explained) -> None:
        if event.found is not self._found:
            return
        event.found.learn(event.hit)
        if self._arrival is None and self._mark_tree(event.found):
            entry = self._tree.entry
            if entry is not None and self._tree.likely.get(entry) is event.hit.likely:
                self._entry.highlight(event.found.pattern.spans, event.found.pattern.near)
                self._show_status()

    def _arrive(self) -> None:
        """Go to the hit for which the session was opened."""
        arrival, session, hits = self._arrival, self._tree.session, self._tree.hits
        if arrival is None or session is None:
            return
        self._arrival = None
        if self._tree.model_view_at is not None:
            self._tree.show_full_history()
        if arrival.filtered:
            self._tree.show_only_hits()
        if arrival.start is not None:
            hits = np.intersect1d(hits, session.places_at([arrival.start]))
        if len(hits):
            lines = session.outline.line[hits]
            at = lines.argmin() if arrival.step > 0 else lines.argmax()
            self._tree.go_to(int(hits[at]))
        else:
            self._tell("what was found here is gone: the session was written anew since")

    def _walk(self, found: Found, step: int) -> None:
        """To the next hit, or on to the next session that has any."""
        if self._opened is None or self._arrival is not None:  # on the way to one already
            return
        if self._tree.go_to_next(self._tree.hits, step):
            return
        path = found.beyond(self._opened.path, step)
        self.show_hit(found, path, step=step, filtered=self._tree.filtered)

    def action_filter(self) -> None:
        """Only the hits and what leads to them, or everything."""
        if self._tree.filtered:
            self._tree.show_full_history()
        elif self._tree.pattern is None:
            self._tell("nothing is being looked for: / finds, s searches all sessions")
        else:
            self._tree.show_only_hits()
        self._show_titles()

    def action_jump(self) -> None:
        if self._tree.session is not None:
            self._prompt.ask(JUMP)

    def _jump_to(self, entry_id: str) -> None:
        session = self._tree.session
        if session is None or not entry_id:
            return
        found = session.find(entry_id) or session.find_prefix(entry_id)
        if not found:
            self._prompt.ask(JUMP)
            self._prompt.note("no entry with this id")
            return
        self._prompt.hide()
        self._focus_pane("tree")
        if self._tree.model_view_at is not None:
            self._tree.show_full_history()
        self._tree.go_to(found[0])
        if len(found) > 1:
            self._show_status(f"{len(found)} entries have this id or begin with it: the first")
