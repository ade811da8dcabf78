"""Enriching the open conversation: what it lacks, then how it goes, then what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from tau_browser.actions.progress import Stopped
from tau_browser.actions.server_enrich import (
    Enriched,
    Enrichment,
    enrich,
    lines_of,
    lines_of_report,
    plan_enrich,
)
from tau_browser.actions.wording import PLAIN_SIGNS, Line, Signs, refused
from tau_browser.model.text import safe_line
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Store, StoreError
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import ASCII, Glyphs
from tau_browser.tui.plan.proposal import Detail
from tau_browser.tui.plan.view import PlanView
from tau_browser.tui.plan.watch import Going, Watch
from tau_browser.tui.rows_view import RowsView


class Looked(Message):
    """It is known what the conversation lacks, or why not."""

    def __init__(self, plan: Enrichment | None, problem: str = "") -> None:
        super().__init__()
        self.plan = plan
        self.problem = problem


class Ended(Message):
    """It was done, or paused."""

    def __init__(self, report: Enriched) -> None:
        super().__init__()
        self.report = report


class EnrichScreen(Screen[str | None]):
    """One conversation. The result is what was done last, to be said where it was asked for; None
    if nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", show=False),
    ]

    def __init__(self, store: Store, path: str, glyphs: Glyphs) -> None:
        super().__init__()
        assert isinstance(store, JmftsStore)  # no other can
        self._store = store
        self._path = path
        self._view = PlanView(glyphs)
        self._signs = PLAIN_SIGNS if glyphs is ASCII else Signs()
        self._title = Bar("enrich")
        self._keys = Bar("", classes="-plain")
        self._plan: Enrichment | None = None
        self._report: Enriched | None = None
        self._watch = Watch(self.post_message)  # of what runs now
        self._enriching = False
        self._said: str | None = None

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._view
        yield self._keys

    def on_mount(self) -> None:
        self._view.focus()
        self._look()

    def on_unmount(self) -> None:
        self._watch.stop()

    def _show(self, lines: Iterable[Line], keys: str) -> None:
        self._view.show([Detail(line) for line in lines])
        self._keys.show(keys)

    # Looking

    def _look(self) -> None:
        self._plan, self._report = None, None
        self._watch = Watch(self.post_message)
        self._show([], "looking at what is there · Esc back")
        self._make_plan(self._watch)

    @work(thread=True, exclusive=True, group="plan", exit_on_error=False)
    def _make_plan(self, watch: Watch) -> None:
        try:
            self.post_message(Looked(plan_enrich(self._store, self._path, None, watch)))
        except Stopped:
            return
        except StoreError as error:
            self.post_message(Looked(None, str(error)))

    def on_looked(self, event: Looked) -> None:
        self._plan = plan = event.plan
        if plan is None:
            self._title.show("cannot be done")
            self._show([refused(event.problem, self._signs)], "Esc back")
            return
        self._title.show(plan.about)
        keys = "Enter does it · Esc back" if plan.steps else "Esc back"
        self._show(lines_of(plan, self._signs), keys)

    # Doing it

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        if self._report is not None:
            self._look()
        elif self._plan is not None and self._plan.steps and not self._enriching:
            self._enriching = True
            self._watch = Watch(self.post_message)
            self._do(self._plan, self._watch)

    @work(thread=True, exclusive=True, group="enrich", exit_on_error=False)
    def _do(self, plan: Enrichment, watch: Watch) -> None:
        self.post_message(Ended(enrich(self._store, plan, watch)))

    def on_going(self, event: Going) -> None:
        if not self._watch.stopping:
            esc = "Esc pauses" if self._enriching else "Esc back"
            self._keys.show(f"{event.said} · {esc}")

    def on_ended(self, event: Ended) -> None:
        self._enriching = False
        self._report = event.report
        self._said = event.report.about + ("; E goes on from there" if event.report.left else "")
        keys = "Enter looks again · Esc back"
        if event.report.stopped:
            keys = "Enter goes on from here, or E at any time · Esc back"
        self._show(lines_of_report(event.report, self._signs), keys)

    def action_leave(self) -> None:
        if self._enriching:
            self._watch.stop()
            self._keys.show("pausing after this document")
        else:
            self.dismiss(self._said)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What goes wrong behind the screen is said on it."""
        if event.state is WorkerState.ERROR:
            self._enriching = False
            error = event.worker.error
            said = f"{event.worker.group} failed: {type(error).__name__}: {error}"
            self._keys.show(safe_line(said))
