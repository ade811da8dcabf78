"""The browser's key for what is made of a session for the memory of agents: a menu of verbs, each
of which proposes, as those of surgery do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_browser.model.text import safe_line
from tau_browser.tui.capturing import Capturing

if TYPE_CHECKING:
    from tau_browser.actions.plan import Verb
    from tau_browser.model.session import Session

SNAPSHOT, COMPACT = "folder of the snapshot", "folder of the compacted corpus"
_NO_CORPUS = "this is no corpus of an aethergraph workspace"


class Remembering(Capturing):
    """The verbs of the menu. The palette finds them by name."""

    def action_memory(self) -> None:
        """Show what can be made of the open session, and why some of it cannot."""
        from tau_browser.tui.memory_menu import MemoryMenu

        ends = f"end the capture: {self.capture_told}"
        does = {"observe": ends} if self.capture_told else {}
        menu = MemoryMenu(does, self._why_not(), self.app.settings.keys)
        self.app.push_screen(menu, self._run_verb)

    async def _run_verb(self, verb: str | None) -> None:
        if verb is not None:
            await self.run_action(verb)

    def action_distill(self) -> None:
        """Propose a digest of the last turns."""
        if (session := self._whole_session()) is None:
            return
        from tau_browser.actions.distill.digest import DigestRequest
        from tau_browser.tui.plan.distill import TURNS, Distill

        request = DigestRequest(turns=TURNS, min_signal=self._tree.threshold)
        self._propose(Distill(session, self._journal(), self._meant()[-1], request))

    def action_snapshot(self) -> None:
        """Ask where to keep a snapshot of the corpus."""
        self._ask_folder(SNAPSHOT, "snapshot")

    def action_compact(self) -> None:
        """Ask where to write the corpus without what is in it twice."""
        self._ask_folder(COMPACT, "compacted")

    def answered(self, asked: str, value: str) -> bool:
        """Whether what was asked for at the prompt was for one of these actions."""
        if super().answered(asked, value):
            return True
        if asked not in (SNAPSHOT, COMPACT):
            return False
        self._focus_pane("tree")
        if value.strip():
            from tau_browser.actions.plan import Verb

            self._of_corpus(Verb.SNAPSHOT if asked == SNAPSHOT else Verb.COMPACT, value)
        return True

    def _why_not(self) -> dict[str, str]:
        """What stands against each of the verbs."""
        if self._tree.session is None or self._opened is None:
            return dict.fromkeys(("distill", "snapshot", "compact"), "open a session first")
        return {} if self._is_corpus() else dict.fromkeys(("snapshot", "compact"), _NO_CORPUS)

    def _is_corpus(self) -> bool:
        if self._opened is None or self.app.target.store.name != "aethergraph":
            return False
        from tau_browser.stores.aethergraph.layout import Kind, address_of

        return address_of(self._opened.path).kind is Kind.CORPUS

    def _ask_folder(self, what: str, ending: str) -> None:
        session = self._whole_session()
        if session is None:
            return
        if not self._is_corpus():
            self._tell(_NO_CORPUS)
            return
        words = "".join(char if char.isalnum() else "-" for char in safe_line(session.id))
        self._prompt.ask(what, f"{words.strip('-')}-{ending}")

    def _of_corpus(self, verb: Verb, folder: str) -> None:
        from tau_browser.tui.plan.corpus import OfCorpus

        if self._opened is not None:
            self._propose(OfCorpus(verb, self._opened.path, folder.strip(), self._journal()))

    def _whole_session(self) -> Session | None:
        """The open session, once it is read; else says why not."""
        if self._tree.session is None or self._tree.entry is None:
            self._tell("open a session first")
        elif self._tree.notice:
            self._tell("the session is still being read")
        else:
            return self._tree.session
        return None

    def _meant(self) -> list[int]:
        """The marked entries, by place, or the one under the cursor."""
        assert self._tree.entry is not None
        return self._tree.marked or [self._tree.entry]
