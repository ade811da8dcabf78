"""What is looked at on the audit screen: the recall, its hits, their documents today, the evidence.

All of it is worked out behind the screen, and kept for as long as the screen is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from tau_browser.audit.live import Live, live_of, server_documents
from tau_browser.audit.memory import Answer
from tau_browser.audit.recall import Recall, SessionAudit
from tau_browser.audit.sides import sides
from tau_browser.model.text import safe_line
from tau_browser.tui.audit import auditing
from tau_browser.tui.audit.evidence_view import EvidenceView
from tau_browser.tui.bar import Bar

if TYPE_CHECKING:
    from textual.screen import Screen

    from tau_browser.audit.tools import ToolTable
    from tau_browser.model.session import Session
    from tau_browser.tui.app import BrowserApp
    from tau_browser.tui.audit.auditing import OpenAudit
    from tau_browser.tui.audit.destination import Destination
    from tau_browser.tui.audit.hits_view import HitsView
    from tau_browser.tui.audit.recalls_view import RecallsView

    _Base = Screen[Destination | None]
else:
    _Base = object


class Looking(_Base):
    """What the audit screen shows of the recall under the cursor."""

    app: BrowserApp
    _opened: OpenAudit | None
    _tools: ToolTable
    _recalls: RecallsView
    _hits: HitsView

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, auditing.Texts] = {}  # of the session looked at last
        self._reading = ""  # path of the session that is being read
        self._answers: dict[str, Answer] = {}  # what the memory says of documents, by id
        self._no_memory = ""  # why no memory can be asked
        self._evidence = 0

    # What the screen does for it

    def _say(self, text: str) -> None:
        raise NotImplementedError

    # The recall and its hits

    def _show_recall(self) -> None:
        row = self._recalls.selected
        recall = row.recall if row else None
        if row is not None and recall is not None:
            if (texts := self._texts.get(row.audit.path)) is not None:
                recall = texts.audit.recalls[recall.number]
                self._look_up(recall)
            elif self._reading != row.audit.path:
                self._reading = row.audit.path
                self._read_texts(row.audit)
        self._show_hits(recall)
        title = "Hits" if recall is None else f"Hits of {recall.name} at {self._entry_of(recall)}"
        self.query_one("#hits-title", Bar).show(safe_line(title))

    def _show_hits(self, recall: Recall | None) -> None:
        self._hits.show(recall, self._lives_of(recall), self._no_memory)

    def _entry_of(self, recall: Recall) -> str:
        row = self._recalls.selected
        return row.audit.entry_ids.get(recall.place, "") if row else ""

    def _texts_shown(self) -> auditing.Texts | None:
        row = self._recalls.selected
        return self._texts.get(row.audit.path) if row else None

    @work(thread=True, exclusive=True, group="texts", exit_on_error=False)
    def _read_texts(self, audit: SessionAudit) -> None:
        auditing.read_texts(
            self.app.target.store, audit, self._session_at, self._tools, self.post_message
        )

    def _session_at(self, path: str) -> Session | None:
        opened = self._opened
        return opened.session if opened is not None and opened.path == path else None

    def on_texts_read(self, event: auditing.TextsRead) -> None:
        if event.path == self._reading:
            self._reading = ""
        if event.read is None:
            self._say(safe_line(event.reason))
            return
        self._texts = {event.path: event.read}
        row = self._recalls.selected
        if row is not None and row.audit.path == event.path:
            self._show_recall()

    # Their documents today

    def _look_up(self, recall: Recall) -> None:
        wanted = [each for each in server_documents([recall]) if each not in self._answers]
        if wanted and not self._no_memory:
            self._ask_for(wanted)

    @work(thread=True, exclusive=True, group="live", exit_on_error=False)
    def _ask_for(self, documents: list[str]) -> None:
        auditing.look_up(self.app.target.store, documents, self.post_message)

    def on_looked_up(self, event: auditing.LookedUp) -> None:
        """An answer is of a document, whoever asked: one that comes late is as good as any."""
        self._answers |= event.answers
        self._no_memory = event.reason
        self._show_hits(self._hits.recall)
        self._show_evidence()

    def _lives_of(self, recall: Recall | None) -> dict[int, Live]:
        texts = self._texts_shown()
        if recall is None or texts is None:
            return {}
        hits = texts.hits.get(recall.number, [])
        return live_of(texts.audit, recall, hits, self._answers)

    # The evidence

    def _show_evidence(self) -> None:
        recall, hit, texts = self._hits.recall, self._hits.selected, self._texts_shown()
        if recall is None or hit is None or texts is None:
            self.query_one(EvidenceView).show(None)
            return
        shown = texts.hits.get(recall.number, [])
        found = next((one for one in shown if one.rank == hit.rank), None)
        if found is not None:
            live = self._hits.lives.get(hit.rank)
            both = sides(texts.following, recall, hit, found, self._evidence, live)
            self.query_one(EvidenceView).show(both)

    def action_evidence(self) -> None:
        """The next reason for the verdict."""
        hit = self._hits.selected
        if hit is not None and len(hit.evidence) > 1:
            self._evidence += 1
            self._show_evidence()
        else:
            self._say("there is no other evidence for this hit")
