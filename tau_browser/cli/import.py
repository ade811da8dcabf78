"""`tau-browse import SOURCE`: a session as a new conversation on a JMFTS server."""

from __future__ import annotations

import argparse

from tau_browser import config
from tau_browser.actions.reading import read_file
from tau_browser.actions.server_import import plan_import
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.cli import places
from tau_browser.cli.changing import carry_out, journal
from tau_browser.cli.output import Failure, Printer
from tau_browser.stores.adapters import JMFTS, TAU, adapter
from tau_browser.stores.targets import only_session, target_of


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Import the session. Raises Failure, ConfigError and StoreError."""
    if places.store_name(args) != JMFTS:
        raise Failure("import writes to a server: give --store jmfts")
    writer = ServerWriter(places.server(args))
    usual = [str(root.path) for root in places.usual_roots(TAU)]
    files = adapter(TAU)(usual, config.cache_folder())
    source = only_session(target_of(args.source, files, config.cache_folder()))
    assert source.path is not None
    plan = plan_import(read_file(source.path, journal()), writer)
    return carry_out(plan, writer, args, printer)
