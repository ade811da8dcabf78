"""`tau-browse index`: the index behind `search`: what it holds, bringing it up to date.

JSON: {"folder", "bytes", "sessions", "entries", "indexed", "embedded", "skipped", "remarks"}
"""

from __future__ import annotations

import argparse

from tau_browser import config
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.search import opened, refresh, tell_progress
from tau_browser.model.text import size_of
from tau_browser.search.engine import Engine
from tau_browser.search.index.folder import IndexBusy, NoIndex
from tau_browser.stores.adapters import JMFTS


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Do what was asked and print what there is now. Raises Failure and ConfigError."""
    remarks: list[str] = []
    if places.store_name(args) == JMFTS:
        raise Failure("a server has its own indexes: `tau-browse enrich` completes them")
    with opened(Engine(places.store(args), config.cache_folder())) as engine:
        try:
            if args.rebuild:
                engine.update(tell_progress(), rebuild=True)
            if not args.status:
                remarks = refresh(engine, embedding=True)
            coverage = engine.coverage()
        except (IndexBusy, NoIndex) as error:
            code = 1 if isinstance(error, NoIndex) else 2
            raise Failure(f"{error}; `tau-browse index` makes it", code=code) from error
        facts = {
            "folder": str(engine.folder),
            "bytes": engine.size(),
            "sessions": coverage.sessions,
            "entries": coverage.entries,
            "indexed": coverage.indexed,
            "embedded": coverage.embedded,
            "skipped": [{"path": path, "reason": reason} for path, reason in coverage.skipped],
            "remarks": remarks,
        }
    if args.json:
        print_json(facts)
        return 0
    rows = [
        ("folder", facts["folder"]),
        ("size", size_of(engine.size())),
        ("sessions", f"{coverage.sessions:,}"),
        ("entries", f"{coverage.entries:,}, of which {coverage.indexed:,} say something new"),
        ("embedded", f"{coverage.embedded:,} of {coverage.indexed:,}"),
        *(("not readable", f"{path}: {reason}") for path, reason in coverage.skipped),
        *(("note", remark) for remark in remarks),
    ]
    printer.table([(name, str(value)) for name, value in rows])
    return 0
