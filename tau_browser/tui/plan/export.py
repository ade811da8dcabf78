"""The proposal of an export: its form, its part, its name, and the secrets to be hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tau_browser.actions.export.request import ExportRequest, Format
from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan
from tau_browser.actions.progress import Tell
from tau_browser.actions.wording import Line, Tone
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.stores.store import Store, StoreError
from tau_browser.tui.plan.proposal import Choice, Detail, Question

if TYPE_CHECKING:
    from tau_browser.actions.export.plan import Exporting
    from tau_browser.actions.redaction.findings import Finding

_KEYS = {Format.HTML: "h", Format.MARKDOWN: "m", Format.JSON: "J", Format.JSONL: "l"}


@dataclass(frozen=True, slots=True)
class Export:
    """An export of the session at a path. at: the entry under the cursor, by place · marked: the
    marked ones · made: what the last plan was made from, kept for its findings."""

    store: Store
    path: str
    journal: Journal
    at: int
    marked: tuple[int, ...]
    request: ExportRequest
    _made: list[Exporting] = field(default_factory=list, compare=False, repr=False)

    def plan(self) -> Plan:
        from tau_browser.actions.export.plan import plan_export  # 0.2 s of imports: in the thread

        exporting = plan_export(_whole(self.store, self.path), self.request)
        self._made[:] = [exporting]
        return exporting.plan

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        request = self.request
        forms = [
            Choice(key, form.value, self._with(format=form))
            for form, key in _KEYS.items()
            if form is not request.format
        ]
        parts = [
            Choice(key, name, self._with(**(_PARTLESS | part)))
            for key, name, part in self._parts()
            if any(getattr(request, name) != value for name, value in (_PARTLESS | part).items())
        ]
        words = "shows secrets" if request.redacts else "hides secrets"
        secrets = Choice("s", words, self._with(redact=not request.redacts))
        output = plan.target if plan else request.output
        name = Question("o", "file", output, lambda text: self._with(output=text.strip()))
        return [*forms, *parts, secrets, name]

    def details(self, plan: Plan) -> Sequence[Detail]:
        """The secrets, each with a switch."""
        findings = self._made[0].findings if self._made else []
        if not findings:
            return []
        count = counted(len(findings), "secret")
        head = Detail(Line(f"{count}: Space hides or shows the one under the cursor", Tone.STRONG))
        return [Detail(Line("")), head, *map(self._detail, findings)]

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        return FileWriter("").apply(plan, self.journal, tell)

    def _parts(self) -> list[tuple[str, str, dict[str, Any]]]:
        parts: list[tuple[str, str, dict[str, Any]]] = [
            ("1", "all", {}),
            ("2", "path to here", {"at": self.at}),
            ("3", "subtree", {"subtree": self.at}),
        ]
        return [*parts, ("4", "marked", {"only": self.marked})] if self.marked else parts

    def _detail(self, finding: Finding) -> Detail:
        request = self.request
        hidden = request.redacts and finding.secret not in request.shown
        switch = None
        if request.redacts:
            switch = self._with(shown=request.shown ^ {finding.secret})
        name = finding.placeholder if hidden else "as it is"
        around = f"{finding.before}{finding.hint}{finding.after}"
        where = f"{counted(finding.count, 'time')}, first in {finding.entry}"
        text = f"  [{'x' if hidden else ' '}] {name}  {where}: {around}"
        return Detail(Line(safe_line(text), Tone.QUIET), switch)

    def _with(self, **chosen: Any) -> Export:
        return replace(self, request=replace(self.request, **chosen), _made=[])


_PARTLESS: dict[str, Any] = {"at": None, "subtree": None, "only": ()}


def _whole(store: Store, path: str) -> Session:
    """The whole session as it is stored now. Raises StoreError."""
    session = None
    for progress in store.open(path).load():
        session = progress.session
    if session is None:
        raise StoreError(f"{path}: nothing could be read")
    return session
