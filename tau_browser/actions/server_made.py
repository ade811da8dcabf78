"""What a change made on a server, by the line of the journal that was there before it: it is found
even where the change was cut off, or the server's answer never came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.progress import Stopped
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.documents import TAU
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.jmfts.storing import MADE_BY, PROMOTED
from tau_browser.stores.store import StoreError


def begun(store: JmftsStore, change: Change) -> int | None:
    """The root of what was cut off while the change made it, if any. Raises JmftsError."""
    return next((left.document for left in store.unfinished() if left.change == change.id), None)


def adds(change: Change) -> bool:
    """Whether a change adds to what was there before."""
    return "entry" in change.memo or "promoted" in change.memo


def added(store: JmftsStore, change: Change) -> list[int]:
    """The documents that a change added to what was there before. Raises JmftsError."""
    if "promoted" in change.memo:
        there = thread.run(store.client.children(change.memo["root"], PROMOTED))
        return [each.id for each in there if each.structured.get(MADE_BY) == change.id]
    entry = change.memo["entry"]
    payload = entry["tau"]
    there = thread.run(store.client.children(entry["parent"], TAU + payload["type"]))
    return [
        each.id
        for each in there
        if each.id > entry["after"] and each.structured.get("tau") == payload
    ]


def remove(store: JmftsStore, change: Change) -> None:
    """Remove what a change made. Raises JmftsError."""
    memo = change.memo
    if adds(change):
        documents = added(store, change)
        for document in reversed(documents):
            thread.run(store.client.delete(document))
        if documents and memo.get("title"):
            thread.run(store.client.update(int(memo["root"]), {"title": memo["title"]}))
        return
    cut_off = begun(store, change)
    if (root := memo.get("root") if cut_off is None else cut_off) is not None:
        thread.run(store.client.delete(root))


def is_whole(undo: Change) -> bool:
    """Whether an undo has made anew all that was deleted, and has but to move it where it was."""
    return "made" in undo.memo


def cut_off_undo(store: JmftsStore, change: Change, journal: Journal) -> Change | None:
    """The undo of a change that was cut off, if any. Raises StoreError."""
    undos = (each for each in journal.changes() if each.undoes == change.id)
    return next((undo for undo in undos if begun(store, undo) is not None), None)


@contextmanager
def all_or_nothing(store: JmftsStore, change: Change) -> Iterator[None]:
    """Within it, a change is made; where that fails or is stopped, what was made is removed.

    Raises StoreError where some of it is left.
    """
    try:
        yield
    except BaseException as error:
        try:
            remove(store, change)
        except (StoreError, KeyboardInterrupt) as worse:
            why = "stopped" if isinstance(error, Stopped) else error
            raise StoreError(
                f"{why}; what was made so far is left on the server: "
                f"`tau-browse undo {change.id}` removes it"
            ) from worse
        raise
