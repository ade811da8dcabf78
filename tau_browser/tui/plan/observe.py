"""The proposal of a capture, which goes on behind the browser once it has begun."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tau_browser.actions.journal import Change
from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.follow import Observing, Pace
from tau_browser.actions.observe.preview import plan_capture
from tau_browser.actions.observe.signing import private_key
from tau_browser.actions.plan import Plan
from tau_browser.actions.progress import Tell
from tau_browser.stores.store import Store
from tau_browser.tui.plan.proposal import Choice, Detail, Question


@dataclass(frozen=True, slots=True)
class Observe:
    """A capture of the session at a path, or of all of a store. begun: where what was begun is
    left for the browser to go on with."""

    store: Store
    path: str | None
    all: bool
    repository: str
    begun: list[Observing]

    def plan(self) -> Plan:
        return plan_capture(self.store, self._path, self._capture())

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        where = plan.target if plan else self.repository
        question = Question("o", "repository", where, lambda to: replace(self, repository=to))
        if self.path is None:
            return [question]
        other = "this session" if self.all else "all sessions"
        return [Choice("a", other, replace(self, all=not self.all)), question]

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        """Take the repository. What is captured is in its own history, not in the journal."""
        capture = self._capture()
        capture.start()
        self.begun.append(Observing(self.store, self._path, capture, Pace()))
        return Change(plan.store, plan.verb.value, plan.target, plan.about, {})

    @property
    def _path(self) -> str | None:
        return None if self.all else self.path

    def _capture(self) -> Capture:
        root = Path(self.repository.strip()).expanduser().absolute()
        return Capture(root, private_key(os.environ))
