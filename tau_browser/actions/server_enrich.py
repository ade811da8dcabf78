"""Enriching: a conversation on a server gets what it is searched by.

What is to be done is told by the server's own state. It can be stopped anywhere, and asked again it
goes on from there. Nothing that anybody said is changed, so there is nothing to take back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tau_browser.actions.progress import Progress, Stopped, Tell, silent, span
from tau_browser.actions.wording import Line, Signs, Tone, refused
from tau_browser.model.summary import summary_of
from tau_browser.model.text import counted, safe_line
from tau_browser.stores.jmfts.enriching import NO_MODEL, Step, Survey, enriched, surveyed
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import StoreError, whole


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What is to be done in the conversation at a path. flaws: why nothing may be."""

    path: str
    title: str
    survey: Survey
    flaws: tuple[str, ...]

    @property
    def about(self) -> str:
        """It in one line."""
        return f"enrich {self.path}: {safe_line(self.title)}"

    @property
    def steps(self) -> int:
        """How much is to be done now."""
        return 0 if self.flaws else self.survey.steps


@dataclass(slots=True)
class Enriched:
    """What was done: how often what. left: how many steps were not come to · stopped: whether a
    person stopped it."""

    left: int
    done: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    stopped: bool = False

    @property
    def about(self) -> str:
        """It in one line."""
        said = ", ".join(f"{count:,} {did}" for did, count in self.done.items()) or "nothing"
        return f"paused after {said}" if self.stopped else f"done: {said}"


def plan_enrich(
    store: JmftsStore, path: str, index: str | None = None, tell: Tell = silent
) -> Enrichment:
    """What a conversation lacks. index: a BM25 index that is to hold it, too. Raises Stopped,
    StoreError."""
    opened = store.open(path)
    session = whole(opened)
    title = summary_of(session).title
    if opened.flaws:
        return Enrichment(path, title, Survey(), tuple(opened.flaws))
    looking = surveyed(store.client, int(path), session, index)
    while True:
        try:
            tell(Progress("looking at", *next(looking), "entry"))
        except StopIteration as end:
            return Enrichment(path, title, end.value, ())


def enrich(store: JmftsStore, plan: Enrichment, tell: Tell = silent) -> Enriched:
    """Do it, until it is done, stopped, or of no use: that the report says."""
    report = Enriched(plan.steps)
    if not plan.steps:
        return report
    total = plan.steps
    try:
        tell(Progress("enriching", 0, total))
        for count, step in enumerate(enriched(store.client, plan.survey), 1):
            _note(step, report)
            total += step.more
            report.left = total - count
            tell(Progress("enriching", count, total))
    except Stopped:
        report.stopped = report.left > 0
    except StoreError as error:
        report.problems.append(str(error))
    return report


def _note(step: Step, report: Enriched) -> None:
    if step.problem:
        report.problems.append(f"document {step.document}: {step.problem}")
    else:
        report.done[step.did] += 1


def lines_of(plan: Enrichment, signs: Signs) -> Iterator[Line]:
    """What is to be done, and what is left alone and why."""
    for flaw in plan.flaws:
        yield refused(f"{flaw}: it is left as it is", signs)
    if plan.flaws:
        return
    survey = plan.survey
    if survey.steps:
        yield Line(f"to do, {signs.about} {span(survey.seconds)}:", Tone.STRONG)
    else:
        yield Line("nothing to do", Tone.STRONG)
    index = safe_line(survey.into)
    for count, what, why in (
        (
            len(survey.embed),
            "entry",
            f"to embed, {signs.about} {counted(survey.vectors, 'vector')}",
        ),
        (len(survey.pieces), "piece", "of entries to embed"),
        (len(survey.stale), "piece", "to remove, cut from what another conversation says"),
        (len(survey.index), "entry", f"to put into the index {index!r}, which lacks their words"),
    ):
        if count:
            yield Line(f"  {counted(count, what)} {why}")
    if survey.skipped:
        yield Line("left alone:", Tone.STRONG)
    for reason, count in survey.skipped.items():
        yield Line(f"  {counted(count, 'entry')}: {reason}", Tone.QUIET)
    if missing := survey.skipped[NO_MODEL]:
        said = f"{counted(missing, 'entry')} cannot be found by meaning: {NO_MODEL}"
        yield Line(f"{signs.warning} {said}", Tone.WARNING)


def lines_of_report(report: Enriched, signs: Signs) -> Iterator[Line]:
    """What was done, and what was not and why."""
    yield Line(report.about, Tone.STRONG)
    if report.left:
        yield Line(f"  {report.left:,} left to do", Tone.QUIET)
    for problem in report.problems:
        yield Line(f"{signs.warning} not done: {safe_line(problem)}", Tone.WARNING)
