"""The proposals of forking, pruning and renaming a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Refused, Remedy, Way
from tau_browser.actions.programs.known import rules_of
from tau_browser.actions.progress import Tell
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.reading import Reading
from tau_browser.actions.rename import plan_rename
from tau_browser.actions.writer import Writer
from tau_browser.model.session import Session
from tau_browser.stores.store import Capability
from tau_browser.tui.plan.proposal import Choice, Detail, Question

_HOWS = {
    How.COPY: Capability.PRUNE,
    How.IN_PLACE: Capability.PRUNE_IN_PLACE,
    How.FOLD: Capability.FOLD,
}


@dataclass(frozen=True, slots=True)
class Subject:
    """The session that a change is about, as it was shown.

    Entries are named by place, which is the same however far a session has grown; where the session
    is not what was shown, no plan is made.
    """

    path: str
    shown: Session
    journal: Journal
    capabilities: frozenset[Capability]
    writer: Writer

    def read(self, places: Sequence[int] = ()) -> Reading:
        """Read it as it is now. Raises StoreError."""
        reading = self.writer.read(self.path, self.journal)
        known = [place for place in places if place < len(reading.session)]
        if [self.shown.raw(at) for at in places] != [reading.session.raw(at) for at in known]:
            raise Refused("the session is not what is shown any more: r reads it again")
        return reading


class _Proposal:
    """What these proposals have in common."""

    __slots__ = ()
    subject: Subject

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        return self.subject.writer.apply(plan, self.subject.journal, tell)


@dataclass(frozen=True, slots=True)
class Fork(_Proposal):
    """A fork, at an entry or of the marked ones."""

    subject: Subject
    request: ForkRequest

    def plan(self) -> Plan:
        at = self.request.at
        reading = self.subject.read([*self.request.only, *([] if at is None else [at])])
        return plan_fork(reading, self.request, self.subject.writer)

    def choices(self, plan: Plan | None) -> list[Choice | Question]:
        request = self.request
        name = Question("n", "name", request.name, lambda text: self._with(name=text))
        cwd = Question("d", "directory", request.cwd or self._cwd(), self._in)
        moves = rules_of(self.subject.shown).moves
        return [*_remedies(self, plan), name, *([cwd] if moves else [])]

    def _with(self, **chosen: Any) -> Fork:
        return replace(self, request=replace(self.request, **chosen))

    def _in(self, text: str) -> Fork:
        return self._with(cwd=text.strip() or None)

    def _cwd(self) -> str:
        cwd = self.subject.shown.header.get("cwd")
        return cwd if isinstance(cwd, str) else ""


@dataclass(frozen=True, slots=True)
class Prune(_Proposal):
    """Pruning: to a copy, in place, or a fold instead."""

    subject: Subject
    request: PruneRequest

    def plan(self) -> Plan:
        return plan_prune(self.subject.read(self.request.roots), self.request, self.subject.writer)

    def choices(self, plan: Plan | None) -> list[Choice | Question]:
        offered = [how for how, needs in _HOWS.items() if needs in self.subject.capabilities]
        others = [
            Choice(str(at), how.value, self._with(how=how))
            for at, how in enumerate(offered, 1)
            if how is not self.request.how
        ]
        return [*_remedies(self, plan), *others]

    def confirm(self, plan: Plan) -> str:
        """The number of entries that go, where the session itself loses them."""
        return str(len(plan.leaving)) if plan.way is Way.REPLACE else ""

    def _with(self, **chosen: Any) -> Prune:
        return replace(self, request=replace(self.request, **chosen))


@dataclass(frozen=True, slots=True)
class Rename(_Proposal):
    """A new name."""

    subject: Subject
    name: str

    def plan(self) -> Plan:
        return plan_rename(self.subject.read(), self.name, self.subject.writer)

    def choices(self, plan: Plan | None) -> list[Choice | Question]:
        return [Question("n", "name", self.name, lambda text: replace(self, name=text))]


def _remedies(proposal: Fork | Prune, plan: Plan | None) -> list[Choice]:
    """The keys that lift what the plan is refused for."""
    wanted = {refusal.remedy for refusal in plan.refusals} if plan else set()
    offered = []
    if Remedy.PAIRS in wanted:
        offered.append(Choice("p", "takes both halves", proposal._with(pairs=True)))
    if Remedy.FORCE in wanted:
        offered.append(Choice("F", "copies anyway", proposal._with(force=True)))
    return offered
