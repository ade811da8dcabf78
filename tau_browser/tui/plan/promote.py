"""The proposals of documents for a corpus on a server: of entries, and of a digest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tau_browser.actions.distill.digest import DigestRequest, digest_of
from tau_browser.actions.distill.writing import why_empty
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.progress import Tell
from tau_browser.actions.promote.choosing import (
    Candidate,
    PromoteRequest,
    candidate_of,
    candidates,
    filter_of,
)
from tau_browser.model.session import Session
from tau_browser.model.text import counted
from tau_browser.tui.plan.proposal import Choice, Detail, Question

if TYPE_CHECKING:
    from tau_browser.actions.promote.server import Promotion
    from tau_browser.stores.jmfts.store import JmftsStore


@dataclass(frozen=True, slots=True)
class Source:
    """A session as it is shown, and where it is. server: reaches the one that is promoted to; for
    a thread, raises StoreError."""

    session: Session
    store: str
    path: str
    server: Callable[[], JmftsStore]
    journal: Journal


@dataclass(frozen=True, slots=True)
class _ToCorpus:
    """What the proposals have in common. The last plan's promotion is kept with it."""

    source: Source
    corpus: str
    _made: list[Promotion] = field(default_factory=list, kw_only=True, compare=False, repr=False)

    def found(self) -> tuple[list[Candidate], int]:
        """What is to be kept, and how many entries say nothing. Raises Refused."""
        raise NotImplementedError

    def plan(self) -> Plan:
        from tau_browser.actions.promote.server import plan_promotion  # which speaks HTTP

        found, silent = self.found()
        promotion = plan_promotion(self.source.server(), self.corpus.strip(), found, silent)
        self._made[:] = [promotion]
        return promotion.plan

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        from tau_browser.actions.promote.server import promote

        return promote(self.source.server(), self._made[0], self.source.journal, tell)


@dataclass(frozen=True, slots=True)
class Promote(_ToCorpus):
    """Entries. meant: the marked ones, or the one under the cursor · hits: those that a find or a
    search marked · words: of a filter; what is chosen is in `request`, or in `words` if that is
    None."""

    meant: tuple[int, ...]
    hits: tuple[int, ...]
    words: str
    request: PromoteRequest | None

    def found(self) -> tuple[list[Candidate], int]:
        request = filter_of(self.words) if self.request is None else self.request
        source = self.source
        return candidates(source.session, request, store=source.store, path=source.path)

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        count = len(self.meant)
        sets = {"1": (f"the {count:,} marked" if count > 1 else "this entry", self.meant)}
        if self.hits:
            sets["2"] = (f"the {counted(len(self.hits), 'hit')}", self.hits)
        chosen = self.request.only if self.request is not None else ()
        return [
            *(
                Choice(key, does, self._with(request=PromoteRequest(places)))
                for key, (does, places) in sets.items()
                if places != chosen
            ),
            Question("f", "filter", self.words, lambda to: self._with(words=to, request=None)),
            Question("c", "corpus", self.corpus, lambda to: self._with(corpus=to)),
        ]

    def _with(self, **chosen: object) -> Promote:
        return replace(self, **chosen, _made=[])  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Keep(_ToCorpus):
    """A digest, in the shape of τ's summary of a branch."""

    request: DigestRequest

    def found(self) -> tuple[list[Candidate], int]:
        source = self.source
        digest = digest_of(source.session, self.request)
        if not digest.sources:
            raise Refused(why_empty(digest))
        return [candidate_of(digest, store=source.store, path=source.path)], 0

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        corpus = Question("c", "corpus", self.corpus, lambda to: replace(self, corpus=to, _made=[]))
        return [corpus]
