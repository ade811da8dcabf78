"""The proposal of an import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tau_browser.actions.imports import ImportRequest, plan_import
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan
from tau_browser.actions.reading import file_state
from tau_browser.actions.writer import Writer
from tau_browser.stores.store import Listed, Store, StoreError
from tau_browser.stores.targets import only_session, target_of
from tau_browser.tui.plan.proposal import Choice, Detail, Question


@dataclass(frozen=True, slots=True)
class Import:
    """What lies at a path, into a store."""

    path: str
    store: Store
    cache_folder: Path
    journal: Journal
    writer: Writer
    request: ImportRequest

    def plan(self) -> Plan:
        source = only_session(target_of(self.path, self.store, self.cache_folder))
        if source.path is None:
            raise StoreError(f"{self.path}: no session")
        read, session = file_state(source.path), None
        for progress in source.store.open(source.path).load():
            session = progress.session
        if session is None:
            raise StoreError(f"{self.path}: nothing could be read")
        listed = (found for found in self.store.scan() if isinstance(found, Listed))
        ids = {self.store.identify(found) for found in listed}
        return plan_import(session, read, self.request, self.writer, lambda found: found in ids)

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        cwd = self.request.cwd or ""
        if plan and plan.result is not None and not cwd:
            cwd = str(plan.result.header.get("cwd", ""))
        return [
            Question("o", "file", self.path, lambda text: replace(self, path=text.strip())),
            Question("d", "directory", cwd, self._in),
        ]

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan) -> Change:
        return self.writer.apply(plan, self.journal)

    def _in(self, text: str) -> Import:
        return replace(self, request=ImportRequest(text.strip() or None))
