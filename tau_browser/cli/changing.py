"""What the verbs that change something share: the subject, the preview, the doing.

JSON: {"plan": the plan (actions/plan.py: described), "change": id or null, "resume": command}
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from tau_browser import config
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, described
from tau_browser.actions.reading import Reading
from tau_browser.actions.wording import OPTIONS, PLAIN_SIGNS, Signs, lines_of, lists_of
from tau_browser.actions.writer import Hand, Writer
from tau_browser.actions.writers import writer_beside
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.progress import watched
from tau_browser.cli.show import entry_named
from tau_browser.model.resume import resume_command
from tau_browser.model.session import Session
from tau_browser.stores.store import Capability, why_not

REFUSED = 2


def journal() -> Journal:
    """The journal of this person's changes."""
    return Journal(config.changes_folder())


def subject(args: argparse.Namespace, needed: Capability) -> tuple[Reading, Writer]:
    """The session that `args.ref` names, and who writes what is made of it.

    Raises Failure where its store cannot do what is needed, ConfigError and StoreError.
    """
    target = places.session(args)
    assert target.path is not None
    if needed not in target.store.capabilities:
        raise Failure(why_not(target.store, needed))
    writer = writer_beside(target.store, target.path)
    return writer.read(target.path, journal()), writer


def entries_named(session: Session, names: list[str]) -> tuple[int, ...]:
    """The entries with these ids, or with the only ids that begin so. Raises Failure."""
    return tuple(entry_named(session, name) for name in names)


def carry_out(
    plan: Plan, writer: Hand, args: argparse.Namespace, printer: Printer, **more: Any
) -> int:
    """Show a plan and, unless it is refused or only asked for, do it. Returns the exit code.

    more: what else is to stand in the JSON.
    """
    if not args.json:
        print_plan(plan, printer)
    change = None
    if not plan.refusals and not args.dry_run:
        with watched() as tell:
            change = writer.apply(plan, journal(), tell)
    if args.json:
        found = {"plan": described(plan), "change": change.id if change else None}
        print_json(found | {"resume": _resume(plan, change)} | more)
    elif change is not None:
        printer.line()
        printer.line(f"done: {change.path}")
        if plan.read is None or change.path != plan.read.path:
            _print_resume(plan, change, printer)
        printer.line(f"`tau-browse undo {change.id}` takes it back")
    if plan.refusals:
        print("tau-browse: refused: nothing was written", file=sys.stderr)
        return REFUSED
    return 0


def print_plan(plan: Plan, printer: Printer) -> None:
    """Print what a plan comes to."""
    signs = PLAIN_SIGNS if printer.ascii_only else Signs()
    printer.line(plan.about)
    for line in [*lines_of(plan, signs, OPTIONS), *lists_of(plan, signs)]:
        printer.line(line.text)


def _print_resume(plan: Plan, change: Change, printer: Printer) -> None:
    if command := _resume(plan, change):
        printer.line(f"resume: {command}")


def _resume(plan: Plan, change: Change | None) -> str | None:
    """The command that goes on with the session that a plan makes."""
    if plan.result is None:
        return None
    made = change.path if change is not None else plan.target
    return resume_command(plan.store, plan.result, made) or None
