"""A plan in lines, what matters most first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tau_browser.actions.plan import Measure, Plan, Remedy, Verb
from tau_browser.model.text import counted, safe_line, size_of
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.plan.proposal import Detail

_LIFTED_BY = {
    Remedy.FORCE: "Shift+F copies it as it is now",
    Remedy.PAIRS: "p takes the other half along",
}


def rows_of(plan: Plan, details: Sequence[Detail], glyphs: Glyphs) -> list[Detail]:
    """The lines of a plan."""
    return [*_rows(plan, glyphs), *details, *_lists(plan, glyphs)]


def refused(reason: str, glyphs: Glyphs) -> Detail:
    """The line that says why not."""
    return Detail(f"{glyphs.speakers['error']} refused: {safe_line(reason)}", "error")


def _rows(plan: Plan, glyphs: Glyphs) -> Iterator[Detail]:
    for refusal in plan.refusals:
        lifted = f" ({_LIFTED_BY[refusal.remedy]})" if refusal.remedy else ""
        names = f": {', '.join(refusal.entries)}" if refusal.entries else ""
        yield refused(f"{refusal.reason}{names}{lifted}", glyphs)
    yield Detail(f"{plan.way.value}, {size_of(plan.content.size)}:", "dim")
    yield Detail(f"  {safe_line(plan.target)}")
    if plan.before and plan.after:
        yield from _measures(plan.before, plan.after, glyphs)
    if plan.leaf:
        yield Detail(f"τ goes on at {safe_line(plan.leaf.id)}", "strong")
        yield Detail(f"  {plan.leaf.says}")
    for remark in plan.remarks:
        yield Detail(f"{glyphs.warning} {safe_line(remark)}", "warning")


def _measures(before: Measure, after: Measure, glyphs: Glyphs) -> Iterator[Detail]:
    lines = (
        ("entries", before.entries, after.entries, ""),
        ("in context", before.context, after.context, ""),
        ("tokens", before.tokens, after.tokens, glyphs.about),
    )
    for name, old, new, about in lines:
        change = "unchanged" if old == new else f"{new - old:+,}"
        yield Detail(f"{name:<11}{about}{old:,} {glyphs.becomes} {about}{new:,}  {change}")


def _lists(plan: Plan, glyphs: Glyphs) -> Iterator[Detail]:
    if plan.references:
        yield Detail("")
        yield Detail(f"{counted(len(plan.references), 'reference')} into what goes", "strong")
        for loose in plan.references:
            becomes = safe_line(loose.becomes) if loose.becomes else "nothing"
            text = f"  {safe_line(loose.entry)}  {loose.field} {safe_line(loose.target)}"
            yield Detail(f"{text} {glyphs.becomes} {becomes}")
    if plan.leaving:
        what = "leave the context" if plan.verb is Verb.FOLD else "go"
        if plan.verb is Verb.FORK:
            what = "not copied"
        yield Detail("")
        yield Detail(f"{counted(len(plan.leaving), 'entry')} {what}", "strong")
        for item in plan.leaving:
            yield Detail(f"  {safe_line(item.id)}  {item.says}", "dim")
