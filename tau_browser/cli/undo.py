"""`tau-browse undo [ID]`: the changes made so far, and how one is taken back.

JSON: {"changes": [change]} with --list, else {"undone": change, "change": id or null}
"""

from __future__ import annotations

import argparse
from typing import Any

from tau_browser.actions.journal import Journal
from tau_browser.actions.undo import Undoable, change_named, last_undoable, take_back, undoables
from tau_browser.actions.writers import writers
from tau_browser.cli import places
from tau_browser.cli.changing import journal
from tau_browser.cli.output import Failure, Printer, print_json, shown_time
from tau_browser.cli.progress import watched
from tau_browser.config import ConfigError
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.store import Store


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Take a change back, or list all. Raises Failure and StoreError."""
    kept = journal()
    hands = writers(_server(args, kept))
    if args.list:
        if args.id is not None:
            raise Failure("--list lists all changes: leave out the id")
        return _list(undoables(kept, hands), args, printer)
    change = change_named(kept, args.id) if args.id is not None else last_undoable(kept, hands)
    if args.dry_run:
        obstacle = hands[change.store].obstacle(change, kept) if change.store in hands else "?"
        _tell(Undoable(change, obstacle), None, args, printer)
        return 2 if obstacle else 0
    with watched() as tell:
        done = take_back(change, kept, hands, tell)
    again = not hands[change.store].obstacle(done, kept)
    _tell(Undoable(change, ""), done.id, args, printer, again=again)
    return 0


def _server(args: argparse.Namespace, kept: Journal) -> Store | None:
    """The server that is set up, if any, where one of the changes was made on one."""
    if all(change.store != JMFTS for change in kept.changes()):
        return None
    try:
        return places.server(args)
    except ConfigError:
        if args.url or args.token_file or args.store == JMFTS:
            raise
        return None


def _list(found: list[Undoable], args: argparse.Namespace, printer: Printer) -> int:
    if args.json:
        print_json({"changes": iter([_as_json(known) for known in found])})
    elif found:
        printer.table(
            [
                (
                    known.change.id,
                    shown_time(known.change.time),
                    "can be undone" if not known.obstacle else known.obstacle,
                    known.change.about,
                )
                for known in found
            ]
        )
    else:
        printer.line("no change was made yet")
    return 0 if found else 1


def _tell(
    known: Undoable,
    done: str | None,
    args: argparse.Namespace,
    printer: Printer,
    *,
    again: bool = False,
) -> None:
    """done: the change that took it back, if one did · again: whether that can be taken back."""
    if args.json:
        print_json({"undone": _as_json(known), "change": done})
        return
    change = known.change
    printer.line(f"{change.id}  {shown_time(change.time)}  {change.about}")
    printer.line(f"  {change.path}")
    if known.obstacle:
        printer.line(f"cannot be taken back: {known.obstacle}")
    elif done:
        how = f"; `tau-browse undo {done}` makes the change again" if again else ""
        printer.line(f"taken back{how}")
    else:
        printer.line("can be taken back")


def _as_json(known: Undoable) -> dict[str, Any]:
    change = known.change
    return {
        "id": change.id,
        "time": change.time,
        "store": change.store,
        "verb": change.verb,
        "path": change.path,
        "about": change.about,
        "undoes": change.undoes or None,
        "obstacle": known.obstacle or None,
    }
