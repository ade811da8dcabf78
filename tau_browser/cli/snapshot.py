"""`tau-browse snapshot REF -o FOLDER`: a corpus with hashes, to be kept and verified.

JSON: as in changing.py
"""

from __future__ import annotations

import argparse

from tau_browser.actions.corpora import plan_snapshot
from tau_browser.actions.folder_writer import FolderWriter
from tau_browser.cli import places
from tau_browser.cli.changing import carry_out
from tau_browser.cli.output import Failure, Printer
from tau_browser.stores.aethergraph.corpora import Corpus, read_corpus
from tau_browser.stores.aethergraph.layout import Address, Kind, address_of


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Write the snapshot. Raises Failure, ConfigError and StoreError."""
    address, corpus = corpus_of(args)
    plan = plan_snapshot(address.root, corpus, args.output)
    return carry_out(plan, FolderWriter(), args, printer)


def corpus_of(args: argparse.Namespace) -> tuple[Address, Corpus]:
    """The corpus that `args.ref` names, and where it is. Raises Failure and StoreError."""
    target = places.session(args)
    assert target.path is not None
    if target.store.name == "aethergraph":
        address = address_of(target.path)
        if address.kind is Kind.CORPUS:
            return address, read_corpus(address.root, address.name)
    raise Failure(f"{args.ref}: not a corpus of an aethergraph workspace")
