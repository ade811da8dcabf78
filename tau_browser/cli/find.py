"""`tau-browse find REF QUERY`: the entries of a session that hold a text.

JSON: {"query", "hits": [{"entry", "spans": [[start, end]], "snippet"}], "total"}
"""

from __future__ import annotations

import argparse
from typing import Any

from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.show import load
from tau_browser.model.label import speaker_of
from tau_browser.model.session import Session
from tau_browser.model.text import counted
from tau_browser.search.find import Pattern, QueryError, find, pattern_of, snippet


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the hits in the order of the tree. Raises Failure, ConfigError and StoreError."""
    try:
        pattern = pattern_of(args.query, regex=args.regex)
        if pattern is None:
            raise Failure("the query is blank")
        session = load(places.session(args))
        hits = [place for batch in find(session, pattern) for place in batch.hits]
        hits.sort(key=session.tree.position.__getitem__)
        shown = hits[: args.limit]
        if args.json:
            found = (_as_json(session, place, pattern) for place in shown)
            print_json({"query": args.query, "hits": found, "total": len(hits)})
        else:
            _print(session, pattern, shown, len(hits), printer)
    except QueryError as error:
        raise Failure(f"{args.query}: {error}") from error
    return 0 if hits else 1


def _as_json(session: Session, place: int, pattern: Pattern) -> dict[str, Any]:
    text = session.text(place)
    spans = pattern.spans(text)
    return {
        "entry": session.entry_id(place),
        "spans": spans,
        "snippet": snippet(text, spans).text,
    }


def _print(
    session: Session, pattern: Pattern, shown: list[int], total: int, printer: Printer
) -> None:
    for place in shown:
        record = session.record(place)
        text = session.text(place)
        before = f"{session.entry_id(place)}  {speaker_of(record)}: "
        around = snippet(text, pattern.spans(text))
        marks = [(start + len(before), stop + len(before)) for start, stop in around.marks]
        printer.line(before + around.text, marks)
    of_all = f"{total:,} of {counted(len(session), 'entry')}"
    printer.line(f"{of_all}, {len(shown):,} shown" if len(shown) < total else of_all)
