"""The proposal of a capture, which goes on behind the browser once it has begun."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tau_browser.actions.journal import Change
from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.follow import Observing, Pace
from tau_browser.actions.observe.preview import plan_capture
from tau_browser.actions.observe.signing import private_key
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.progress import Tell
from tau_browser.stores.store import Store
from tau_browser.tui.plan import typed
from tau_browser.tui.plan.proposal import Choice, Detail, Question


@dataclass(frozen=True, slots=True)
class Observe:
    """A capture of the session at a path, or of all of a store. begun: where what was begun is
    left for the browser to go on with · problem: why the last answer will not do."""

    store: Store
    path: str | None
    all: bool
    repository: str
    begun: list[Observing]
    pace: Pace = field(default_factory=Pace)
    problem: str = ""

    def plan(self) -> Plan:
        if self.problem:
            raise Refused(self.problem)
        return plan_capture(self.store, self._path, self._capture())

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        where = plan.target if plan else self.repository
        questions = [
            Question("o", "repository", where, lambda to: self._with(repository=to)),
            Question("n", "calls per commit", str(self.pace.batch), self._in_batches),
            Question("i", "seconds until a commit", f"{self.pace.interval:.0f}", self._at_least),
        ]
        if self.path is None:
            return questions
        other = "this session" if self.all else "all sessions"
        return [Choice("a", other, self._with(all=not self.all)), *questions]

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        """Take the repository. What is captured is in its own history, not in the journal."""
        capture = self._capture()
        capture.start()
        self.begun.append(Observing(self.store, self._path, capture, self.pace))
        return Change(plan.store, plan.verb.value, plan.target, plan.about, {})

    def _in_batches(self, text: str) -> Observe:
        return self._paced(lambda: replace(self.pace, batch=typed.whole(text)))

    def _at_least(self, text: str) -> Observe:
        return self._paced(lambda: replace(self.pace, interval=typed.whole(text)))

    def _paced(self, answer: Callable[[], Pace]) -> Observe:
        """At the pace that was typed, or with what is wrong with that."""
        try:
            return self._with(pace=answer())
        except Refused as refused:
            return self._with(problem=str(refused))

    def _with(self, **chosen: Any) -> Observe:
        return replace(self, **{"problem": "", **chosen})

    @property
    def _path(self) -> str | None:
        return None if self.all else self.path

    def _capture(self) -> Capture:
        root = Path(self.repository.strip()).expanduser().absolute()
        return Capture(root, private_key(os.environ))
