"""The browser: sessions, the tree of the open one, and the entry under the cursor."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker, WorkerState, get_current_worker

from tau_browser.model.compare import compare
from tau_browser.model.resume import resume_command
from tau_browser.model.text import safe_line, size_of
from tau_browser.stores.store import Change, OpenSession
from tau_browser.stores.verdict import Verifying
from tau_browser.tui import keys, loading
from tau_browser.tui.bar import Bar
from tau_browser.tui.compare import CompareScreen
from tau_browser.tui.copy_menu import CopyMenu, deliver, write_private
from tau_browser.tui.coverage import CoverageScreen
from tau_browser.tui.entry import EntryPane
from tau_browser.tui.finding import FIND, JUMP, Finding
from tau_browser.tui.listing import Listing
from tau_browser.tui.panes import Pane, Panes
from tau_browser.tui.prompt import Prompt
from tau_browser.tui.recalling import Recalling
from tau_browser.tui.remembering import Remembering
from tau_browser.tui.rows_view import RowsView
from tau_browser.tui.session_list import SessionList
from tau_browser.tui.threshold import Threshold
from tau_browser.tui.titles import entry_title, status, tree_title
from tau_browser.tui.tree_view import TreeView

if TYPE_CHECKING:
    from tau_browser.tui.app import BrowserApp

_WATCH_EVERY = 0.5  # seconds
_PREVIEW_AFTER = 0.15
_ASKING = {key.verb for key in keys.BROWSER if key.asks}
_HINTS = "? keys · / find · s search all · n N hits · c model view · y copy · ! coverage · q quit"


class BrowserScreen(Listing, Finding, Remembering, Threshold, Recalling, Screen[None]):
    """Three panes over one store."""

    app: BrowserApp
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.BROWSER)]

    def __init__(self) -> None:
        super().__init__()
        self._opened: OpenSession | None = None
        self._generation = 0
        self._following = False
        self._prompt = Prompt()
        self._preview: Timer | None = None
        self._lost = ""  # why the open session can no longer be read
        self._noticed = 0  # size of the open file when its growth was last spoken of

    # Layout

    def compose(self) -> ComposeResult:
        glyphs = self.app.glyphs
        self._sessions = SessionList(id="sessions", glyphs=glyphs)
        self._tree = TreeView(id="tree", glyphs=glyphs)
        self._entry = EntryPane(self.app.prices, glyphs=glyphs, id="entry")
        self._panes = Panes(
            Pane("sessions", "Sessions", self._sessions),
            Pane("tree", "Tree", self._tree),
            Pane("entry", "Entry", self._entry),
        )
        yield self._panes
        yield self._prompt
        yield Bar(id="status")
        # what the person must know of the store stays where the eye falls on it
        notice = self.app.target.notice
        yield Bar(f"{notice} · ? keys" if notice else _HINTS, id="hints", classes="-plain")

    def on_mount(self) -> None:
        self._begin_listing()
        self.set_interval(_WATCH_EVERY, self._watch)
        self._show_titles()
        if self.app.target.path is not None:
            self._open(self.app.target.path)
            self._focus_pane("tree")
        else:
            self._focus_pane("sessions")

    def _focus_pane(self, name: str) -> None:
        self._panes.focus_on(name)
        self._panes.pane(name).content.focus()

    def on_descendant_focus(self) -> None:
        for name in ("sessions", "tree", "entry"):
            if self._panes.pane(name).content.has_focus and self._panes.focused != name:
                self._panes.focus_on(name)

    def _show_titles(self) -> None:
        demo = "DEMO · " if self.app.target.is_demo else ""
        remarks = [self._lost] * bool(self._lost) + ["following"] * self._following
        if self._found is not None and self._opened is not None:
            remarks.append(self._found.position(self._opened.path))
        titles = {
            "sessions": f"{demo}{self._coverage.line}",
            "tree": tree_title(self._tree, self._name_of_open(), *remarks),
            "entry": entry_title(self._tree),
        }
        for name, title in titles.items():
            self._panes.pane(name).title.show(title)

    def _name_of_open(self) -> str:
        path = self._opened.path if self._opened else ""
        listed = self._coverage.sessions.get(path)
        return listed.summary.title if listed and listed.summary else os.path.basename(path)

    def _show_status(self, text: str | None = None) -> None:
        self.query_one("#status", Bar).show(status(self._tree) if text is None else text)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What goes wrong behind the screen is said on it."""
        self._listing_changed(event)
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self._tell(safe_line(f"{event.worker.group} failed: {type(error).__name__}: {error}"))

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        if event.view is self._sessions and self._sessions.selected:
            self._open_selected()
            self._focus_pane("tree")

    def _open_selected(self) -> None:
        listed = self._sessions.selected
        if listed and (self._opened is None or self._opened.path != listed.path):
            self._open(listed.path)

    # The open session

    def _open(self, path: str) -> None:
        if self._opened is not None:
            self._opened.close()
        self._opened = self.app.target.store.open(path)
        self._leave_find()
        self._asked_threshold = 0
        self._tree.close()
        self._lost = ""
        self._sessions.mark_open(path)
        self._reload()

    def _reload(self) -> None:
        """Read the open session from its start; what is on screen stays until it is there."""
        if self._opened is None:
            return
        self._generation += 1
        self._noticed = 0
        self._tree.notice = f"reading {safe_line(os.path.basename(self._opened.path))}"
        self._tree.rows_changed()
        self._load(self._opened, self._generation)

    @work(thread=True, exclusive=True, group="load", exit_on_error=False)
    def _load(self, opened: OpenSession, generation: int) -> None:
        worker = get_current_worker()
        loading.load(opened, generation, self.post_message, lambda: worker.is_cancelled)

    def on_session_read(self, event: loading.SessionRead) -> None:
        if event.generation != self._generation:
            return
        progress = event.progress
        if event.facts is not None:
            self._tree.replace(event.facts)
            self._show_titles()
        if event.whole:
            self._tree.notice = ""
            self._lost = ""
            self._tree.rows_changed()
            self._find_again()
            self._threshold_again()
            self.show_labels()
            self._arrive()
            self._audit_open()
            self._show_to_search()
            self._show_titles()
            self._show_status()
        else:
            if progress.total:
                read = f"{progress.done / progress.total:.0%} of {size_of(progress.total)}"
            else:
                read = f"{size_of(progress.done)} so far" if progress.done else "begins"
            self._show_status(f"reading {read} · Esc stops")

    def on_session_failed(self, event: loading.SessionFailed) -> None:
        if event.generation == self._generation:
            self._arrival = None
            self._tree.notice = safe_line(event.reason)
            self._tree.rows_changed()
            self._show_status(safe_line(event.reason))

    @work(thread=True, exclusive=True, group="watch", exit_on_error=False)
    def _watch(self) -> None:
        opened, generation = self._opened, self._generation
        if opened is not None and not self._tree.notice:
            loading.watch(opened, generation, self.post_message, follow=self._following)

    def on_session_changed(self, event: loading.SessionChanged) -> None:
        if event.generation != self._generation or self._opened is None:
            return
        if event.facts is not None:
            self._tree.replace(event.facts)
            self._show_titles()
            self._find_again()
            self._threshold_again()
            self._show_to_search()
        elif event.change in (Change.GONE, Change.AWAY):
            if not self._lost:
                self._lost = f"the session {event.change}"
                self._show_titles()
                self._tell(f"{self._lost}: this is the last that was read of it")
        elif event.change is Change.GREW:
            if self._search is not None:
                self._search.sessions_changed()
            if not self._noticed:
                self._noticed = 1
                self._show_status("the session grew: r reads on, t follows it")
        else:
            self._tell(f"the session {event.change}: read again")
            self._reload()

    def on_rows_view_moved(self, event: RowsView.Moved) -> None:
        if event.view is self._tree:
            self._show_entry()
        elif self._panes.focused == "sessions":
            # whoever runs down the list does not want every session on the way opened
            if self._preview is not None:
                self._preview.stop()
            self._preview = self.set_timer(_PREVIEW_AFTER, self._open_selected)

    def _show_entry(self) -> None:
        session, entry = self._tree.session, self._tree.entry
        if session is None or entry is None:
            self._entry.clear()
        else:
            self._entry.show(session, entry, self._tree.state_word(entry))
        self._panes.pane("entry").title.show(entry_title(self._tree))
        self._show_status()

    # The prompt

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a prompt is being typed into, the keys that ask are letters like any other."""
        return not (action in _ASKING and self._prompt.has_focus_within)

    def on_prompt_changed(self, event: Prompt.Changed) -> None:
        if self._prompt.asks_for == FIND:
            self._start_find(event.value, bool(self._prompt.regex))

    def on_prompt_accepted(self, event: Prompt.Accepted) -> None:
        if self._prompt.asks_for == JUMP:
            self._jump_to(event.value.strip())
            return
        self._prompt.hide()
        if self.answered(self._prompt.asks_for, event.value):
            return
        self._focus_pane("tree")
        if len(self._tree.hits) and self._tree.entry not in self._tree.hits:
            self.action_next_hit()

    def on_prompt_left(self) -> None:
        self._leave_find()
        self._focus_pane("tree")

    # Views

    def action_model_view(self) -> None:
        if self._tree.model_view_at is not None:
            self._tree.show_full_history()
        elif (entry := self._tree.entry) is not None:
            self._tree.show_model_view(entry)
        self._show_titles()

    def action_compare(self) -> None:
        session, entry = self._tree.session, self._tree.entry
        others = [place for place in self._tree.marked if place != entry]
        if session is None or entry is None or not others:
            self._tell("mark an entry with Space, go to another, then compare")
            return
        comparison = compare(session, others[-1], entry)
        self.app.push_screen(CompareScreen(session, comparison, self.app.glyphs))

    def action_coverage(self) -> None:
        screen = CoverageScreen(self._tree.session, self._coverage, self.app.glyphs)
        self.app.push_screen(screen, self._go_to_finding)

    def action_verify(self) -> None:
        store, opened = self.app.target.store, self._opened
        if opened is None:
            return
        if not isinstance(store, Verifying):
            self._show_status(f"sessions of {store.name} hold nothing to verify them by")
            return
        from tau_browser.tui.verify import VerifyScreen

        self.app.push_screen(
            VerifyScreen(store, opened.path, self.app.glyphs), self._go_to_verified
        )

    def _go_to_verified(self, entry_id: str | None) -> None:
        session = self._tree.session
        if entry_id and session is not None and (found := session.find(entry_id)):
            self._focus_pane("tree")
            self._tree.go_to(found[0])

    def _go_to_finding(self, result: str | int | None) -> None:
        if isinstance(result, str):
            self._open(result)
            self._focus_pane("tree")
        elif isinstance(result, int):
            self._focus_pane("tree")
            self._tree.go_to(result)

    def action_back(self) -> None:
        """One step back: a prompt, the filter, a find, a load, the model view, the tree, in this
        order. From what a search found, back to all that it found."""
        if self._tree.filtered and self._found is None and not self._prompt.display:
            self.action_filter()
        elif self._tree.threshold and not self._prompt.display:
            self._leave_threshold()
        elif self._prompt.display or self._tree.pattern is not None:
            was_found = self._found is not None
            self._leave_find()
            self._focus_pane("tree")
            self._show_titles()
            if was_found:
                self._open_search()
        elif self._tree.notice and self._tree.session is not None:
            self._generation += 1
            self.workers.cancel_group(self, "load")
            self._tree.notice = ""
            self._show_status("stopped: this is only the part that was read; r reads all of it")
        elif self._tree.model_view_at is not None:
            self.action_model_view()
        elif self._panes.focused == "entry":
            self._focus_pane("tree")
        elif self._panes.focused == "tree":
            self._focus_pane("sessions")

    # Panes

    def action_next_pane(self) -> None:
        self._focus_pane(self._panes.next_name(1))

    def action_previous_pane(self) -> None:
        self._focus_pane(self._panes.next_name(-1))

    def action_toggle_sessions(self) -> None:
        self._toggle("sessions")

    def action_toggle_entry(self) -> None:
        self._toggle("entry")

    def _toggle(self, name: str) -> None:
        self._panes.toggle(name)
        self._panes.pane(self._panes.focused).content.focus()

    def action_zoom(self) -> None:
        self._panes.zoom()

    def action_narrower(self) -> None:
        self._panes.resize_focused(-1)

    def action_wider(self) -> None:
        self._panes.resize_focused(1)

    def action_entry_half_page_down(self) -> None:
        self._entry.scroll_half_page(1)

    def action_entry_half_page_up(self) -> None:
        self._entry.scroll_half_page(-1)

    # The session as a whole

    def action_reload(self) -> None:
        self._list_again()
        self._reload()

    def action_follow(self) -> None:
        self._following = not self._following
        self._show_titles()
        self._show_status(
            "following: the tree grows as the session does" if self._following else "not following"
        )

    def action_copy(self) -> None:
        session, entry = self._tree.session, self._tree.entry
        if session is None or entry is None or self._opened is None:
            self._tell("open a session first")
            return
        choices = {
            "i": ("id", session.entry_id(entry)),
            "t": ("text", session.text(entry)),
            "p": ("path", self._opened.path),
        }
        if resume := resume_command(self.app.target.store.name, session, self._opened.path):
            choices["r"] = ("resume", resume)
        self.app.push_screen(CopyMenu(choices), self._copy)

    def _copy(self, chosen: tuple[str, bool] | None) -> None:
        if chosen is not None:
            self._tell(deliver(self.app, *chosen))

    def action_edit(self) -> None:
        session, entry = self._tree.session, self._tree.entry
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if session is None or entry is None:
            return
        if not editor:
            self._tell("set $EDITOR to open an entry's text in it")
            return
        path = write_private(session.text(entry))
        with self.app.suspend():
            subprocess.run([*shlex.split(editor), path], check=False)
        self._tell(f"that was a copy of the entry's text: {path}")

    def _tell(self, text: str) -> None:
        self._show_status(text)
        self.app.notify(text, markup=False, timeout=4)
