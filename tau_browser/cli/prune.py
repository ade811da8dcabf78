"""`tau-browse prune REF ENTRY...`: without some subtrees; or a context that begins later."""

from __future__ import annotations

import argparse
import sys

from tau_browser.actions.plan import Plan, Way
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.cli.changing import carry_out, entries_named, print_plan, subject
from tau_browser.cli.output import Failure, Printer, is_terminal
from tau_browser.stores.store import Capability

_NEEDED = {
    How.COPY: Capability.PRUNE,
    How.IN_PLACE: Capability.PRUNE_IN_PLACE,
    How.FOLD: Capability.FOLD,
}


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Prune the session. Raises Failure, ConfigError and StoreError."""
    how = How.IN_PLACE if args.in_place else How.FOLD if args.fold else How.COPY
    if how is How.FOLD and len(args.entry) > 1:
        raise Failure("--fold takes one entry: the one at which the context is to begin")
    reading, writer = subject(args, _NEEDED[how])
    roots = entries_named(reading.session, args.entry)
    request = PruneRequest(roots, how, pairs=args.pairs, force=args.force)
    plan = plan_prune(reading, request, writer)
    if plan.way is Way.REPLACE and not plan.refusals and not args.dry_run:
        _confirm(plan, args, printer)
    return carry_out(plan, writer, args, printer)


def _confirm(plan: Plan, args: argparse.Namespace, printer: Printer) -> None:
    """What goes from the session itself is to be confirmed by its number. Raises Failure."""
    expected = str(len(plan.leaving))
    given = args.confirm
    if given is None and is_terminal() and not args.json:
        print_plan(plan, printer)
        print(f"to prune in place, type {expected}: ", end="", file=sys.stderr, flush=True)
        given = sys.stdin.readline()
    if given is None:
        raise Failure(f"in place, --confirm {expected} must say how many entries go")
    if given.strip() != expected:
        raise Failure(f"{given.strip()!r} is not {expected}: nothing was written")
