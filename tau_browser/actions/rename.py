"""Renaming: a session_info under the leaf, as τ and pi themselves do it (tau-format 3.7)."""

from __future__ import annotations

from tau_browser.actions.making import appended, item, measure
from tau_browser.actions.plan import Plan, Refused, Verb, Way
from tau_browser.actions.programs.known import rules_of
from tau_browser.actions.reading import Reading
from tau_browser.actions.writer import Writer
from tau_browser.model.text import safe_line


def plan_rename(reading: Reading, name: str, writer: Writer) -> Plan:
    """The plan of a new name. Raises Refused for an empty one."""
    session, name = reading.session, name.strip()
    if not name:
        raise Refused("a name cannot be empty")
    rules = rules_of(session)
    draft = appended(session, rules.name_line(session, name))
    result = rules.read(draft, rules.own_header(session))
    return Plan(
        verb=Verb.RENAME,
        store=writer.store,
        about=f"rename {safe_line(session.id[:8])} to {safe_line(name)}",
        read=reading.read,
        way=Way.APPEND,
        target=reading.read.path,
        content=draft,
        result=result,
        before=measure(session),
        after=measure(result),
        leaf=item(result, result.leaf),
        refusals=(*rules.unfit(reading), *reading.busy()),
        remarks=tuple(writer.remarks(Way.APPEND, result)),
    )
