"""`tau-browse import SOURCE`: a session of any readable format becomes one of a store."""

from __future__ import annotations

import argparse
import os

from tau_browser import config
from tau_browser.actions.imports import ImportRequest, plan_import
from tau_browser.actions.reading import file_state, read_file
from tau_browser.actions.writers import writer_into
from tau_browser.cli import places
from tau_browser.cli.changing import carry_out, journal
from tau_browser.cli.output import Failure, Printer
from tau_browser.cli.show import load
from tau_browser.stores.adapters import JMFTS, TAU, adapter
from tau_browser.stores.store import Capability, Listed
from tau_browser.stores.targets import Target, only_session, target_of


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Import the session. Raises Failure, ConfigError and StoreError."""
    source = _source(args.source)
    if places.store_name(args) == JMFTS:
        return _to_server(source, args, printer)
    store = places.store(args)
    if Capability.IMPORT not in store.capabilities:
        raise Failure(f"import: {store.title} is read only")
    assert source.path is not None
    read, session = file_state(source.path), load(source)
    cwd = os.path.abspath(os.path.expanduser(args.cwd)) if args.cwd else None
    ids = {store.identify(listed) for listed in store.scan() if isinstance(listed, Listed)}
    writer = writer_into(store)
    plan = plan_import(session, read, ImportRequest(cwd), writer, lambda found: found in ids)
    return carry_out(plan, writer, args, printer)


def _source(word: str) -> Target:
    """The session that is to be imported: a file at any place, or one of τ's own by its id."""
    usual = [str(root.path) for root in places.usual_roots(TAU)]
    files = adapter(TAU)(usual, config.cache_folder())
    return only_session(target_of(word, files, config.cache_folder()))


def _to_server(source: Target, args: argparse.Namespace, printer: Printer) -> int:
    from tau_browser.actions import server_import, server_writer  # which speak HTTP

    if args.cwd:
        raise Failure("--cwd is for files: a conversation on a server keeps its directory")
    assert source.path is not None
    writer = server_writer.ServerWriter(places.server(args))
    plan = server_import.plan_import(read_file(source.path, journal()), writer)
    return carry_out(plan, writer, args, printer)
