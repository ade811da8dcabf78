"""`tau-browse saved`: the searches that were saved under a name, and the last queries.

JSON: {"saved": [{"name", "query", "method", "weights", "fusion"}], "history": [query]}
"""

from __future__ import annotations

import argparse

from tau_browser import config
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.search.commands import command_line
from tau_browser.search.saved import SavedError, SavedSearches


def run(args: argparse.Namespace, printer: Printer) -> int:
    """List them, or delete one. Raises Failure."""
    searches = SavedSearches(config.state_folder())
    try:
        if args.delete is not None:
            searches.delete(args.delete)
        saved = searches.all()
    except SavedError as error:
        raise Failure(str(error)) from error
    queries = config.remembered_queries()
    if args.json:
        kept = [
            {
                "name": name,
                "query": each.query,
                "method": each.method.value,
                "weights": each.weights,
                "fusion": each.fused_by.value,
            }
            for name, each in saved.items()
        ]
        print_json({"saved": kept, "history": queries})
    else:
        printer.table([(name, command_line(each)) for name, each in saved.items()] or [("none",)])
        for query in queries:
            printer.line(f"before: {query}")
    return 0 if saved or args.delete is not None else 1
