"""`tau-browse fork REF`: a new session out of all entries of one, or of some."""

from __future__ import annotations

import argparse
import os

from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.cli.changing import carry_out, entries_named, subject
from tau_browser.cli.output import Printer
from tau_browser.stores.store import Capability


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Fork the session. Raises Failure, ConfigError and StoreError."""
    reading, writer = subject(args, Capability.FORK)
    at = entries_named(reading.session, [args.at] if args.at is not None else [])
    request = ForkRequest(
        at=at[0] if at else None,
        only=entries_named(reading.session, args.only or []),
        cwd=os.path.abspath(os.path.expanduser(args.cwd)) if args.cwd else None,
        name=args.name or "",
        pairs=args.pairs,
        force=args.force,
    )
    return carry_out(plan_fork(reading, request, writer), writer, args, printer)
