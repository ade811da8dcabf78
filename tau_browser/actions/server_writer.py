"""How changes are made on a JMFTS server: a conversation is made whole or not at all.

The root of what is being made is no conversation until all is below it; what fails, or is stopped,
is removed again. The line of the journal is written first: by what it says of what was to be made,
that is found even where the server's answer never came. A document cannot be brought back under its
number: what is deleted is in the trash before, and undo makes it anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Read, Refused, Verb, Way
from tau_browser.actions.progress import Progress, Stopped, Tell, silent
from tau_browser.actions.reading import Reading
from tau_browser.actions.references import references_of
from tau_browser.actions.server_log import (
    changed,
    ids_of,
    keep,
    kept_in,
    parent_id,
    pieces_of,
    records_of,
    referring_to,
    shortcomings,
    without_pieces,
)
from tau_browser.actions.writer import open_elsewhere
from tau_browser.model.decoder import Decoder
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.summary import session_name
from tau_browser.model.times import parse_time
from tau_browser.stores.jmfts import storing, thread
from tau_browser.stores.jmfts.documents import TAU
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.records import FOREIGN
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Listed, StoreError, whole

_CHANGED = "it changed since it was read: nothing was written; read it again"
_NOT_IN_EFFECT = "it is not in effect: taken back already, or cut off before it was made"
_WENT_ON = "entries came or went since"


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
        return [
            int(listed.path)
            for listed in self._store.scan()
            if isinstance(listed, Listed) and self._store.identify(listed) == session_id
        ]

    def apply(self, plan: Plan, journal: Journal, tell: Tell = silent) -> Change:
        """Carry out a plan. Raises Refused where it does not hold any more, Stopped, StoreError."""
        plan.require_sound()
        assert plan.result is not None
        change = Change(self.store, plan.verb.value, plan.target, plan.about, {})
        with journal.lock():
            if plan.read is not None and plan.verb is not Verb.IMPORT:
                self._require_unchanged(plan.read, journal)
            if plan.way is Way.NEW:
                return self._make(plan.result, change, journal, tell)
            assert plan.read is not None
            source = self.read(plan.read.path, journal).session
            if plan.way is Way.APPEND:
                return self._append(source, plan.result, int(plan.read.path), change, journal)
            return self._cut(source, plan, change, journal, tell)

    def obstacle(self, change: Change, journal: Journal) -> str:
        """Why a change cannot be taken back now; "" if it can."""
        memo = change.memo
        if memo.get("url") != self._client.url:
            return f"it was made on another server: {memo.get('url')}"
        try:
            if self._begun(change) is not None:
                return ""
            if change.verb == Verb.UNDO:
                return "what was undone on a server is done again by a new change"
            if "root" not in memo or ("entry" in memo and not self._added(memo)):
                return _NOT_IN_EFFECT
            count = thread.run(self._client.frontier(int(memo["root"]))).nodes_total
            if "kept" in memo:
                return self._why_not_back(change, count, journal)
        except JmftsError as error:
            return "what it made is gone" if error.is_missing else str(error)
        except (KeyError, TypeError, ValueError):
            return f"the journal's line {change.id} cannot be read"
        return "" if count == memo.get("count") else _WENT_ON

    def _why_not_back(self, change: Change, count: int, journal: Journal) -> str:
        """Why what was deleted cannot be made anew; "" if it can. Where deleting was cut off, all
        that is there was there before. count: the documents that are there."""
        memo = change.memo
        if not (journal.trash / memo["kept"]).exists():
            return "what it deleted is no longer in the trash"
        if count == memo.get("count"):
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
            memo, begun = change.memo, self._begun(change)
            path = str(memo["root"] if begun is None else begun)
            about, url = f"undo: {change.about}", {"url": self._client.url}
            undo = Change(self.store, Verb.UNDO.value, path, about, url, undoes=change.id)
            if "kept" in memo:
                return self._restore(change, undo, journal, tell)
            if begun is None and not _adds(memo):
                keep(self.read(path, journal).session, journal)
            count = len(self._added(memo)) if _adds(memo) else memo["count"]
            tell(Progress("deleting", 0, count))
            journal.write(undo)
            tell(Progress("deleting", 0, count, final=True))
            self._remove(change)
            return undo

    # What a change made

    def _begun(self, change: Change) -> int | None:
        """The root of the conversation that was cut off while the change made it, if any."""
        return next(
            (left.document for left in self._store.unfinished() if left.change == change.id), None
        )

    def _added(self, memo: Record) -> list[int]:
        """The documents that a change added to what was there before."""
        if "entry" not in memo:
            return [int(document) for document in memo["appended"]]
        entry = memo["entry"]
        payload = entry["tau"]
        there = thread.run(self._client.children(entry["parent"], TAU + payload["type"]))
        return [
            each.id
            for each in there
            if each.id > entry["after"] and each.structured.get("tau") == payload
        ]

    def _remove(self, change: Change) -> None:
        """Remove what a change made."""
        memo = change.memo
        if _adds(memo):
            added = self._added(memo)
            for document in reversed(added):
                thread.run(self._client.delete(document))
            if added and memo.get("title"):
                thread.run(self._client.update(int(memo["root"]), {"title": memo["title"]}))
            return
        begun = self._begun(change)
        if (root := memo.get("root") if begun is None else begun) is not None:
            thread.run(self._client.delete(root))

    def _give_up(self, change: Change, error: BaseException) -> None:
        """Remove what was made so far, as going on failed or was stopped."""
        try:
            self._remove(change)
        except (StoreError, KeyboardInterrupt) as worse:
            why = "stopped" if isinstance(error, Stopped) else error
            raise StoreError(
                f"{why}; what was made so far is left on the server: "
                f"`tau-browse undo {change.id}` removes it"
            ) from worse

    # A new conversation

    def _make(self, session: Session, change: Change, journal: Journal, tell: Tell) -> Change:
        records = without_pieces(records_of(session))
        body = storing.root_of(session.header, session_name(session), self._store.parent, change.id)
        memo = {"url": self._client.url, "count": len(records) + 1}
        change = replace(change, memo=memo)
        tell(Progress("writing", 0, len(records)))
        journal.write(change)
        try:
            root = thread.run(self._client.create(body)).id
            change = replace(change, path=str(root), memo=memo | {"root": root})
            journal.write(change)  # by this it is found once it is whole
            thread.run(self._fill(root, records, {}, 1, tell))
            thread.run(self._client.update(root, storing.finished(body)))
        except BaseException as error:
            self._give_up(change, error)
            raise
        return change

    async def _fill(
        self,
        root: int,
        records: list[Record],
        made: dict[str, int],
        seq: int,
        tell: Tell = silent,
    ) -> None:
        """Make documents of records, each below its parent, in their order: all without going
        back to the thread that waits, which would cost each of them its turn. made: the numbers of
        entries by the ids they had; those that are there already, and at the end all."""
        waiting = []  # what refers to itself, or to what comes after it
        for done, record in enumerate(records):
            tell(Progress("writing", done, len(records)))
            above = record.get("parentId")
            parent = root if above is None else made[above]
            moved = referring_to(record, made)
            body = storing.document_of(moved, seq, parent)
            try:
                number = (await self._client.create(body)).id
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
                await self._rewrite(made[record["id"]], referring_to(record, made))

    # An entry more

    def _append(
        self, source: Session, result: Session, root: int, change: Change, journal: Journal
    ) -> Change:
        """Add the one entry that a result has and its source has not."""
        known = ids_of(source)
        (new,) = (record for record in records_of(result) if record["id"] not in known)
        name = new["name"] if new["type"] == "session_info" else None
        parent = root if new["parentId"] is None else int(new["parentId"])
        memo = {
            "url": self._client.url,
            "root": root,
            "entry": {
                "parent": parent,
                "after": max(map(int, known), default=root),
                "tau": storing.payload_of(new),
            },
            "count": len(source) + 2,
            "title": None if name is None else thread.run(self._client.document(root)).title,
        }
        change = replace(change, path=str(root), memo=memo)
        self._require_allowed([root, parent])
        seq = self._last_seq(source) + 1
        journal.write(change)
        try:
            thread.run(self._fill(root, [new], {name: int(name) for name in known}, seq))
            if name is not None:
                thread.run(self._client.update(root, {"title": name}))
        except BaseException as error:
            self._give_up(change, error)
            raise
        return change

    def _last_seq(self, session: Session) -> int:
        """The writer's counter at its highest: that of the newest entry of τ's."""
        own = [at for at in range(len(session)) if session.kind(at) != FOREIGN]
        if not own:
            return 0
        newest = max(int(session.entry_id(at)) for at in own)
        seq = thread.run(self._client.document(newest)).structured.get("seq")
        return seq if isinstance(seq, int) else len(own)

    # Entries fewer

    def _cut(
        self, source: Session, plan: Plan, change: Change, journal: Journal, tell: Tell
    ) -> Change:
        """Delete subtrees in place, and change what referred to them."""
        assert plan.result is not None and plan.read is not None
        root = int(plan.read.path)
        gone = {item.id for item in plan.leaving}
        tops = [
            int(source.entry_id(at))
            for at in range(len(source))
            if source.entry_id(at) in gone and parent_id(source, at) not in gone
        ]
        self._require_allowed(tops)
        memo = {
            "url": self._client.url,
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
                thread.run(self._client.delete(top))
            for record in changed(source, plan.result):
                thread.run(self._rewrite(int(record["id"]), record))
        except StoreError as error:
            raise StoreError(
                f"{error}; some of it may be gone: `tau-browse undo {change.id}` brings it back"
            ) from error
        return change

    def _restore(self, change: Change, undo: Change, journal: Journal, tell: Tell) -> Change:
        """Make anew what was deleted, under new numbers; what referred to it does so again.

        It is made below a root that is no conversation, and moved to where it was once it is whole.
        """
        root, removed = int(change.memo["root"]), set(change.memo["removed"])
        kept = kept_in(journal, change.memo["kept"])
        now = self.read(str(root), journal).session
        made = {name: int(name) for name in ids_of(now)}
        gone = removed - made.keys()
        back = without_pieces(each for each in records_of(kept) if each["id"] in gone)
        coming = {record["id"] for record in back}
        above = {record["id"]: record["parentId"] for record in back}
        tops = [name for name in above if above[name] not in coming]
        undo = replace(undo, memo=undo.memo | {"count": len(back) + 1})
        tell(Progress("writing", 0, len(back)))
        journal.write(undo)
        body = storing.root_of(kept.header, "", self._store.parent, undo.id)
        try:
            aside = thread.run(self._client.create(body)).id
            apart = [
                each | {"parentId": None if each["id"] in tops else each["parentId"]}
                for each in back
            ]
            thread.run(self._fill(aside, apart, made, self._last_seq(now) + 1, tell))
        except BaseException as error:
            self._give_up(undo, error)
            raise
        for name in tops:
            parent = root if above[name] is None else made[above[name]]
            thread.run(self._client.update(made[name], {"parent_id": parent}))
        for at in range(len(kept)):
            record = kept.record(at)
            targets = set(references_of(record).values())
            if record["id"] not in coming and targets & removed:
                thread.run(self._rewrite(int(record["id"]), referring_to(record, made)))
        thread.run(self._client.delete(aside))
        return undo

    async def _rewrite(self, document: int, record: Record) -> None:
        """Store an entry anew, in its place."""
        stored = (await self._client.document(document)).structured
        tau = storing.payload_of(record)
        changes = {
            "structured_content": stored | {"tau": tau},
            "content": storing.content_of(tau),
            "re_embed": False,
        }
        await self._client.update(document, changes)

    # What was read, and what is kept

    def _require_allowed(self, documents: Iterable[int]) -> None:
        """Raises Refused where the token may look at a document and not change it. Servers before
        0.6.0 do not tell, and then refuse themselves."""
        for document in documents:
            if thread.run(self._client.view(document)).can_write is False:
                raise Refused(
                    f"document {document} is not open to changes with this token: nothing was "
                    "written; ask the owner of the server for that, or fork the conversation"
                )

    def _require_unchanged(self, read: Read, journal: Journal) -> None:
        now = self.read(read.path, journal).read
        if (now.size, now.digest) != (read.size, read.digest):
            raise Refused(f"conversation {read.path}: {_CHANGED}")


def _adds(memo: Record) -> bool:
    """Whether a change added to a conversation that was there before."""
    return "entry" in memo or "appended" in memo
