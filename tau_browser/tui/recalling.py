"""The browser's key that opens the audit, and the marks that it leaves in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from textual import work

from tau_browser.stores.adapters import JMFTS

if TYPE_CHECKING:
    from textual.screen import Screen

    from tau_browser.audit.recall import SessionAudit
    from tau_browser.audit.tools import ToolTable
    from tau_browser.stores.store import OpenSession
    from tau_browser.tui.app import BrowserApp
    from tau_browser.tui.audit.auditing import SessionAudited
    from tau_browser.tui.audit.destination import Destination
    from tau_browser.tui.tree_view import TreeView

    _Base = Screen[None]
else:
    _Base = object


class Recalling(_Base):
    """What the browser knows of recalls. The audit is imported once a session has been read."""

    app: BrowserApp
    _opened: OpenSession | None
    _tree: TreeView
    _generation: int
    _audited: SessionAudit | None = None  # of the open session, as it was read
    _going_to: Destination | None = None  # once its session is read

    # What the browser does for it

    def _open(self, path: str) -> None:
        raise NotImplementedError

    def _focus_pane(self, name: str) -> None:
        raise NotImplementedError

    def _tell(self, text: str) -> None:
        raise NotImplementedError

    # The audit

    def _audit_open(self) -> None:
        """Audit the session that was just read, and go to where it was opened for."""
        self._audited = None
        self._arrive_at_entry()
        if self._opened is not None:
            self._run_audit(self._opened.path, self._generation)

    @work(thread=True, exclusive=True, group="audit", exit_on_error=False)
    def _run_audit(self, path: str, generation: int, audit: SessionAudit | None = None) -> None:
        """`audit`: that of the session, where nothing but its marks is to be made again."""
        from tau_browser.audit.session_audit import audit_session
        from tau_browser.tui.audit.auditing import OpenAudit, mark_open

        if (session := self._tree.session) is None:
            return
        tools, store = self._memory_tools(), self.app.target.store
        opened = OpenAudit(path, session, audit or audit_session(path, session, tools))
        mark_open(store, self.app.cache_folder, opened, tools, generation, self.post_message)

    def on_session_audited(self, event: SessionAudited) -> None:
        if event.generation != self._generation or self._opened is None:
            return
        self._audited = event.audit
        self._tree.show_remarks(event.marks)

    def action_audit(self) -> None:
        """What was recalled, and whether it was used."""
        from tau_browser.tui.audit.auditing import OpenAudit
        from tau_browser.tui.audit.screen import AuditScreen

        opened, session, audit = self._opened, self._tree.session, self._audited
        known = None
        if opened is not None and session is not None and audit is not None:
            known = OpenAudit(opened.path, session, audit)
        self.app.push_screen(AuditScreen(known, self._memory_tools()), self._left_audit)

    def _left_audit(self, destination: Destination | None) -> None:
        """What was audited there may count in the marks here."""
        on_server = self.app.target.store.name == JMFTS
        if on_server and self._opened is not None and self._audited is not None:
            self._run_audit(self._opened.path, self._generation, self._audited)
        self._go_to_entry(destination)

    def _memory_tools(self) -> ToolTable:
        from tau_browser.audit.tools import ToolTable

        settings = self.app.settings
        return ToolTable.extended(settings.memory_tools, settings.memory_folders)

    def _go_to_entry(self, destination: Destination | None) -> None:
        if destination is None:
            return
        self._going_to = destination
        if self._opened is None or self._opened.path != destination.path:
            self._open(destination.path)
        else:
            self._arrive_at_entry()
        self._focus_pane("tree")

    def _arrive_at_entry(self) -> None:
        session, wanted = self._tree.session, self._going_to
        if session is None or wanted is None:
            return
        self._going_to = None
        if wanted.start is None:
            places = session.find(wanted.entry)
        else:
            places = np.flatnonzero(session.columns.start == wanted.start).tolist()
        if self._tree.model_view_at is not None or self._tree.filtered:
            self._tree.show_full_history()
        if places:
            self._tree.go_to(places[0])
        else:
            self._tell("the entry is no longer where it was: the session was written anew since")
