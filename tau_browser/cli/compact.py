"""`tau-browse compact REF -o FOLDER`: a corpus without what is in it twice, as a new one.

JSON: as in changing.py
"""

from __future__ import annotations

import argparse

from tau_browser.actions.corpora import plan_compact
from tau_browser.actions.folder_writer import FolderWriter
from tau_browser.cli.changing import carry_out
from tau_browser.cli.output import Printer
from tau_browser.cli.snapshot import corpus_of


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Write the new corpus. Raises Failure, ConfigError and StoreError."""
    address, corpus = corpus_of(args)
    plan = plan_compact(address.root, corpus, args.output)
    return carry_out(plan, FolderWriter(), args, printer)
