"""A plan in lines for a person, what matters most first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tau_browser.actions.plan import Item, Measure, Plan, Remedy, Verb
from tau_browser.model.text import counted, safe_line, size_of


class Tone(StrEnum):
    """How a line is meant."""

    PLAIN = ""
    QUIET = "dim"
    STRONG = "strong"
    WARNING = "warning"
    REFUSAL = "error"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of safe text."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs that lines are written with."""

    refused: str = "✗"
    warning: str = "▲"
    about: str = "≈"
    becomes: str = "→"


PLAIN_SIGNS = Signs("x", "!", "~", "->")
"""For where there is only ASCII."""

KEYS = {
    Remedy.FORCE: "F copies it as it is now",
    Remedy.PAIRS: "p takes the other half along",
}
OPTIONS = {
    Remedy.FORCE: "--force copies it as it is now",
    Remedy.PAIRS: "--pairs takes the other half along",
}


def lines_of(plan: Plan, signs: Signs, remedies: dict[Remedy, str]) -> list[Line]:
    """What a plan comes to. remedies: how a person asks for each."""
    return [*_refusals(plan, signs, remedies), *_outline(plan, signs)]


def lists_of(plan: Plan, signs: Signs) -> list[Line]:
    """What goes and what comes, one by one."""
    return [*_references(plan, signs), *_leaving(plan), *_adding(plan)]


def refused(reason: str, signs: Signs) -> Line:
    """The line that says why not."""
    return Line(f"{signs.refused} refused: {safe_line(reason)}", Tone.REFUSAL)


def _refusals(plan: Plan, signs: Signs, remedies: dict[Remedy, str]) -> Iterator[Line]:
    for refusal in plan.refusals:
        names = f": {', '.join(refusal.entries)}" if refusal.entries else ""
        lifted = f" ({remedies[refusal.remedy]})" if refusal.remedy else ""
        yield refused(f"{refusal.reason}{names}{lifted}", signs)


def _outline(plan: Plan, signs: Signs) -> Iterator[Line]:
    yield Line(f"{plan.way.value}, {size_of(plan.content.size)}:", Tone.QUIET)
    yield Line(f"  {safe_line(plan.target)}")
    if plan.beside:
        folder = os.path.commonpath(map(os.path.dirname, plan.beside))
        yield Line(f"  and {counted(len(plan.beside), 'file')} in {safe_line(folder)}")
    if plan.before and plan.after:
        yield from _measures(plan.before, plan.after, signs)
    if plan.leaf:
        program = plan.result.format.program if plan.result else "τ"
        yield Line(f"{program} goes on at {safe_line(plan.leaf.id)}", Tone.STRONG)
        yield Line(f"  {plan.leaf.says}", Tone.QUIET)
    for remark in plan.remarks:
        yield Line(f"{signs.warning} {safe_line(remark)}", Tone.WARNING)


def _measures(before: Measure, after: Measure, signs: Signs) -> Iterator[Line]:
    lines = (
        ("entries", before.entries, after.entries, ""),
        ("in context", before.context, after.context, ""),
        ("tokens", before.tokens, after.tokens, signs.about),
    )
    for name, old, new, about in lines:
        change = "unchanged" if old == new else f"{new - old:+,}"
        yield Line(f"{name:<11}{about}{old:,} {signs.becomes} {about}{new:,}  {change}")


def _references(plan: Plan, signs: Signs) -> Iterator[Line]:
    if not plan.references:
        return
    yield Line("")
    yield Line(f"{counted(len(plan.references), 'reference')} into what goes", Tone.STRONG)
    for loose in plan.references:
        becomes = safe_line(loose.becomes) if loose.becomes else "nothing"
        refers = f"{safe_line(loose.entry)}  {loose.field} {safe_line(loose.target)}"
        yield Line(f"  {refers} {signs.becomes} {becomes}")


def _leaving(plan: Plan) -> Iterator[Line]:
    what = _LEAVING.get(plan.verb, "gone")
    record = "record" if plan.verb is Verb.COMPACT else "entry"
    yield from _listed(f"{what}: {counted(len(plan.leaving), record)}", plan.leaving)


def _adding(plan: Plan) -> Iterator[Line]:
    count = counted(len(plan.adding), _ADDING.get(plan.verb, "entry"))
    yield from _listed(f"{count}, oldest first", plan.adding)


def _listed(title: str, items: tuple[Item, ...]) -> Iterator[Line]:
    if not items:
        return
    yield Line("")
    yield Line(title, Tone.STRONG)
    for item in items:
        tone = Tone.STRONG if item.more else Tone.QUIET
        yield Line(f"  {safe_line(item.id)}  {item.says}".rstrip(), tone)
        yield from (Line(f"      {line}") for line in item.more)


_LEAVING = {
    Verb.FOLD: "out of the context",
    Verb.FORK: "not copied",
    Verb.EXPORT: "not exported",
    Verb.COMPACT: "left out",
    Verb.PROMOTE: "left out",
}
_ADDING = {
    Verb.DISTILL: "source",
    Verb.PROMOTE: "new document",
    Verb.OBSERVE: "call",
}
