"""`tau-browse snapshot REF -o FOLDER`: a corpus with hashes, to be kept and verified.

JSON: {"plan": {"about", "target", "corpus", "documents", "chunks", "files", "bytes", "gone",
"remarks", "anchor"}, "written"}
"""

from __future__ import annotations

import argparse

from tau_browser.actions.corpora import CorpusPlan, described, plan_compact, plan_snapshot, write
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.model.text import counted, size_of
from tau_browser.stores.aethergraph.corpora import Corpus, read_corpus
from tau_browser.stores.aethergraph.layout import Address, Kind, address_of

_SHOWN = 20  # of what a compacted corpus leaves out


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Write the snapshot. Raises Failure, ConfigError and StoreError."""
    return carry_out(args, printer, compact=False)


def carry_out(args: argparse.Namespace, printer: Printer, *, compact: bool) -> int:
    """Show what would be written and, unless only that was asked for, write it."""
    address, corpus = _corpus(args)
    make = plan_compact if compact else plan_snapshot
    plan = make(address.root, corpus, args.output)
    if not args.json:
        _print(plan, printer)
    if not args.dry_run:
        write(plan)
    if args.json:
        print_json({"plan": described(plan), "written": not args.dry_run})
    elif not args.dry_run:
        printer.line()
        printer.line(f"done: {plan.target}; `tau-browse verify {plan.target}` holds it against")
        printer.line(f"anchor: {plan.anchor} (keep it elsewhere)")
    return 0


def _corpus(args: argparse.Namespace) -> tuple[Address, Corpus]:
    target = places.session(args)
    assert target.path is not None
    if target.store.name == "aethergraph":
        address = address_of(target.path)
        if address.kind is Kind.CORPUS:
            return address, read_corpus(address.root, address.name)
    raise Failure(f"{args.ref}: not a corpus of an aethergraph workspace")


def _print(plan: CorpusPlan, printer: Printer) -> None:
    printer.line(plan.about)
    size = size_of(sum(map(len, plan.files.values())))
    counts = [counted(plan.documents, "document"), counted(plan.chunks, "chunk")]
    printer.line(f"  {', '.join(counts)}, {counted(len(plan.files), 'file')}, {size}")
    printer.line(f"  written anew: {plan.target}")
    for each in plan.gone[:_SHOWN]:
        into = f" ({each.into})" if each.into else ""
        printer.line(f"  left out: {each.what} {each.id}: {each.why}{into}")
    if (more := len(plan.gone) - _SHOWN) > 0:
        printer.line(f"  left out: {more:,} more")
    for remark in plan.remarks:
        printer.line(f"  note: {remark}")
