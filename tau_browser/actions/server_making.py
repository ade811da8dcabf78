"""Documents made of entries: a conversation, which is whole or not there at all, or an entry more.

The root of what is being made is no conversation until all is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Refused, Verb
from tau_browser.actions.progress import Progress, Tell, silent
from tau_browser.actions.references import references_of
from tau_browser.actions.server_log import ids_of, records_of, referring_to, without_pieces
from tau_browser.actions.server_made import all_or_nothing
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.summary import session_name
from tau_browser.stores.jmfts import storing, thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.records import FOREIGN
from tau_browser.stores.jmfts.store import JmftsStore


def make(
    store: JmftsStore, session: Session, change: Change, journal: Journal, tell: Tell
) -> Change:
    """Make a conversation of a session. Raises Stopped, StoreError."""
    records = without_pieces(records_of(session))
    root = storing.root_of(session.header, session_name(session), store.parent)
    # what is in a file has no number among its siblings: τ gives it none, either
    numbered = change.verb != Verb.IMPORT
    tell(Progress("writing", 0, len(records)))

    def filled(below: int) -> Coroutine[Any, Any, None]:
        return fill(store.client, below, records, {}, 1, tell, numbered=numbered)

    return make_tree(store, root, len(records), filled, change, journal)


def make_tree(
    store: JmftsStore,
    root: storing.Body,
    count: int,
    fill_below: Callable[[int], Coroutine[Any, Any, None]],
    change: Change,
    journal: Journal,
) -> Change:
    """Make a root with so many documents below it, as `fill_below` makes them. Raises Stopped,
    StoreError."""
    memo = {"url": store.client.url, "count": count + 1}
    change = replace(change, memo=memo)
    journal.write(change)
    with all_or_nothing(store, change):
        made = thread.run(store.client.create(storing.unfinished(root, change.id))).id
        change = replace(change, path=str(made), memo=memo | {"root": made})
        journal.write(change)  # by this it is found once it is whole
    with all_or_nothing(store, change):
        thread.run(fill_below(made))
        thread.run(store.client.update(made, storing.finished(root)))
    return change


async def fill(
    client: Client,
    root: int,
    records: list[Record],
    made: dict[str, int],
    seq: int,
    tell: Tell = silent,
    *,
    numbered: bool = True,
) -> None:
    """Make documents of records, each below its parent, in their order: all without going back to
    the thread that waits, which would cost each of them its turn. One after the other, too: their
    numbers tell the order of the log. made: the numbers of entries by the ids they had; those that
    are there already, and at the end all."""
    waiting = []  # what refers to itself, or to what comes after it
    for done, record in enumerate(records):
        tell(Progress("writing", done, len(records)))
        above = record.get("parentId")
        parent = root if above is None else made[above]
        moved = referring_to(record, made)
        body = storing.document_of(moved, seq, parent, numbered=numbered)
        try:
            number = (await client.create(body)).id
        except JmftsError as error:
            raise JmftsError(
                f"entry {record.get('id')}: {error}", error.status, error.detail
            ) from error
        seq += record.get("type") != FOREIGN
        if set(references_of(record).values()) - made.keys():
            waiting.append(record)
        made[str(record["id"])] = number
    for record in waiting:
        if made.keys() & set(references_of(record).values()):
            await rewrite(client, made[record["id"]], referring_to(record, made))


def append(
    store: JmftsStore,
    source: Session,
    result: Session,
    root: int,
    change: Change,
    journal: Journal,
) -> Change:
    """Add the one entry that a result has and its source has not."""
    client, known = store.client, ids_of(source)
    (new,) = (record for record in records_of(result) if record["id"] not in known)
    name = new["name"] if new["type"] == "session_info" else None
    parent = root if new["parentId"] is None else int(new["parentId"])
    memo = {
        "url": client.url,
        "root": root,
        "entry": {
            "parent": parent,
            "after": max(map(int, known), default=root),
            "tau": storing.payload_of(new),
        },
        "count": len(source) + 2,
        "title": None if name is None else thread.run(client.document(root)).title,
    }
    change = replace(change, path=str(root), memo=memo)
    require_allowed(client, [root, parent])
    seq = last_seq(client, source) + 1
    journal.write(change)
    with all_or_nothing(store, change):
        thread.run(fill(client, root, [new], {name: int(name) for name in known}, seq))
        if name is not None:
            thread.run(client.update(root, {"title": name}))
    return change


async def rewrite(client: Client, document: int, record: Record) -> None:
    """Store an entry anew, in its place."""
    stored = (await client.document(document)).structured
    tau = storing.payload_of(record)
    changes = {
        "structured_content": stored | {"tau": tau},
        "content": storing.content_of(tau),
        "re_embed": False,
    }
    await client.update(document, changes)


def last_seq(client: Client, session: Session) -> int:
    """The writer's counter at its highest: that of the newest entry of τ's."""
    own = [at for at in range(len(session)) if session.kind(at) != FOREIGN]
    if not own:
        return 0
    newest = max(int(session.entry_id(at)) for at in own)
    seq = thread.run(client.document(newest)).structured.get("seq")
    return seq if isinstance(seq, int) else len(own)


def require_allowed(client: Client, documents: Iterable[int]) -> None:
    """Raises Refused where the token may look at a document and not change it. Servers before
    0.6.0 do not tell, and then refuse themselves."""
    for document in documents:
        if thread.run(client.view(document)).can_write is False:
            raise Refused(
                f"document {document} is not open to changes with this token: nothing was "
                "written; ask the owner of the server for that, or fork the conversation"
            )
