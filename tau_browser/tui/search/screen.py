"""The search over all sessions: a query, what it finds as it is typed, and the hit in its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from tau_browser.model.session import Session
from tau_browser.model.text import safe_line
from tau_browser.search.answers import is_as_typed, query_as_typed
from tau_browser.search.engines import engine_for
from tau_browser.search.known import Values
from tau_browser.search.manner import Manner
from tau_browser.search.query import Query
from tau_browser.search.results import Asking, Hit, Results
from tau_browser.stores.store import Listed
from tau_browser.tui import keys
from tau_browser.tui.bar import Bar
from tau_browser.tui.entry import EntryPane
from tau_browser.tui.prompt import Prompt
from tau_browser.tui.rows_view import RowsView
from tau_browser.tui.search import searching, wording
from tau_browser.tui.search.found import Found
from tau_browser.tui.search.how_menu import HowMenu
from tau_browser.tui.search.indexing import Indexing
from tau_browser.tui.search.keeping import Keeping
from tau_browser.tui.search.preview import Preview
from tau_browser.tui.search.query_line import QueryLine
from tau_browser.tui.search.results_view import ResultsView
from tau_browser.tui.search.within import ALL_SESSIONS, Choices, Within, choices

if TYPE_CHECKING:
    from tau_browser.tui.app import BrowserApp

_TYPED_AFTER = 0.06  # seconds without another key, after which a query is put
_PAGE = 50
_MORE = 4
"""Hits that are asked for, and times as many as often as the end of them is reached."""
_WIDE = 110  # columns from which the preview stands beside the results
_EXPLAINED_AFTER = 0.3  # seconds for which a hit is selected
_MEDIUM = (60, 16)  # columns and lines from which it stands below
_HINTS = "Enter open · Tab pane · / query · w where, how · ^R saved · ^S save · y copy · Esc back"
_NO_QUERY = "type to search all sessions"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A hit that a person wants to see in its tree, and all that was found with it."""

    found: Found
    hit: Hit


class SearchScreen(Indexing, Keeping, Screen[Chosen | None]):
    """One search. It stays as it was left until it is opened again."""

    app: BrowserApp
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.SEARCH)]
    DEFAULT_CSS = """
    SearchScreen > #found { layout: vertical; height: 1fr; }
    SearchScreen > #found.-wide { layout: horizontal; }
    SearchScreen #found > Vertical { width: 1fr; height: 1fr; }
    SearchScreen ResultsView, SearchScreen EntryPane { height: 1fr; }
    """

    def __init__(self, sessions: Callable[[], Mapping[str, Listed]]) -> None:
        """`sessions`: by path, what the browser knows of the sessions of the store."""
        super().__init__()
        self._sessions = sessions
        self._question: searching.Question | None = None
        self._answer: Results | None = None
        self._answered: searching.Question | None = None
        self._is_last = False  # no better answer follows
        self._how = Asking(Query(""), limit=_PAGE)
        self._followed: tuple[str, Session] | None = None
        self._where = ALL_SESSIONS
        self._entry = ""  # that is selected in the browser
        self._values: Values = {}  # of filters, as indexed
        self._generation = 0
        self._unanswered = False

    def compose(self) -> ComposeResult:
        store, glyphs = self.app.target.store, self.app.glyphs
        self._engine = engine_for(store, self.app.cache_folder)
        self._how = replace(self._how, weights=self._engine.manner.weights)
        self._searcher = searching.Searcher(self._engine)
        self._line = QueryLine(self._known)
        self._prompt = Prompt()
        self._results = ResultsView(self._title_of, glyphs)
        self._results.notice = _NO_QUERY
        entry = EntryPane(self.app.prices, glyphs=glyphs, id="preview")
        self._preview = Preview(store, entry)
        yield self._line
        with Container(id="found"):
            with Vertical():
                yield Bar("Results", id="results-title")
                yield self._results
            yield self._preview
        yield Bar(id="why", classes="-plain")
        yield self._prompt
        yield Bar(id="search-status")
        yield Bar(_HINTS, id="search-hints", classes="-plain")

    def on_mount(self) -> None:
        self._line.focus_input()
        self._show_manner()
        if self._followed is not None:
            self._follow(*self._followed)

    def on_screen_resume(self) -> None:
        """What was written since the search was last open is to be found too."""
        if not self._paused:
            self._index()

    def on_unmount(self) -> None:
        self._generation += 1
        self._paused = True
        self._searcher.close()

    def on_resize(self) -> None:
        width, height = self.app.size
        self.query_one("#found").set_class(width >= _WIDE, "-wide")
        room = width >= _MEDIUM[0] and height >= _MEDIUM[1]
        self._preview.display = room
        self.query_one("#search-hints").display = room
        self.query_one("#why").display = room
        self.call_after_refresh(self._show_manner)

    def on_descendant_focus(self) -> None:
        self.query_one("#results-title", Bar).set_class(self._results.has_focus, "-focused")

    def on_descendant_blur(self) -> None:
        self.on_descendant_focus()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What goes wrong behind the screen is said on it."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self._say(safe_line(f"{event.worker.group} failed: {type(error).__name__}: {error}"))

    # The query

    def on_query_line_changed(self, event: QueryLine.Changed) -> None:
        self._ask(event.query)

    def on_query_line_accepted(self, event: QueryLine.Accepted) -> None:
        if event.query is None or event.query.is_blank:
            return
        self._line.remember()
        self._ask(event.query)
        self.set_focus(self._results)

    def _ask(self, query: Query | None) -> None:
        """Put a query. What it finds comes later; what the last one found stays until then."""
        self._generation += 1
        self._unanswered = False
        if query is None or query.is_blank:
            self._question = None
            if query is None:
                self._show_title()  # what is shown is no longer what is asked for
            else:
                self._forget()
            return
        self._put(query, _PAGE, delay=_TYPED_AFTER)

    def _put(self, query: Query, limit: int, *, goes_on: bool = False, delay: float = 0) -> None:
        asking = self._asked_here(replace(self._how, query=query, limit=limit))
        scans = self._indexing or self._paused or self._behind
        self._question = searching.Question(self._generation, asking, goes_on, scans)
        self._search(self._question, delay)

    def _forget(self) -> None:
        self._answer = self._answered = None
        self._results.notice = _NO_QUERY
        self._results.clear()
        self._preview.highlight(None)
        self._show_title()
        self._show_status()

    @work(exclusive=True, group="search", exit_on_error=False)
    async def _search(self, question: searching.Question, delay: float) -> None:
        await asyncio.sleep(delay)
        await asyncio.to_thread(
            self._searcher.answer,
            question,
            self.post_message,
            lambda: question.generation == self._generation,
        )

    def on_answered(self, event: searching.Answered) -> None:
        if event.question.generation != self._generation:
            return
        before, self._answered = self._answered, event.question
        anew = before is None or before.text != event.question.text
        self._answer, self._unanswered = event.results, False
        self._is_last = event.is_last
        if anew:
            self._preview.highlight(event.question.asking)
        is_all = event.is_last and not event.question.scans
        self._results.notice = "nothing found" if is_all else "nothing with these words yet"
        self._results.show(event.results, anew=anew)
        self._show_manner()
        self._show_title()
        self._show_status()

    def on_unanswered(self, event: searching.Unanswered) -> None:
        if event.question.generation != self._generation:
            return
        self._forget()
        self._unanswered = True
        self._results.notice = safe_line(event.reason)
        self._results.refresh()
        self._say(safe_line(event.reason))

    def _search_again(self) -> None:
        """The same query, of which there may be more to find by now."""
        if (question := self._question) is not None:
            self._generation += 1
            asking = question.asking
            self._put(asking.query, asking.limit, goes_on=not self._unanswered)

    def _ask_for_more(self) -> None:
        """More hits of the same query, if there are more and the end of them is reached."""
        question, answer = self._question, self._answer
        if question is None or answer is None or question is not self._answered:
            return
        if answer.has_more:
            self._generation += 1
            self._put(question.asking.query, question.asking.limit * _MORE, goes_on=True)

    # The open session

    def follow(self, path: str, session: Session) -> None:
        """Let what the open session holds be found at once, indexed or not."""
        self._followed = path, session
        if self.is_mounted:
            self._follow(path, session)

    @work(thread=True, group="follow", exit_on_error=False)
    def _follow(self, path: str, session: Session) -> None:
        self._searcher.follow(
            path, session, self.post_message, lambda: self._followed == (path, session)
        )

    def on_followed(self, event: searching.Followed) -> None:
        self._search_again()

    @work(thread=True, exclusive=True, group="learn", exit_on_error=False)
    def _learn(self) -> None:
        self._searcher.learn(self.post_message)

    def on_known(self, event: searching.Known) -> None:
        self._values = event.values

    # What is selected

    def on_rows_view_moved(self, event: RowsView.Moved) -> None:
        if self._results.is_at_end:
            self._ask_for_more()
        hit = self._results.selected
        self.query_one("#why", Bar).show(wording.reason_of(hit) if hit else "")
        self._preview.show(hit)
        if hit is not None and self._answer is not None:
            self._explain(hit, self._answer.asking)

    @work(exclusive=True, group="explain", exit_on_error=False)
    async def _explain(self, hit: Hit, asking: Asking) -> None:
        """Say what else is known of why a hit was found."""
        await asyncio.sleep(_EXPLAINED_AFTER)
        explained = await asyncio.to_thread(self._searcher.explained, hit, asking.query)
        if explained.likely and self._results.selected == hit:
            self.query_one("#why", Bar).show(wording.reason_of(explained))
            self._preview.explain(explained, asking)

    def explained(self, found: Found, path: str) -> Iterator[Hit]:
        """The hits of one session of what was found, as far as it can be told what probably
        matched in them. Asks a server, hit by hit; for a thread of its own."""
        for hit in found.unexplained(path):
            explained = self._searcher.explained(hit, found.asking.query)
            if explained.likely:
                yield explained

    # What the keys do

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        hit = self._results.selected
        if hit is None or self._answer is None:
            return
        self._line.remember()
        if hit.document is not None:
            self._say(wording.outside(hit))
            return
        self.dismiss(Chosen(Found(self._answer.asking, self._answer.hits), hit))

    def action_back(self) -> None:
        self.dismiss(None)

    def action_query_line(self) -> None:
        self._line.focus_input()

    def action_next_pane(self) -> None:
        if not (self._line.is_typed_in and self._line.complete()):
            self.focus_next()

    def action_previous_pane(self) -> None:
        self.focus_previous()

    def action_how(self) -> None:
        """Change where and how the search looks and what each ranker counts, the results in
        view."""
        engine, how = self._engine, self._asked_here(self._how)
        menu = HowMenu(how, engine.manner, engine.unable, self._within(), self._look)
        self.app.push_screen(menu)

    def _look(self, how: Asking) -> None:
        """Search from now on like this."""
        now = Within.of(how)
        names = (name for name, within in self._within().items() if within == now)
        self._how, self._where = how, next(names, ALL_SESSIONS)
        self._show_manner()
        query = self._line.typed_query()
        if query is not None and not query.is_blank:
            self._generation += 1
            self._put(query, _PAGE, goes_on=not self._unanswered)

    def stand_at(self, entry: str) -> None:
        """Let the branch of an entry of the open session be searched; "" if none is selected."""
        self._entry = entry

    def _within(self) -> Choices:
        """Where a search may look now."""
        path = self._followed[0] if self._followed else ""
        return choices(self.app.target.store.name, self._sessions(), path, self._entry)

    def _asked_here(self, asking: Asking) -> Asking:
        """A question, asked where the person wants to look; of all where that is gone."""
        within = self._within()
        return within.get(self._where, within[ALL_SESSIONS]).put(asking)

    # What the keeping of searches asks

    @property
    def _manner(self) -> Manner:
        return self._engine.manner

    @property
    def _selected(self) -> Hit | None:
        return self._results.selected

    def _focus_found(self) -> None:
        if self._answer is None:
            self._line.focus_input()
        else:
            self.set_focus(self._results)

    # What is said

    def on_screen(self) -> list[str]:
        """The paths of the sessions whose titles are on screen."""
        return self._results.on_screen() if self.is_current else []

    def titles_changed(self) -> None:
        """More is known of the sessions than before."""
        if self.is_current:
            self._results.titles_changed()

    def _title_of(self, path: str) -> str:
        listed = self._sessions().get(path)
        return listed.summary.title if listed and listed.summary else ""

    def _known(self) -> dict[str, list[str]]:
        summaries = [listed.summary for listed in self._sessions().values() if listed.summary]
        projects = dict.fromkeys(summary.cwd for summary in summaries if summary.cwd)
        known = {"project": [*projects], "store": [self.app.target.store.name]}
        return known | {name: some for name, some in self._values.items() if some}

    def _show_manner(self) -> None:
        how = self._how
        read = partial(query_as_typed, method=how.method) if is_as_typed(how.method) else None
        self._line.show_manner(wording.manner_of(how, self._engine.unable), read)

    def _show_title(self) -> None:
        title = "Results"
        if self._answer is not None:
            of = "" if self._question else f" of {safe_line(self._answer.query.text)}"
            where = "" if self._where == ALL_SESSIONS else f" · in {self._where}"
            title += f"{of}{where} · {wording.found_in(self._answer)}"
        self.query_one("#results-title", Bar).show(title)

    def _show_status(self) -> None:
        parts = [self._index_said]
        if self._answer is not None:
            parts += self._answer.remarks
            parts.append(wording.reranked_in(self._answer, is_last=self._is_last))
            parts.append(wording.covered(self._answer.coverage))
            parts += self._answer.missing
        self._say(safe_line(" · ".join(part for part in parts if part)))

    def _say(self, text: str) -> None:
        self.query_one("#search-status", Bar).show(text)
