"""`tau-browse label REF [ENTRY [LABEL]]`: labels and notes on entries, kept beside the log.

JSON: {"labels": [{"entry", "label", "note"}]} without a LABEL, else {"change": id}
"""

from __future__ import annotations

import argparse

from tau_browser import config
from tau_browser.actions.labels import Label, Labels, labels_of
from tau_browser.cli import places
from tau_browser.cli.changing import journal
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.show import entry_named, load


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Write on an entry, or list what is written. Raises Failure, ConfigError and StoreError."""
    target = places.session(args)
    session = load(target)
    if not session.id:
        raise Failure("the session has no id, so that nothing could be found again")
    assert target.path is not None
    labels = labels_of(config.labels_folder(), target.store, target.path, session.id)
    if args.entry is None or (args.label is None and args.note is None):
        return _list(labels, args, printer)
    entry = session.entry_id(entry_named(session, args.entry))
    old = labels.all().get(entry, Label())
    text = old.text if args.label is None else args.label.strip()
    note = old.note if args.note is None else args.note.strip()
    label = Label(text, note)
    change = None if args.dry_run else labels.put(entry, label, journal())
    if args.json:
        print_json({"change": change.id if change else None})
    else:
        printer.line(f"{entry}  {text}" if label else f"{entry}: no label any more")
        if change is not None:
            printer.line(f"`tau-browse undo {change.id}` takes it back")
    return 0


def _list(labels: Labels, args: argparse.Namespace, printer: Printer) -> int:
    found = labels.all()
    if args.entry is not None:
        found = {entry: label for entry, label in found.items() if entry.startswith(args.entry)}
    if args.json:
        rows = (
            {"entry": entry, "label": label.text or None, "note": label.note or None}
            for entry, label in found.items()
        )
        print_json({"labels": iter(list(rows))})
    elif found:
        printer.table([(entry, label.text, label.note) for entry, label in found.items()])
    else:
        printer.line("no labels")
    return 0 if found else 1
