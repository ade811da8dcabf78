"""What an index covers of its store."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tau_browser.search.index.folder import Files, NoIndex
from tau_browser.search.index.reader import Reader
from tau_browser.search.logs import Logs
from tau_browser.stores.store import Store, Unreadable


@dataclass(slots=True)
class Status:
    """How much of a store can be found by its index.

    sessions: in the store · indexed: of them, as they are now · waiting: paths of those that are
    not · entries: that are indexed, copies not counted · skipped: (path, why) of what cannot be
    read · size: of the index, in bytes · reason: why there is no index, "" if there is one
    """

    sessions: int = 0
    indexed: int = 0
    entries: int = 0
    size: int = 0
    waiting: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    reason: str = ""


def status_of(store: Store, folder: Path) -> Status:
    """What an index covers of a store at this moment. Looks at no session's contents."""
    status, logs = Status(), Logs(store)
    known = {}
    try:
        reader = Reader(folder)
        known = {row.path: row for row in reader.files()}
        status.entries = reader.count
        status.size = Files(folder).size()
        reader.close()
    except NoIndex as error:
        status.reason = str(error)
    for item in store.scan():
        if isinstance(item, Unreadable):
            status.skipped.append((item.path, item.reason))
            continue
        status.sessions += 1
        row = known.get(item.path)
        if row is not None and row.problem:
            status.skipped.append((item.path, row.problem))
        elif row is not None and row.state and logs.is_now(item.path, row.state.identity):
            status.indexed += 1
        else:
            status.waiting.append(item.path)
    return status
