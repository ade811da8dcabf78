"""Pruning in place on a server: subtrees are deleted there, and undo makes them anew.

A document cannot be brought back under its number: what is deleted is in the trash before.
"""

from __future__ import annotations

from dataclasses import replace

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan
from tau_browser.actions.progress import Progress, Tell
from tau_browser.actions.references import references_of
from tau_browser.actions.server_log import (
    changed,
    ids_of,
    keep,
    kept_in,
    parent_id,
    records_of,
    referring_to,
    without_pieces,
)
from tau_browser.actions.server_made import all_or_nothing, cut_off_undo, is_whole, remove
from tau_browser.actions.server_making import fill, last_seq, require_allowed, rewrite
from tau_browser.model.session import Session
from tau_browser.stores.jmfts import storing, thread
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import StoreError


def cut(
    store: JmftsStore, source: Session, plan: Plan, change: Change, journal: Journal, tell: Tell
) -> Change:
    """Delete subtrees in place, and change what referred to them. Raises Refused, Stopped,
    StoreError."""
    assert plan.result is not None and plan.read is not None
    client, root = store.client, int(plan.read.path)
    gone = {item.id for item in plan.leaving}
    tops = [
        int(source.entry_id(at))
        for at in range(len(source))
        if source.entry_id(at) in gone and parent_id(source, at) not in gone
    ]
    require_allowed(client, tops)
    memo = {
        "url": client.url,
        "root": root,
        "kept": keep(source, journal),
        "removed": sorted(gone, key=int),
        "count": len(source) + 1 - len(gone),
    }
    change = replace(change, path=str(root), memo=memo)
    tell(Progress("deleting", 0, len(gone)))
    journal.write(change)
    tell(Progress("deleting", 0, len(gone), final=True))
    try:
        for top in tops:
            thread.run(client.delete(top))
        for record in changed(source, plan.result):
            thread.run(rewrite(client, int(record["id"]), record))
    except StoreError as error:
        raise StoreError(
            f"{error}; some of it may be gone: `tau-browse undo {change.id}` brings it back"
        ) from error
    return change


def restore(
    store: JmftsStore, now: Session, change: Change, undo: Change, journal: Journal, tell: Tell
) -> Change:
    """Make anew what was deleted, under new numbers; what referred to it does so again. Goes on
    where the same was cut off before. Raises Stopped, StoreError.

    It is made below a root that is no conversation, and moved to where it was once it is whole.
    """
    kept = kept_in(journal, change.memo["kept"])
    if (cut_off := cut_off_undo(store, change, journal)) is not None:
        if is_whole(cut_off):
            _put_back(store, kept, now, change, cut_off, tell)
            return cut_off
        remove(store, cut_off)
    undo = _made_anew(store, kept, now, change, undo, journal, tell)
    _put_back(store, kept, now, change, undo, tell)
    return undo


def _made_anew(
    store: JmftsStore,
    kept: Session,
    now: Session,
    change: Change,
    undo: Change,
    journal: Journal,
    tell: Tell,
) -> Change:
    """Make what was deleted below a root of its own; the journal tells under which numbers."""
    client, there = store.client, ids_of(now)
    gone = set(change.memo["removed"]) - there
    back = without_pieces(each for each in records_of(kept) if each["id"] in gone)
    coming = {record["id"] for record in back}
    apart = [
        each | {"parentId": each["parentId"] if each["parentId"] in coming else None}
        for each in back
    ]
    memo = undo.memo | {"count": len(back) + 1}
    undo = replace(undo, memo=memo)
    tell(Progress("writing", 0, len(back)))
    journal.write(undo)
    body = storing.unfinished(storing.root_of(kept.header, "", store.parent), undo.id)
    made = {name: int(name) for name in there}
    with all_or_nothing(store, undo):
        aside = thread.run(client.create(body)).id
        thread.run(fill(client, aside, apart, made, last_seq(client, now) + 1, tell))
        told = {"aside": aside, "made": {name: made[name] for name in coming}}
        undo = replace(undo, memo=memo | told)
        journal.write(undo)
    return undo


def _put_back(
    store: JmftsStore, kept: Session, now: Session, change: Change, undo: Change, tell: Tell
) -> None:
    """Move what was made anew to where it was, and let what referred to it do so again. All of it
    may be done already, and is then done once more."""
    client, root, new = store.client, int(change.memo["root"]), undo.memo["made"]
    removed, made = set(change.memo["removed"]), {name: int(name) for name in ids_of(now)} | new
    above = {each["id"]: each["parentId"] for each in without_pieces(records_of(kept))}
    tops = [name for name in above if name in new and above[name] not in new]
    try:
        for done, name in enumerate(tops):
            tell(Progress("moving back", done, len(tops), "subtree", final=True))
            parent = root if above[name] is None else int(above[name])
            thread.run(client.update(new[name], {"parent_id": parent}))
        for at in range(len(kept)):
            record = kept.record(at)
            targets = set(references_of(record).values())
            if record["id"] not in new and targets & removed:
                thread.run(rewrite(client, int(record["id"]), referring_to(record, made)))
        thread.run(client.delete(undo.memo["aside"]))
    except StoreError as error:
        raise StoreError(
            f"{error}; some of it is not back yet: `tau-browse undo {change.id}` goes on with it"
        ) from error
