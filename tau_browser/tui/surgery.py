"""The browser's keys that change something: each proposes, the plan screen shows and does it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from tau_browser.model.resume import resume_command
from tau_browser.model.text import safe_line
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.store import Capability, StoreError, why_not

if TYPE_CHECKING:
    from textual.screen import Screen

    from tau_browser.actions.journal import Change, Journal
    from tau_browser.actions.labels import Labels
    from tau_browser.actions.undo import Writers
    from tau_browser.stores.store import OpenSession
    from tau_browser.tui.app import BrowserApp
    from tau_browser.tui.plan.proposal import Proposal
    from tau_browser.tui.plan.screen import Done
    from tau_browser.tui.plan.surgery import Subject
    from tau_browser.tui.prompt import Prompt
    from tau_browser.tui.tree_view import TreeView

    _Base = Screen[None]
else:
    _Base = object

NAME = "name"
FILE = "file to import"
LABEL, NOTE = "label", "note"


class Surgery(_Base):
    """What the browser can do to the open session. The actions are imported when first asked for:
    the first frame does without."""

    app: BrowserApp
    _opened: OpenSession | None
    _tree: TreeView
    _prompt: Prompt

    # What the browser does for it

    def _open(self, path: str) -> None:
        raise NotImplementedError

    def _reload(self) -> None:
        raise NotImplementedError

    def _refresh_list(self) -> None:
        raise NotImplementedError

    def _focus_pane(self, name: str) -> None:
        raise NotImplementedError

    def _tell(self, text: str) -> None:
        raise NotImplementedError

    # The actions

    def action_fork(self) -> None:
        """Propose a fork: at the entry under the cursor, or of the marked ones."""
        if (subject := self._subject(Capability.FORK)) is None:
            return
        from tau_browser.actions.fork import ForkRequest
        from tau_browser.tui.plan.surgery import Fork

        marked = tuple(self._tree.marked)
        request = ForkRequest(only=marked) if marked else ForkRequest(at=self._tree.entry)
        self._propose(Fork(subject, request))

    def action_prune(self) -> None:
        """Propose to prune what hangs below the entry under the cursor, or below the marked."""
        if (subject := self._subject(Capability.PRUNE)) is None:
            return
        from tau_browser.actions.prune import PruneRequest
        from tau_browser.tui.plan.surgery import Prune

        roots = tuple(self._tree.marked) or (self._tree.entry,)
        self._propose(Prune(subject, PruneRequest(tuple(at for at in roots if at is not None))))

    def action_export(self) -> None:
        """Propose an export of the open session."""
        if self._tree.session is None or self._opened is None or self._tree.entry is None:
            self._tell("open a session first")
            return
        from tau_browser.actions.export.request import ExportRequest, Format
        from tau_browser.tui.plan.export import Export

        store, path, marked = self.app.target.store, self._opened.path, tuple(self._tree.marked)
        request = ExportRequest(Format.HTML)
        self._propose(Export(store, path, self._journal(), self._tree.entry, marked, request))

    def action_enrich(self) -> None:
        """Show what the server lacks to search the open session by, to give it that."""
        if self._tree.session is None or self._opened is None:
            self._tell("open a session first")
        elif self._can(Capability.ENRICH):
            from tau_browser.tui.plan.enrich import EnrichScreen

            store, glyphs = self.app.target.store, self.app.glyphs
            self.app.push_screen(EnrichScreen(store, self._opened.path, glyphs), self._enriched)

    def _enriched(self, said: str | None) -> None:
        if said:
            self._reload()  # what has vectors now bears another date, and pieces came
            self._tell(said)

    def action_import(self) -> None:
        """Ask for a file to import."""
        if self._can(Capability.IMPORT):
            self._prompt.ask(FILE)

    def import_from(self, path: str) -> None:
        """Propose to import what lies at a path."""
        from tau_browser.actions.imports import ImportRequest
        from tau_browser.tui.plan.imports import Import

        where = os.path.abspath(os.path.expanduser(path.strip()))
        store, cache = self.app.target.store, self.app.cache_folder
        self._propose(Import(where, store, cache, self._journal(), ImportRequest()))

    def answered(self, asked: str, value: str) -> bool:
        """Whether what was asked for at the prompt was for one of these actions."""
        answers: dict[str, Callable[[str], None]] = {
            NAME: self.rename_to,
            FILE: self.import_from,
            LABEL: lambda text: self._write_label(LABEL, text.strip()),
            NOTE: lambda text: self._write_label(NOTE, text.strip()),
        }
        if asked not in answers:
            return False
        self._focus_pane("tree")
        if value.strip() or asked in (LABEL, NOTE):
            answers[asked](value)
        return True

    def action_label(self) -> None:
        """Ask for a label on the entry under the cursor."""
        self._ask_label(LABEL)

    def action_note(self) -> None:
        """Ask for a note on the entry under the cursor."""
        self._ask_label(NOTE)

    def show_labels(self) -> None:
        """Show what is written on the entries of the open session."""
        session = self._tree.session
        from tau_browser import config

        if session is None or not session.id or not config.labels_folder().is_dir():
            self._tree.show_labels({})
            return
        try:
            self._tree.show_labels(self._labels(session.id).all())
        except StoreError as error:
            self._tell(safe_line(str(error)))

    def _ask_label(self, what: str) -> None:
        session, entry = self._tree.session, self._tree.entry
        if session is None or entry is None or not session.id:
            self._tell("open a session first")
            return
        label = self._tree.labels.get(session.entry_id(entry))
        value = "" if label is None else label.text if what == LABEL else label.note
        self._prompt.ask(what, value)

    def _write_label(self, what: str, value: str) -> None:
        from tau_browser.actions.labels import Label

        session, entry = self._tree.session, self._tree.entry
        if session is None or entry is None:
            return
        name = session.entry_id(entry)
        old = self._tree.labels.get(name, Label())
        label = Label(value, old.note) if what == LABEL else Label(old.text, value)
        try:
            self._labels(session.id).put(name, label, self._journal())
        except StoreError as error:
            self._tell(safe_line(str(error)))
        else:
            self._tell(f"{what} written on {safe_line(name)}; u takes it back")
        self.show_labels()

    def _labels(self, session_id: str) -> Labels:
        from tau_browser import config
        from tau_browser.actions.labels import labels_of

        assert self._opened is not None
        return labels_of(
            config.labels_folder(), self.app.target.store, self._opened.path, session_id
        )

    def action_rename(self) -> None:
        """Ask for a new name."""
        if self._subject(Capability.RENAME) is not None:
            self._prompt.ask(NAME, self._name_of_session())

    def rename_to(self, name: str) -> None:
        """Propose a new name."""
        if (subject := self._subject(Capability.RENAME)) is not None:
            from tau_browser.tui.plan.surgery import Rename

            self._propose(Rename(subject, name))

    def action_undo(self) -> None:
        """Show all changes, to take one back."""
        from tau_browser.tui.plan.undo import UndoScreen

        screen = UndoScreen(self._journal(), self._hands(), self.app.glyphs)
        self.app.push_screen(screen, self._taken_back)

    def _hands(self) -> Writers:
        """Who takes changes back."""
        from tau_browser.actions.writers import writers

        return writers(self.app.target.store)

    def _propose(self, proposal: Proposal) -> None:
        from tau_browser.tui.plan.screen import PlanScreen

        self.app.push_screen(PlanScreen(proposal, self.app.glyphs), self._done)

    def _done(self, done: Done | None) -> None:
        """Show what was made; of a new session, copy the command that goes on with it."""
        if done is None:
            return
        self._tree.unmark()
        plan, change = done.plan, done.change
        self._refresh_list()
        if plan.read is not None and change.path == plan.read.path:
            self._show_again(change.path)
            self._tell(f"done: {change.about}; u takes it back")
        elif plan.result is not None:
            command = resume_command(plan.store, plan.result, change.path)
            self.app.copy_to_clipboard(command.encode("utf-8", "replace").decode())
            self._open(change.path)
            self._focus_pane("tree")
            self._tell(f"done; the command that resumes it is copied: {safe_line(command)}")
        else:
            where = plan.target if plan.store == JMFTS else change.path
            self._tell(f"written to {safe_line(where)}; u takes it back")

    def _taken_back(self, change: Change | None) -> None:
        if change is None:
            return
        self._refresh_list()
        self.show_labels()
        if self._opened is not None and self._opened.path == change.path:
            self._show_again(change.path)
        self._tell(f"done: {safe_line(change.about)}")

    def _show_again(self, path: str) -> None:
        """Show the open session from the start: its entries are not where they were."""
        if self.app.target.store.name == JMFTS or os.path.exists(path):
            self._open(path)
            self._focus_pane("tree")

    def _subject(self, needed: Capability) -> Subject | None:
        """The open session, if its store can do what is needed of it; else says why not."""
        session, store = self._tree.session, self.app.target.store
        if session is None or self._opened is None or self._tree.entry is None:
            self._tell("open a session first")
        elif self._tree.notice:
            self._tell("the session is still being read")
        elif self._can(needed):
            from tau_browser.actions.writers import writer_beside
            from tau_browser.tui.plan.surgery import Subject

            path = self._opened.path
            try:
                writer = writer_beside(store, path)
            except StoreError as error:
                self._tell(safe_line(str(error)))
                return None
            return Subject(path, session, self._journal(), store.capabilities, writer)
        return None

    def _can(self, needed: Capability) -> bool:
        """Whether the store can do what is needed; else says why not."""
        store = self.app.target.store
        if needed in store.capabilities:
            return True
        is_demo = self.app.target.is_demo
        reason = f"{needed.value}: the demo is read only" if is_demo else why_not(store, needed)
        self._tell(safe_line(reason))
        return False

    def _journal(self) -> Journal:
        from tau_browser import config
        from tau_browser.actions.journal import Journal

        return Journal(config.changes_folder())

    def _name_of_session(self) -> str:
        from tau_browser.model.summary import session_name

        return session_name(self._tree.session) if self._tree.session else ""
