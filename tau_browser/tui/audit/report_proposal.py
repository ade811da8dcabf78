"""The proposal of a report: its form and its name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Bytes, Plan, Refusal, Verb, Way
from tau_browser.actions.progress import Tell
from tau_browser.audit.recall import SessionAudit
from tau_browser.audit.report import FORMATS
from tau_browser.audit.totals import totals_of
from tau_browser.model.text import counted
from tau_browser.stores.adapters import TAU
from tau_browser.tui.plan.proposal import Choice, Detail, Question

_KEYS = {"html": "h", "md": "m", "csv": "c"}


@dataclass(frozen=True, slots=True)
class Report:
    """A report on the recalls of some sessions. whose: these in words · form: how its name ends."""

    audits: Sequence[SessionAudit]
    whose: str
    journal: Journal
    form: str = "html"
    output: str = ""

    def plan(self) -> Plan:
        target = os.path.abspath(os.path.expanduser(self.output or f"recalls.{self.form}"))
        taken = f"{target} is there already: give another name"
        recalls = counted(totals_of(self.audits).recalls, "recall")
        return Plan(
            verb=Verb.EXPORT,
            store=TAU,
            about=f"report on {recalls} of {self.whose} as {self.form.upper()}",
            read=None,  # what is reported is what was audited
            way=Way.NEW,
            target=target,
            content=Bytes(FORMATS[self.form](self.audits).encode("utf-8", "replace")),
            refusals=(Refusal(taken),) if os.path.lexists(target) else (),
            remarks=("queries, titles and evidence stand in it as they are: no secret is hidden",),
        )

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        forms = [
            Choice(key, form, replace(self, form=form, output=""))
            for form, key in _KEYS.items()
            if form != self.form
        ]
        output = plan.target if plan else self.output
        name = Question("o", "file", output, lambda text: replace(self, output=text.strip()))
        return [*forms, name]

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        return FileWriter("").apply(plan, self.journal, tell)
