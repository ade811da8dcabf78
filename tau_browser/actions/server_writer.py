"""How changes are made on a JMFTS server: a conversation is made whole or not at all.

The root of what is being made is no conversation until all is below it; what fails is removed
again. A document cannot be brought back under its number: what is deleted is in the trash before,
and undo makes it anew.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Read, Refused, Verb, Way
from tau_browser.actions.reading import Reading
from tau_browser.actions.references import references_of, with_reference
from tau_browser.model.decoder import Decoder
from tau_browser.model.payload import Record
from tau_browser.model.session import Session, session_of
from tau_browser.model.summary import session_name
from tau_browser.model.text import counted
from tau_browser.model.times import parse_time
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.files import FileSource, words_of
from tau_browser.stores.jmfts import storing, thread
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.records import FOREIGN
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Listed, StoreError

_CHANGED = "it changed since it was read: nothing was written; read it again"
_CHUNK = 1024 * 1024


class ServerWriter:
    """The hand of a JMFTS store."""

    store = "jmfts"

    def __init__(self, store: JmftsStore) -> None:
        self._store = store
        self._client = store.client

    def read(self, path: str, journal: Journal) -> Reading:
        """A session as plans are made from it. Raises StoreError."""
        opened = self._store.open(path)
        *_, last = opened.load()
        session = last.session
        assert session is not None  # the last progress carries one
        decoder, digest = Decoder(), hashlib.sha256()
        for piece in _pieces(session):
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

    def remarks(self, result: Session) -> list[str]:
        """What to know about a new session like this: what of it is not written."""
        pieces = sum(storing.is_piece(result.record(at)) for at in result.places_of_kind(FOREIGN))
        if not pieces:
            return []
        return [f"{counted(pieces, 'piece')} made for search left out: enrich makes them"]

    def conversations_of(self, session_id: str) -> list[int]:
        """The documents of the conversations with this session id, the newest first."""
        return [
            int(listed.path)
            for listed in self._store.scan()
            if isinstance(listed, Listed) and self._store.identify(listed) == session_id
        ]

    def apply(self, plan: Plan, journal: Journal) -> Change:
        """Carry out a plan. Raises Refused where it does not hold any more, StoreError."""
        plan.require_sound()
        assert plan.result is not None
        change = Change(self.store, plan.verb.value, plan.target, plan.about, {})
        with journal.lock():
            if plan.read is not None and plan.verb is not Verb.IMPORT:
                self._require_unchanged(plan.read, journal)
            if plan.way is Way.NEW:
                return self._make(plan.result, change, journal)
            assert plan.read is not None
            source = self.read(plan.read.path, journal).session
            if plan.way is Way.APPEND:
                return self._append(source, plan.result, int(plan.read.path), change, journal)
            return self._cut(source, plan, change, journal)

    def obstacle(self, change: Change, journal: Journal) -> str:
        """Why a change cannot be taken back now; "" if it can."""
        memo = change.memo
        if memo.get("url") != self._client.url:
            return f"it was made on another server: {memo.get('url')}"
        if change.verb == Verb.UNDO:
            return "what was undone on a server is done again by a new change"
        try:
            root = int(memo["root"])
            if self._is_unfinished(root):
                return ""
            count = thread.run(self._client.frontier(root)).nodes_total
        except JmftsError as error:
            return "what it made is gone" if error.is_missing else str(error)
        except (KeyError, TypeError, ValueError):
            return f"the journal's line {change.id} cannot be read"
        if count != memo.get("count"):
            return "entries came or went since"
        if "kept" in memo and not (journal.trash / memo["kept"]).exists():
            return "what it deleted is no longer in the trash"
        return ""

    def undo(self, change: Change, journal: Journal) -> Change:
        """Take a change back. Raises Refused where that is no longer possible, StoreError."""
        memo, root = change.memo, int(change.memo["root"])
        undo = Change(
            self.store,
            Verb.UNDO.value,
            str(root),
            f"undo: {change.about}",
            {"url": self._client.url, "root": root},
            undoes=change.id,
        )
        with journal.lock():
            if why := self.obstacle(change, journal):
                raise Refused(f"{change.id} cannot be taken back: {why}")
            if "kept" in memo:
                return self._restore(change, undo, journal)
            if "appended" in memo:
                journal.write(undo)
                for document in reversed(memo["appended"]):
                    thread.run(self._client.delete(document))
                if memo.get("title"):
                    thread.run(self._client.update(root, {"title": memo["title"]}))
                return undo
            if not self._is_unfinished(root):
                self._keep(self.read(str(root), journal).session, journal)
            journal.write(undo)
            thread.run(self._client.delete(root))
            return undo

    def _is_unfinished(self, root: int) -> bool:
        """Whether a root is that of a conversation which was cut off while it was made."""
        return thread.run(self._client.document(root)).usetype == storing.UNFINISHED

    # A new conversation

    def _make(self, session: Session, change: Change, journal: Journal) -> Change:
        header = {**session.header}
        body = storing.root_of(header, session_name(session), self._store.parent)
        root = thread.run(self._client.create(body)).id
        records = _without_pieces(_records(session))
        memo = {"url": self._client.url, "root": root, "count": len(records) + 1}
        change = replace(change, path=str(root), memo=memo)
        try:
            # only now is there a number by which what was begun can be found again
            journal.write(change)
            self._fill(root, records, {}, 1)
            thread.run(self._client.update(root, storing.finished()))
        except BaseException as error:
            self._give_up(root, change, error)
            raise
        return change

    def _give_up(self, root: int, change: Change, error: BaseException) -> None:
        """Remove what was made so far."""
        try:
            thread.run(self._client.delete(root))
        except StoreError as worse:
            raise StoreError(
                f"{error}; what was made so far is left on the server as document {root}, which "
                f"nobody takes for a conversation: `tau-browse undo {change.id}` removes it"
            ) from worse

    def _fill(
        self, root: int, records: list[Record], made: dict[str, int], seq: int
    ) -> dict[str, int]:
        """Make documents of records, each below its parent, in their order. made: the numbers of
        entries by the ids they had; those that are there already, and at the end all."""
        for record in records:
            above = record.get("parentId")
            parent = root if above is None else made[above]
            moved = _referring_to(record, made)
            body = storing.document_of(moved, seq, parent)
            try:
                number = thread.run(self._client.create(body)).id
            except JmftsError as error:
                raise JmftsError(
                    f"entry {record.get('id')}: {error}", error.status, error.detail
                ) from error
            seq += record.get("type") != FOREIGN
            made[str(record["id"])] = number
        return made

    # An entry more

    def _append(
        self, source: Session, result: Session, root: int, change: Change, journal: Journal
    ) -> Change:
        known = {source.entry_id(at) for at in range(len(source))}
        new = [record for record in _records(result) if record["id"] not in known]
        before = thread.run(self._client.document(root)).title
        names = [record for record in new if record["type"] == "session_info"]
        seq = self._last_seq(source) + 1
        made = {name: int(name) for name in known}
        numbers = self._fill(root, new, made, seq)
        appended = [numbers[record["id"]] for record in new]
        memo = {
            "url": self._client.url,
            "root": root,
            "appended": appended,
            "count": len(source) + 1 + len(new),
            "title": before if names else None,
        }
        change = replace(change, path=str(root), memo=memo)
        try:
            journal.write(change)
            if names:
                thread.run(self._client.update(root, {"title": names[-1]["name"]}))
        except BaseException:
            thread.run(self._client.delete(appended[0]))
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

    def _cut(self, source: Session, plan: Plan, change: Change, journal: Journal) -> Change:
        """Delete subtrees in place; what referred to them is changed before."""
        assert plan.result is not None and plan.read is not None
        root = int(plan.read.path)
        gone = {item.id for item in plan.leaving}
        tops = [
            int(source.entry_id(at))
            for at in range(len(source))
            if source.entry_id(at) in gone and _parent_id(source, at) not in gone
        ]
        memo = {
            "url": self._client.url,
            "root": root,
            "kept": self._keep(source, journal),
            "removed": sorted(gone, key=int),
            "count": len(source) + 1 - len(gone),
        }
        change = replace(change, path=str(root), memo=memo)
        journal.write(change)
        for record in _changed(source, plan.result):
            self._rewrite(int(record["id"]), record)
        for top in tops:
            thread.run(self._client.delete(top))
        return change

    def _restore(self, change: Change, undo: Change, journal: Journal) -> Change:
        """Make anew what was deleted, under new numbers; what referred to it does so again."""
        root, removed = int(change.memo["root"]), set(change.memo["removed"])
        kept = _log_in(str(journal.trash / change.memo["kept"]))
        now = self.read(str(root), journal).session
        journal.write(undo)
        here = {now.entry_id(at): int(now.entry_id(at)) for at in range(len(now))}
        back = _without_pieces(each for each in _records(kept) if each["id"] in removed)
        made = self._fill(root, back, here, self._last_seq(now) + 1)
        for at in range(len(kept)):
            record = kept.record(at)
            targets = set(references_of(record).values())
            if record["id"] not in removed and targets & removed:
                self._rewrite(int(record["id"]), _referring_to(record, made))
        return undo

    def _rewrite(self, document: int, record: Record) -> None:
        """Store an entry anew, in its place."""
        stored = thread.run(self._client.document(document)).structured
        changes = {
            "structured_content": stored | {"tau": storing.payload_of(record)},
            "re_embed": False,
        }
        thread.run(self._client.update(document, changes))

    # What was read, and what is kept

    def _require_unchanged(self, read: Read, journal: Journal) -> None:
        now = self.read(read.path, journal).read
        if (now.size, now.digest) != (read.size, read.digest):
            raise Refused(f"conversation {read.path}: {_CHANGED}")

    def _keep(self, session: Session, journal: Journal) -> str:
        """Put the log of a session into the trash; returns its digest."""
        digest = hashlib.sha256()
        for piece in _pieces(session):
            digest.update(piece)
        name = digest.hexdigest()
        try:
            with open(journal.trash / name, "wb", opener=_private) as file:
                file.writelines(_pieces(session))
        except OSError as error:
            raise StoreError(f"{journal.trash}: {words_of(error)}: nothing was changed") from error
        return name


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _records(session: Session) -> Iterator[Record]:
    """The entries of a session, each with its parent as the tree has it."""
    for at in range(len(session)):
        yield session.record(at) | {"parentId": _parent_id(session, at)}


def _without_pieces(records: Iterable[Record]) -> list[Record]:
    """Records that are stored anew: what was made of them for search is made anew, too. What hangs
    below such a piece hangs below the entry that it was cut from."""
    above: dict[str, str | None] = {}
    found = []
    for record in records:
        parent = record["parentId"]
        record |= {"parentId": above.get(parent, parent)}
        if storing.is_piece(record):
            above[record["id"]] = record["parentId"]
        else:
            found.append(record)
    return found


def _parent_id(session: Session, place: int) -> str | None:
    parent = int(session.tree.parent[place])
    return None if parent == NOWHERE else session.entry_id(parent)


def _changed(source: Session, result: Session) -> Iterator[Record]:
    """The entries of a result that are not as they were."""
    for at in range(len(result)):
        record = result.record(at)
        (place,) = source.find(str(record["id"]))
        if source.record(place) != record:
            yield record


def _referring_to(record: Record, made: Mapping[str, int]) -> Record:
    """A record whose references name documents; what names nothing that was made stays."""
    for field, target in references_of(record).items():
        if target in made:
            record = with_reference(record, field, str(made[target]))
    return record


def _log_in(path: str) -> Session:
    source = FileSource(path)
    decoder = Decoder()
    at = 0
    while data := source.read(at, at + _CHUNK):
        decoder.feed(data)
        at += len(data)
    return session_of(decoder.log(), source)


def _pieces(session: Session) -> Iterator[bytes]:
    for at in range(0, session.size, _CHUNK):
        yield session.source.read(at, min(at + _CHUNK, session.size))
