"""The proposal of an import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tau_browser.actions.import_into import plan_into
from tau_browser.actions.imports import ImportRequest
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan
from tau_browser.actions.progress import Tell
from tau_browser.actions.writer import Writer
from tau_browser.stores.adapters import TAU, adapter
from tau_browser.stores.store import Store
from tau_browser.stores.targets import only_session, target_of
from tau_browser.tui.plan.proposal import Choice, Detail, Question


@dataclass(frozen=True, slots=True)
class Import:
    """What lies at a path, into a store. The last plan's writer is kept with it."""

    path: str
    store: Store
    cache_folder: Path
    journal: Journal
    request: ImportRequest
    _writers: list[Writer] = field(default_factory=list, compare=False, repr=False)

    def plan(self) -> Plan:
        files = adapter(TAU)([], self.cache_folder)  # the path is the whole of it
        source = only_session(target_of(self.path, files, self.cache_folder))
        plan, writer = plan_into(self.store, source, self.request, self.journal)
        self._writers[:] = [writer]
        return plan

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        cwd = self.request.cwd or ""
        if plan and plan.result is not None and not cwd:
            cwd = str(plan.result.header.get("cwd", ""))
        return [
            Question("o", "file", self.path, self._from),
            Question("d", "directory", cwd, self._in),
        ]

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        return self._writers[0].apply(plan, self.journal, tell)

    def _from(self, text: str) -> Import:
        return replace(self, path=text.strip(), _writers=[])

    def _in(self, text: str) -> Import:
        return replace(self, request=ImportRequest(text.strip() or None), _writers=[])
