"""`tau-browse rename REF NAME`: a session's new name, where τ looks for it."""

from __future__ import annotations

import argparse

from tau_browser.actions.rename import plan_rename
from tau_browser.cli.changing import carry_out, subject
from tau_browser.cli.output import Printer
from tau_browser.stores.store import Capability


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Rename the session. Raises Failure, ConfigError and StoreError."""
    reading, writer = subject(args, Capability.RENAME)
    return carry_out(plan_rename(reading, args.name, writer), writer, args, printer)
