"""Taking changes back: the last one that still stands, or any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Refused, Verb
from tau_browser.actions.progress import Tell, silent
from tau_browser.actions.writer import Hand

Writers = Mapping[str, Hand]
"""The hands of stores, by the store's name."""


@dataclass(frozen=True, slots=True)
class Undoable:
    """A change, and why it cannot be taken back now ("" if it can)."""

    change: Change
    obstacle: str


def undoables(journal: Journal, writers: Writers) -> list[Undoable]:
    """All changes, the newest first. Raises StoreError."""
    return [
        Undoable(change, _obstacle(change, journal, writers))
        for change in reversed(journal.changes())
    ]


def last_undoable(journal: Journal, writers: Writers) -> Change:
    """The newest change that stands and can be taken back; an undo is not one. Raises Refused."""
    changes = [change for change in journal.changes() if change.verb != Verb.UNDO]
    for change in reversed(changes):
        if not _obstacle(change, journal, writers):
            return change
    raise Refused("nothing to undo: no change was made that could be taken back now")


def change_named(journal: Journal, name: str) -> Change:
    """The change with this id, or the only one whose id begins so. Raises Refused."""
    found = [change for change in journal.changes() if name and change.id.startswith(name)]
    if len(found) != 1:
        raise Refused(f"{len(found) or 'no'} changes are called {name!r}; undo --list names them")
    return found[0]


def take_back(change: Change, journal: Journal, writers: Writers, tell: Tell = silent) -> Change:
    """Take a change back. Raises Refused, with the reason; Stopped, StoreError."""
    if why := _obstacle(change, journal, writers):
        raise Refused(f"{change.id} cannot be taken back: {why}")
    return writers[change.store].undo(change, journal, tell)


def _obstacle(change: Change, journal: Journal, writers: Writers) -> str:
    writer = writers.get(change.store)
    if writer is None:
        return f"the store {change.store!r} is not open"
    return writer.obstacle(change, journal)
