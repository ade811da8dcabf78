"""The browser's key for what is made of a session for the memory of agents: a menu of verbs, each
of which proposes, as those of surgery do."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tau_browser.model.text import safe_line
from tau_browser.stores.adapters import JMFTS
from tau_browser.tui.capturing import Capturing
from tau_browser.tui.server import Server

if TYPE_CHECKING:
    from tau_browser.actions.distill.digest import DigestRequest
    from tau_browser.actions.plan import Verb
    from tau_browser.actions.undo import Writers
    from tau_browser.model.session import Session
    from tau_browser.tui.plan.promote import Source
    from tau_browser.tui.plan.proposal import Proposal
    from tau_browser.tui.search.found import Found

CORPUS = "corpus to promote into"
SNAPSHOT, COMPACT = "folder of the snapshot", "folder of the compacted corpus"
_NO_CORPUS = "this is no corpus of an aethergraph workspace"


class Remembering(Capturing):
    """The verbs of the menu. The palette finds them by name."""

    _found: Found | None
    _corpus: str = ""  # that was promoted into last

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
        """Propose a digest of the last turns; of what hangs below the cursor where nobody spoke."""
        if (session := self._whole_session()) is None:
            return
        from tau_browser.actions.distill.digest import DigestRequest
        from tau_browser.tui.plan.distill import TURNS, Distill

        here, worth = self._meant()[-1], self._tree.threshold
        if session.is_user.any():
            request = DigestRequest(turns=TURNS, min_signal=worth)
        else:
            request = DigestRequest(under=here, min_signal=worth)
        keep = None if self._server.why_not() else self._keep
        self._propose(Distill(session, self._journal(), here, request, keep))

    def action_promote(self) -> None:
        """Ask for the corpus to promote into."""
        if self._whole_session() is None:
            return
        if why_not := self._server.why_not():
            self._tell(safe_line(why_not))
        else:
            self._prompt.ask(CORPUS, self._corpus)

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
        if asked not in (CORPUS, SNAPSHOT, COMPACT):
            return False
        self._focus_pane("tree")
        if value.strip() and asked == CORPUS:
            self._promote_into(value.strip())
        elif value.strip():
            from tau_browser.actions.plan import Verb

            self._of_corpus(Verb.SNAPSHOT if asked == SNAPSHOT else Verb.COMPACT, value)
        return True

    def _why_not(self) -> dict[str, str]:
        """What stands against each of the verbs."""
        if self._tree.session is None or self._opened is None:
            verbs = ("distill", "promote", "snapshot", "compact")
            return dict.fromkeys(verbs, "open a session first")
        found = {} if self._is_corpus() else dict.fromkeys(("snapshot", "compact"), _NO_CORPUS)
        why_not = self._server.why_not()
        return found | ({"promote": safe_line(why_not)} if why_not else {})

    @cached_property
    def _server(self) -> Server:
        return Server(self.app.target.store, self.app.cache_folder)

    def _hands(self) -> Writers:
        from tau_browser.actions.writers import writers

        changes = self._journal().changes()
        if self._server.why_not() or all(change.store != JMFTS for change in changes):
            return super()._hands()
        return {**super()._hands(), **writers(self._server.reach())}

    def _source(self) -> Source | None:
        from tau_browser.tui.plan.promote import Source

        session, opened = self._whole_session(), self._opened
        if session is None or opened is None:
            return None
        store = self.app.target.store.name
        return Source(session, store, opened.path, self._server.reach, self._journal())

    def _promote_into(self, corpus: str) -> None:
        """Propose to promote the marked entries, or the one under the cursor."""
        from tau_browser.actions.promote.choosing import PromoteRequest, filters_in
        from tau_browser.tui.plan.promote import Promote

        if (source := self._source()) is None:
            return
        self._corpus = corpus
        worth = self._tree.threshold
        words = [f"signal:{worth / 100:g}"] if worth else []
        if self._found is not None:
            words.append(filters_in(self._found.pattern.query))
        meant, hits = tuple(self._meant()), tuple(self._tree.hits.tolist())
        request = PromoteRequest(meant)
        self._propose(Promote(source, corpus, meant, hits, " ".join(words), request))

    def _keep(self, request: DigestRequest, corpus: str) -> Proposal:
        """Propose to keep a digest in a corpus."""
        from tau_browser.tui.plan.promote import Keep

        source = self._source()
        assert source is not None  # what is distilled is open
        return Keep(source, corpus, request)

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
