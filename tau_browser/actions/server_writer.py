"""How changes are made on a JMFTS server: a conversation is made whole or not at all.

What fails, or is stopped, is removed again. The line of the journal is written first: by what it
says of what was to be made, that is found even where the server's answer never came.
"""

from __future__ import annotations

import hashlib

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Read, Refused, Verb, Way
from tau_browser.actions.progress import Progress, Tell, silent
from tau_browser.actions.reading import Reading
from tau_browser.actions.server_log import ids_of, keep, kept_in, pieces_of, shortcomings
from tau_browser.actions.server_made import (
    added,
    adds,
    begun,
    cut_off_undo,
    is_whole,
    remove,
)
from tau_browser.actions.server_making import append, make
from tau_browser.actions.server_pruning import cut, restore
from tau_browser.actions.writer import open_elsewhere
from tau_browser.model.decoder import Decoder
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.times import parse_time
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import whole

_CHANGED = "it changed since it was read: nothing was written; read it again"
_NOT_IN_EFFECT = "it is not in effect: taken back already, or cut off before it was made"
_WENT_ON = "entries came or went since"
_HALF_WAY = "it was cut off on its way: `tau-browse undo {}` goes on with it"


class ServerWriter:
    """The hand of a JMFTS store."""

    store = "jmfts"
    keeps_pieces = False

    def __init__(self, store: JmftsStore) -> None:
        self._store = store
        self._client = store.client

    def read(self, path: str, journal: Journal) -> Reading:
        """A session as plans are made from it. Raises StoreError."""
        opened = self._store.open(path)
        session = whole(opened)
        decoder, digest = Decoder(), hashlib.sha256()
        for piece in pieces_of(session):
            decoder.feed(piece)
            digest.update(piece)
        written = parse_time(opened.written) * 1_000_000
        read = Read(path, session.size, written, digest.hexdigest())
        count = len(session) + 1
        ours = any(
            change.path == path and change.memo.get("count") == count
            for change in journal.changes()
        )
        return Reading(session, read, decoder.log().columns, ours, tuple(opened.flaws))

    def place_for(self, header: Record) -> str:
        """Where a new session will be: the server gives it its number."""
        return f"a new conversation on {self._client.url}"

    def remarks(self, way: Way, result: Session) -> list[str]:
        """What to know before a session like this is written in this way."""
        if way is Way.REPLACE:
            return [
                "undone, what goes comes back under new numbers",
                "once the server deletes, that goes on to its end: Esc stops it only before",
                open_elsewhere(result),
            ]
        if way is Way.APPEND:
            return [open_elsewhere(result)]
        return [*shortcomings(result)]

    def conversations_of(self, session_id: str) -> list[int]:
        """The documents of the conversations with this session id, the newest first."""
        return self._store.conversations_of(session_id)

    def apply(self, plan: Plan, journal: Journal, tell: Tell = silent) -> Change:
        """Carry out a plan. Raises Refused where it does not hold any more, Stopped, StoreError."""
        plan.require_sound()
        assert plan.result is not None
        change = Change(self.store, plan.verb.value, plan.target, plan.about, {})
        with journal.lock():
            if plan.verb is Verb.IMPORT:  # of what lies elsewhere
                return make(self._store, plan.result, change, journal, tell)
            assert plan.read is not None
            source = self._unchanged(plan.read, journal)
            if plan.way is Way.NEW:
                return make(self._store, plan.result, change, journal, tell)
            if plan.way is Way.APPEND:
                root = int(plan.read.path)
                return append(self._store, source, plan.result, root, change, journal)
            return cut(self._store, source, plan, change, journal, tell)

    def obstacle(self, change: Change, journal: Journal) -> str:
        """Why a change cannot be taken back now; "" if it can."""
        memo = change.memo
        if memo.get("url") != self._client.url:
            return f"it was made on another server: {memo.get('url')}"
        try:
            if begun(self._store, change) is not None:
                return _HALF_WAY.format(change.undoes) if is_whole(change) else ""
            if change.verb == Verb.UNDO:
                return "what was undone on a server is done again by a new change"
            there = added(self._store, change) if adds(change) else []
            if "root" not in memo or (adds(change) and not there):
                return _NOT_IN_EFFECT
            count = thread.run(self._client.frontier(int(memo["root"]))).nodes_total
            if "promoted" in memo:  # of which some may be missing
                count += memo["promoted"] - len(there)
            if "kept" in memo:
                return self._why_not_back(change, count, journal)
        except JmftsError as error:
            return "what it made is gone" if error.is_missing else str(error)
        except (KeyError, TypeError, ValueError):
            return f"the journal's line {change.id} cannot be read"
        return "" if count == memo.get("count") else _WENT_ON

    def _why_not_back(self, change: Change, count: int, journal: Journal) -> str:
        """Why what was deleted cannot be made anew; "" if it can. Where deleting was cut off, all
        that is there was there before; where making it anew was, that goes on. count: the
        documents that are there."""
        memo = change.memo
        if not (journal.trash / memo["kept"]).exists():
            return "what it deleted is no longer in the trash"
        cut_off = cut_off_undo(self._store, change, journal)
        if count == memo.get("count") or (cut_off is not None and is_whole(cut_off)):
            return ""
        now = ids_of(self.read(str(memo["root"]), journal).session)
        before = ids_of(kept_in(journal, memo["kept"]))
        if now - before:
            return _WENT_ON
        return _NOT_IN_EFFECT if now == before else ""

    def undo(self, change: Change, journal: Journal, tell: Tell = silent) -> Change:
        """Take a change back. Raises Refused where that is no longer possible, Stopped,
        StoreError."""
        with journal.lock():
            if why := self.obstacle(change, journal):
                raise Refused(f"{change.id} cannot be taken back: {why}")
            memo, cut_off = change.memo, begun(self._store, change)
            path = str(memo["root"] if cut_off is None else cut_off)
            about, url = f"undo: {change.about}", {"url": self._client.url}
            undo = Change(self.store, Verb.UNDO.value, path, about, url, undoes=change.id)
            if "kept" in memo:
                now = self.read(path, journal).session
                return restore(self._store, now, change, undo, journal, tell)
            if cut_off is None and not adds(change):
                keep(self.read(path, journal).session, journal)
            count = len(added(self._store, change)) if adds(change) else memo["count"]
            tell(Progress("deleting", 0, count))
            journal.write(undo)
            tell(Progress("deleting", 0, count, final=True))
            remove(self._store, change)
            return undo

    def _unchanged(self, read: Read, journal: Journal) -> Session:
        """A session that stands as it was read. Raises Refused."""
        now = self.read(read.path, journal)
        if (now.read.size, now.read.digest) != (read.size, read.digest):
            raise Refused(f"conversation {read.path}: {_CHANGED}")
        return now.session
