"""The audit screen: recalls, the hits of one with their verdicts, and the evidence for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.worker import Worker, WorkerState, get_current_worker

from tau_browser import config
from tau_browser.audit.memory import Document
from tau_browser.audit.recall import Hit, Judged, Recall, SessionAudit
from tau_browser.audit.report import LEGEND
from tau_browser.audit.store_audit import StoreAudit
from tau_browser.audit.tools import ToolTable
from tau_browser.audit.totals import totals_of
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.adapters import JMFTS
from tau_browser.tui import keys
from tau_browser.tui.audit import auditing
from tau_browser.tui.audit.destination import Destination, destination_of, elsewhere
from tau_browser.tui.audit.evidence_view import EvidenceView, SideView
from tau_browser.tui.audit.hits_view import HitsView
from tau_browser.tui.audit.listing import Order, Scope, rows_of
from tau_browser.tui.audit.looking import Looking
from tau_browser.tui.audit.recalls_view import RecallsView
from tau_browser.tui.bar import Bar
from tau_browser.tui.prompt import Prompt
from tau_browser.tui.rows_view import RowsView

if TYPE_CHECKING:
    from tau_browser.tui.app import BrowserApp
    from tau_browser.tui.plan.screen import Done

_WIDE = 100  # columns from which recalls and hits stand side by side
_MEDIUM = (60, 16)  # columns and lines from which the evidence stands below
_PANES = ("recalls", "hits", "hit-side", "proof-side")
_FILTER = "filter"
_HINTS = (
    "Enter to the entry · Tab pane · e evidence · R ask again · w whose · o order · / filter"
    " · v sums · E report · Esc"
)
_NOTHING = "nothing was recalled"


class AuditScreen(Looking, Screen[Destination | None]):
    """What was recalled, and whether it was used. It stays as it was left until it is closed."""

    app: BrowserApp
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.AUDIT)]
    DEFAULT_CSS = """
    AuditScreen #lists { layout: horizontal; height: 1fr; }
    AuditScreen #lists > Vertical { width: 1fr; height: 1fr; }
    AuditScreen #lists RowsView { height: 1fr; }
    AuditScreen #evidence-pane { height: 1fr; }
    """

    def __init__(self, opened: auditing.OpenAudit | None, tools: ToolTable) -> None:
        super().__init__()
        self._opened = opened
        self._tools = tools
        self._scope = Scope.SESSION if opened and opened.audit.recalls else Scope.STORE
        self._order = Order.TREE
        self._filter = ""
        self._store: StoreAudit | None = None
        self._auditing = False
        self._progress = ""
        self._pane = "recalls"  # the one that the person is in

    def compose(self) -> ComposeResult:
        glyphs = self.app.glyphs
        self._recalls, self._hits = RecallsView(glyphs), HitsView(glyphs)
        self._prompt = Prompt()
        with Container(id="lists"):
            with Vertical(id="recalls-pane"):
                yield Bar("Recalls", id="recalls-title")
                yield self._recalls
            with Vertical(id="hits-pane"):
                yield Bar("Hits", id="hits-title")
                yield self._hits
        with Vertical(id="evidence-pane"):
            yield EvidenceView()
        yield self._prompt
        yield Bar(id="audit-status")
        yield Bar(_HINTS, id="audit-hints", classes="-plain")

    def on_mount(self) -> None:
        self._recalls.focus()
        if self._scope is not Scope.SESSION:
            self._audit_store()
        self._list()

    def on_resize(self) -> None:
        self._lay_out()

    def on_descendant_focus(self) -> None:
        """Whoever clicks into a pane is in it."""
        for name in _PANES:
            if self.query_one(f"#{name}").has_focus_within and self._pane != name:
                self._pane = name
                self._lay_out()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What goes wrong behind the screen is said on it."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self._say(safe_line(f"{event.worker.group} failed: {type(error).__name__}: {error}"))

    def _lay_out(self) -> None:
        width, height = self.app.size
        room = width >= _MEDIUM[0] and height >= _MEDIUM[1]
        on_recalls, on_hits = (self._pane == name for name in _PANES[:2])
        on_evidence = not (on_recalls or on_hits)
        self.query_one("#recalls-pane").display = width >= _WIDE or on_recalls
        self.query_one("#hits-pane").display = width >= _WIDE or not on_recalls
        self.query_one("#lists").display = room or not on_evidence
        self.query_one("#evidence-pane").display = room or on_evidence
        self.query_one("#audit-hints").display = room
        self.query_one(EvidenceView).set_class(width < _MEDIUM[0], "-narrow")
        for name in _PANES:
            self.query_one(f"#{name}-title", Bar).set_class(self._pane == name, "-focused")

    # What is listed

    @property
    def _audits(self) -> list[SessionAudit]:
        opened = self._opened
        if self._scope is Scope.SESSION:
            return [opened.audit] if opened else []
        found = self._store.audits if self._store else []
        if self._scope is Scope.PROJECT and opened is not None:
            return [audit for audit in found if audit.cwd == opened.audit.cwd]
        return found

    def _list(self) -> None:
        rows = rows_of(self._audits, self._order, self._filter)
        self._recalls.notice = self._progress or _NOTHING
        self._recalls.show(rows)
        parts = [f"Recalls of {self._scope.value}"]
        if self._order is not Order.TREE:
            parts.append(self._order.value)
        if self._filter:
            parts.append(f"only {self._filter}")
        self.query_one("#recalls-title", Bar).show(safe_line(" · ".join(parts)))
        self._say(self._progress or self._sums())

    def _sums(self) -> str:
        audits = self._audits
        totals = totals_of(audits)
        parts = [counted(totals.recalls, "recall"), f"{totals.used:,} of {totals.hits:,} hits used"]
        parts.append(f"{totals.unused:,} unused ≈{counted(totals.unused_tokens, 'token')}")
        if self._scope is not Scope.SESSION:
            parts.append(
                f"{totals.silent:,} of {counted(totals.sessions, 'session')} never recalled"
            )
        if self._store is not None and self._store.unreadable:
            parts.append(f"{len(self._store.unreadable):,} not audited")
        return " · ".join([*parts, "shared words are evidence, not proof"])

    def _audit_store(self) -> None:
        if not self._auditing and self._store is None:
            self._auditing = True
            self._progress = "auditing"
            self._run_audit()

    @work(thread=True, group="audit", exit_on_error=False)
    def _run_audit(self) -> None:
        worker = get_current_worker()
        auditing.audit_all(
            self.app.target.store,
            self.app.cache_folder,
            self._tools,
            self.post_message,
            lambda: worker.is_cancelled,
        )

    def on_store_audited(self, event: auditing.StoreAudited) -> None:
        whole = event.done == event.total
        self._progress = "" if whole else f"auditing: {event.done:,} of {event.total:,} sessions"
        if event.audit is not None:
            self._store = event.audit
            self._list()
        else:
            self._say(safe_line(event.reason) or self._progress)

    # What is looked at

    def on_rows_view_moved(self, event: RowsView.Moved) -> None:
        if event.view is self._recalls:
            self._show_recall()
        else:
            self._evidence = 0
            self._show_evidence()

    # What the keys do

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        recall, hit = self._hits.recall, self._hits.selected
        if recall is None:
            return
        if event.view is self._recalls or hit is None:
            self._go_to(recall.place)
        elif hit.entry >= 0:
            self._go_to(hit.entry)
        elif (document := self._entry_today(hit)) is None:
            self._go_to(recall.result)
        elif self.app.target.store.name == JMFTS:
            self.dismiss(destination_of(document))
        else:
            self._say(elsewhere(document))

    def _entry_today(self, hit: Judged) -> Document | None:
        """The document of a hit, if it is an entry of a conversation as far as is known."""
        live = self._hits.lives.get(hit.rank)
        document = live.document if live else None
        return document if document is not None and document.session else None

    def action_go(self) -> None:
        """To the entry that the focused side of the evidence stands in."""
        if self._pane in _PANES[2:]:
            side = self.query_one(f"#{self._pane}", SideView).side
            self._go_to(side.place if side else NOWHERE)

    def _go_to(self, place: int) -> None:
        row = self._recalls.selected
        if row is None:
            return
        start = row.audit.starts.get(place)
        texts = self._texts.get(row.audit.path)
        if start is None and texts is not None and place >= 0:
            start = int(texts.session.columns.start[place])
        if start is None:
            self._say("this stands in no entry")
        else:
            self.dismiss(Destination(row.audit.path, start))

    def action_replay(self) -> None:
        """Ask the memory the same again."""
        recall, texts = self._hits.recall, self._texts_shown()
        if recall is None or texts is None:
            self._say("there is nothing to ask again")
            return
        self._say("asking again")
        self._ask_again(recall, texts.hits.get(recall.number, []))

    @work(thread=True, exclusive=True, group="replay", exit_on_error=False)
    def _ask_again(self, recall: Recall, hits: list[Hit]) -> None:
        auditing.ask_again(self.app.target.store, recall, hits, self.post_message)

    def on_asked_again(self, event: auditing.AskedAgain) -> None:
        from tau_browser.tui.audit.replay_screen import ReplayScreen

        self._say(self._sums())
        opens = self.app.target.store.name == JMFTS
        screen = ReplayScreen(event.recall, event.hits, event.replay, self.app.glyphs, opens=opens)
        self.app.push_screen(screen, self._leave_for)

    def _leave_for(self, destination: Destination | None) -> None:
        if destination is not None:
            self.dismiss(destination)

    def action_whose(self) -> None:
        """The recalls of this session, of its project, of all sessions."""
        scopes = list(Scope) if self._opened else [Scope.STORE]
        at = scopes.index(self._scope) if self._scope in scopes else 0
        self._scope = scopes[(at + 1) % len(scopes)]
        if self._scope is not Scope.SESSION:
            self._audit_store()
        self._list()

    def action_order(self) -> None:
        """Sort by something else."""
        orders = list(Order)
        self._order = orders[(orders.index(self._order) + 1) % len(orders)]
        self._list()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the filter is typed, the keys that ask are letters like any other."""
        return not (action == "filter" and self._prompt.has_focus_within)

    def action_filter(self) -> None:
        self._prompt.ask(_FILTER, self._filter)

    def on_prompt_changed(self, event: Prompt.Changed) -> None:
        self._filter = event.value
        self._list()

    def on_prompt_accepted(self, event: Prompt.Accepted) -> None:
        self._prompt.hide()
        self._focus_pane("recalls")

    def on_prompt_left(self) -> None:
        self._prompt.hide()
        self._filter = ""
        self._list()
        self._focus_pane("recalls")

    def action_sums(self) -> None:
        """What the recalls add up to."""
        from tau_browser.tui.audit.totals_screen import TotalsScreen

        title = f"Sums of {self._scope.value}"
        self.app.push_screen(TotalsScreen(title, self._audits, self.app.glyphs))

    def action_report(self) -> None:
        """Propose a report, to be written to a file."""
        if self._progress or not any(audit.recalls for audit in self._audits):
            self._say(self._progress or _NOTHING)
            return
        from tau_browser.actions.journal import Journal
        from tau_browser.tui.audit.report_proposal import Report
        from tau_browser.tui.plan.screen import PlanScreen

        report = Report(self._audits, self._scope.value, Journal(config.changes_folder()))
        self.app.push_screen(PlanScreen(report, self.app.glyphs), self._reported)

    def _reported(self, done: Done | None) -> None:
        if done is not None:
            self._say(f"written to {safe_line(done.change.path)}; u in the browser takes it back")

    def action_legend(self) -> None:
        """What the verdicts mean."""
        self.app.notify(LEGEND.replace(" · ", "\n"), title="Verdicts", markup=False, timeout=20)

    def action_next_pane(self) -> None:
        self._focus_pane(_PANES[(_PANES.index(self._pane) + 1) % len(_PANES)])

    def action_previous_pane(self) -> None:
        self._focus_pane(_PANES[_PANES.index(self._pane) - 1])

    def _focus_pane(self, name: str) -> None:
        self._pane = name
        self._lay_out()  # shown first: what is hidden takes no focus
        widget = self.query_one(f"#{name}")
        (widget.scroll_box if isinstance(widget, SideView) else widget).focus()

    def action_back(self) -> None:
        if self._prompt.display:
            self.on_prompt_left()
        elif self._pane != "recalls":
            self._focus_pane("recalls")
        else:
            self.dismiss(None)

    def _say(self, text: str) -> None:
        self.query_one("#audit-status", Bar).show(text)
