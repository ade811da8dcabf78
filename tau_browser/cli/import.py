"""`tau-browse import SOURCE`: a session of any readable format becomes one of a store."""

from __future__ import annotations

import argparse
import os

from tau_browser import config
from tau_browser.actions.import_into import plan_into
from tau_browser.actions.imports import ImportRequest
from tau_browser.cli import places
from tau_browser.cli.changing import carry_out, journal
from tau_browser.cli.output import Printer
from tau_browser.stores.adapters import TAU, adapter
from tau_browser.stores.targets import Target, only_session, target_of


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Import the session. Raises Failure, ConfigError and StoreError."""
    cwd = os.path.abspath(os.path.expanduser(args.cwd)) if args.cwd else None
    source = _source(args.source)
    plan, writer = plan_into(places.store(args), source, ImportRequest(cwd), journal())
    return carry_out(plan, writer, args, printer)


def _source(word: str) -> Target:
    """The session that is to be imported: a file at any place, or one of τ's own by its id."""
    usual = [str(root.path) for root in places.usual_roots(TAU)]
    files = adapter(TAU)(usual, config.cache_folder())
    return only_session(target_of(word, files, config.cache_folder()))
