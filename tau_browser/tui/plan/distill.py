"""The proposal of a digest: of what, as what, and where to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tau_browser.actions.distill.digest import DigestRequest, digest_of, tools_in
from tau_browser.actions.distill.writing import plan_distill
from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.progress import Tell
from tau_browser.model.session import Session
from tau_browser.tui.plan import typed
from tau_browser.tui.plan.proposal import Choice, Detail, Proposal, Question

TURNS = 10


@dataclass(frozen=True, slots=True)
class Distill:
    """A digest of a session as it is shown. here: the entry that is meant, by place · keep:
    proposes to keep it in a corpus instead, None without a server · output, form: its file, or
    how the name ends that it gets · problem: why the last answer will not do."""

    session: Session
    journal: Journal
    here: int
    request: DigestRequest
    keep: Callable[[DigestRequest, str], Proposal] | None
    output: str = ""
    form: str = "md"
    redact: bool = True
    problem: str = ""

    def plan(self) -> Plan:
        if self.problem:
            raise Refused(self.problem)
        digest = digest_of(self.session, self.request)
        output = self.output or f"digest-{digest.id[:12]}.{self.form}"
        return plan_distill(digest, output, redact=self.redact)

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        request = self.request
        other = {"md": ("J", "json"), "json": ("m", "md")}[self.form]
        output = plan.target if plan else self.output
        choices: list[Choice | Question] = [
            Question("n", "last N turns", str(request.turns or TURNS), self._rolling),
            Question("t", "tool", request.tool or self._tool_here(), self._of_tool),
        ]
        if request.under is None:
            choices.append(Choice("b", "below here", self._of(under=self.here)))
        if request.at is None:
            choices.append(Choice("a", "as of here", self._asking(at=self.here)))
        else:
            choices.append(Choice("a", "as of the leaf", self._asking(at=None)))
        digests = "leaves digests out" if request.with_digests else "takes digests, too"
        secrets = "shows secrets" if self.redact else "hides secrets"
        if (keep := self.keep) is not None:
            into = Question("k", "keeps it in a corpus", "", lambda to: keep(request, to))
            choices.append(into)
        return [
            *choices,
            Question("v", "signal", f"{request.min_signal / 100:g}", self._worth),
            Question("c", "characters", str(request.most), self._as_long_as),
            Choice("w", digests, self._asking(with_digests=not request.with_digests)),
            Choice("s", secrets, self._with(redact=not self.redact)),
            Choice(other[0], other[1], self._with(form=other[1], output="")),
            Question("o", "file", output, lambda text: self._with(output=text.strip())),
        ]

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        return FileWriter("").apply(plan, self.journal, tell)

    def _tool_here(self) -> str:
        """The tool of the entry that is meant; of its names, the one that holds the others."""
        return max(tools_in(self.session.record(self.here)), key=len, default="")

    def _rolling(self, text: str) -> Distill:
        return self._answered(lambda: self._of(turns=typed.whole(text)))

    def _of_tool(self, text: str) -> Distill:
        return self._of(tool=text.strip()) if text.strip() else self

    def _worth(self, text: str) -> Distill:
        return self._answered(lambda: self._asking(min_signal=typed.signal(text)))

    def _as_long_as(self, text: str) -> Distill:
        return self._answered(lambda: self._asking(most=typed.whole(text)))

    def _answered(self, answer: Callable[[], Distill]) -> Distill:
        """With what was typed, or with what is wrong with that."""
        try:
            return answer()
        except Refused as refused:
            return self._with(problem=str(refused))

    def _of(
        self, *, turns: int | None = None, tool: str | None = None, under: int | None = None
    ) -> Distill:
        return self._asking(turns=turns, tool=tool, under=under)

    def _asking(self, **asked: Any) -> Distill:
        return self._with(request=replace(self.request, **asked))

    def _with(self, **chosen: Any) -> Distill:
        return replace(self, **{"problem": "", **chosen})
