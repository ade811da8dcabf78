"""A conversation on a server, open for reading: fetched once, checked ever after.

Documents are made in the order in which a conversation goes on, so their numbers give the order of
its log. What was read is kept (`cache`) and shown again only if the server says that it has as
many documents, the same newest one, and the same root. What was merely added is read on; after
anything else, all is fetched anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from tau_browser.model.decoder import Decoder
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.session import Session, session_of
from tau_browser.model.text import counted
from tau_browser.stores.files import FileSource
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.cache import Cache, Reading
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import Document
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.records import Line, disorder, header_line, line_of, stamp
from tau_browser.stores.jmfts.splitter import Arrived, BadAnswer, split
from tau_browser.stores.session_log import SessionLog
from tau_browser.stores.store import Change, Progress, StoreError

# Levels of a tree that are asked for at once: the answer grows with their square.
_WINDOW = 2000
_CHUNK = 256 * 1024
_PAGE = 100  # documents that are looked through at once
_CHECK_EVERY = 2.0  # seconds between two checks that ask the server
_SHARE = 20  # and no check before so many times as long as the last one took
_WAITING = Progress(0, 0)
# A conversation with fewer documents is sent sooner than all is said that a check of what was kept
# asks for.
_CHECKED = 200
_NOTHING_YET = Arrived((), 0, 0)


@dataclass(frozen=True, slots=True)
class _Log:
    """The bytes of a log: what is in a file, then what came since."""

    file: FileSource | None = None
    size: int = 0  # of what is in the file
    tail: bytes = b""

    def read(self, start: int, stop: int) -> bytes:
        """These bytes; fewer where the log ends before."""
        head = b""
        if self.file is not None and start < self.size:
            head = self.file.read(start, min(stop, self.size))
        return head + self.tail[max(0, start - self.size) : max(0, stop - self.size)]


@dataclass(slots=True)
class _Fetched:
    """What came of a conversation so far."""

    root: Document
    newest: Document
    lines: dict[int, Line]

    def add(self, document: Document) -> None:
        """Take in a document below the root; one that is there already changes nothing."""
        if document.id != self.root.id:
            self.lines[document.id] = line_of(document, self.root.id)
        if document.id > self.newest.id:
            self.newest = document

    def ordered(self) -> list[Line]:
        """The lines by number of their documents: the order in which they were written."""
        return [self.lines[number] for number in sorted(self.lines)]

    def log(self) -> list[bytes]:
        """The log, in stretches of some size."""
        header, _ = header_line(self.root)
        entries = [line.data for line in self.ordered()]
        return list(_stretches([header, *entries] if header else entries))


class JmftsSession:
    """A conversation of a server."""

    def __init__(self, client: Client, cache: Cache, document: int) -> None:
        self.path = str(document)
        self._client = client
        self._cache = cache
        self._document = document
        self._decoder = Decoder()
        self._log = _Log()
        self._reading: Reading | None = None
        self._added: list[Document] = []
        self._next_check = 0.0
        self._was_lost = False

    @property
    def flaws(self) -> list[str]:
        """Why nothing may be written to it; what is there is evidence. [] where all is well."""
        return self._reading.flaws if self._reading else []

    @property
    def written(self) -> str:
        """When its newest document was written, by the server's clock."""
        reading = self._reading
        return stamp(reading.newest_updated) or "" if reading else ""

    @property
    def state(self) -> str:
        """How it stood when it was read, to ask later whether it still does; "" before."""
        return msgspec.json.encode(self._reading).decode() if self._reading else ""

    async def is_in(self, state: str) -> bool:
        """Whether it stands as it did. Raises JmftsError."""
        try:
            reading = msgspec.json.decode(state, type=Reading)
        except msgspec.DecodeError:
            return False
        return await self._changes(reading) == []

    def load(self) -> Iterator[Progress]:
        """Read it: what is kept, if it is worth asking and still holds, else from the server."""
        self._added = []
        kept = self._cache.find(self._document)
        if kept is not None and kept[0].count >= _CHECKED:
            added = yield from thread.wait(self._since(kept[0]), _WAITING)
            if added is not None:
                yield from self._load_kept(*kept, added)
                return
        yield from self._fetch()

    def check(self) -> Change:
        now = time.monotonic()
        if self._reading is None or now < self._next_check:
            return Change.NONE
        try:
            added = thread.run(self._changes(self._reading))
        except JmftsError as error:
            self._was_lost = True
            return Change.GONE if error.is_missing else Change.AWAY
        finally:
            took = time.monotonic() - now
            self._next_check = now + max(_CHECK_EVERY, took * _SHARE)
        if self._was_lost:
            self._was_lost = False
            return Change.BACK
        if added is None:
            return Change.REWRITTEN
        self._added = added
        return Change.GREW if added else Change.NONE

    def follow(self) -> Session:
        assert self._reading is not None
        self._append(self._added)
        self._added = []
        return self._now()

    def log(self) -> SessionLog:
        """None: the server searches."""
        raise StoreError(f"{self.path}: its lines are on a server, which searches them itself")

    def close(self) -> None:
        """Nothing is held but the file of the log, and that by its sessions."""

    # From the server

    def _fetch(self) -> Iterator[Progress]:
        """Read all of it, some levels of the tree at a time."""
        fetched: _Fetched | None = None
        windows = [self._document]
        before = 0  # bytes of the answers before
        while windows:
            top: Document | None = None
            done = before
            for item in self._documents(windows.pop()):
                if isinstance(item, Progress):
                    done = before + item.done
                    # how much comes after the first answer, nobody says
                    yield Progress(done, 0 if before else item.total)
                    continue
                fetched = fetched or _Fetched(item, item, {})
                fetched.add(item)
                top = top or item
                if item is not top and item.depth - top.depth == _WINDOW:
                    windows.append(item.id)
            assert fetched is not None  # an answer without a document is no whole answer
            if windows and not before:
                log = fetched.log()
                early = self._session(_decoder_of(log), _Log(tail=b"".join(log)), [])
                yield Progress(done, 0, early)
            before = done
        assert fetched is not None
        yield from self._take(fetched, before)

    def _documents(self, document: int) -> Iterator[Document | Progress]:
        """The documents of one answer as they arrive, and how much of it has."""
        answer = split(self._client.subtree(document, _WINDOW))
        try:
            for documents, done, total in thread.iterate(answer, _NOTHING_YET):
                yield from documents
                yield Progress(done, total)
        except BadAnswer as error:
            raise StoreError(
                f"{self._client.url} does not send document {document} whole: {error}; r asks again"
            ) from error

    def _take(self, fetched: _Fetched, done: int) -> Iterator[Progress]:
        """Keep what was fetched, and read it."""
        lines = fetched.ordered()
        hidden = thread.run(self._hidden(len(lines) + 1))
        flaws = [header_line(fetched.root)[1], disorder(lines), _lack(hidden)]
        log = fetched.log()
        self._reading = reading = Reading(
            count=len(lines) + 1,
            newest=fetched.newest.id,
            newest_created=fetched.newest.created_at or "",
            newest_updated=fetched.newest.updated_at,
            root_updated=fetched.root.updated_at,
            incomplete=[line.document for line in lines if line.incomplete],
            hidden=hidden,
            last_seq=_highest(lines),
            flaws=[flaw for flaw in flaws if flaw],
            size=sum(map(len, log)),
        )
        try:
            self._log = _Log(self._cache.keep(self._document, log, reading), reading.size)
        except OSError:  # a full disk is no reason not to look
            self._log = _Log(tail=b"".join(log))
        self._decoder = Decoder()
        for piece in log:
            self._decoder.feed(piece)
            yield Progress(done, done + 1)
        yield Progress(done + 1, done + 1, self._now())

    async def _hidden(self, count: int) -> int:
        """How many documents of it the token may not see, where it sees so many: the server leaves
        them out without a word, and counts them. Raises JmftsError."""
        if await self._client.is_owner():
            return 0
        total = (await self._client.frontier(self._document)).nodes_total
        return max(0, total - count)

    # From what was kept

    def _load_kept(
        self, reading: Reading, file: FileSource, added: list[Document]
    ) -> Iterator[Progress]:
        self._decoder, self._reading = Decoder(), reading
        self._log = _Log(file, reading.size)
        for at in range(0, reading.size, _CHUNK):
            self._decoder.feed(file.read(at, min(at + _CHUNK, reading.size)))
            yield Progress(at, reading.size)
        if added:
            self._append(added)
            self._keep_grown()
        yield Progress(reading.size, reading.size, self._now())

    def _keep_grown(self) -> None:
        """Keep what was read on, too, so that the next run need not."""
        assert self._reading is not None
        size = self._log.size + len(self._log.tail)
        pieces = (self._log.read(at, at + _CHUNK) for at in range(0, size, _CHUNK))
        reading = msgspec.structs.replace(self._reading, size=size)
        try:
            file = self._cache.keep(self._document, pieces, reading)
        except OSError:
            return
        self._reading, self._log = reading, _Log(file, size)

    def _append(self, added: Sequence[Document]) -> None:
        """Read on: documents that are new, and entries that were finished since."""
        assert self._reading is not None
        lines = {each.id: line_of(each, self._document) for each in added}
        tail = b"".join(lines[number].data + b"\n" for number in sorted(lines))
        self._log = replace(self._log, tail=self._log.tail + tail)
        self._decoder.feed(tail)
        self._reading = _grown(self._reading, lines, added)

    # Whether it still holds

    async def _since(self, reading: Reading) -> list[Document] | None:
        """The changes since it was kept, which may be long ago: entries that went and others that
        came, elsewhere in it and as many, are no mere additions. Raises JmftsError."""
        added, newer = await asyncio.gather(self._changes(reading), self._newer(reading))
        if added is None or newer is None or newer > reading.count:  # looking at so many costs more
            return None
        new = {each.id for each in added if each.id > reading.newest}
        if newer == 1 + len(new):
            return added
        for at in range(0, newer, _PAGE):
            page = await self._client.newest(min(_PAGE, newer - at), at)
            later = (each for each in page if each.id > reading.newest and each.id not in new)
            if any(self._document in each.path for each in later):
                return None
        return added

    async def _newer(self, reading: Reading) -> int | None:
        """How many documents of the whole server are no older than the newest here; None if the
        server cannot tell."""
        try:
            return await self._client.written_since(reading.newest_created)
        except JmftsError as error:
            if error.status:
                return None
            raise

    async def _changes(self, reading: Reading) -> list[Document] | None:
        """What was added or finished since; None where anything else happened, so that what was
        read no longer holds. Raises JmftsError."""
        root, frontier, below, unfinished = await asyncio.gather(
            self._client.document(self._document),
            self._client.frontier(self._document),
            self._below(reading.newest),
            asyncio.gather(*map(self._find, reading.incomplete)),
        )
        if below is None or root.updated_at != reading.root_updated:
            return None
        newest, *new = below
        known = (*reading.incomplete, self._document)
        if newest.updated_at != reading.newest_updated and newest.id not in known:
            return None
        if reading.count + reading.hidden + len(new) != frontier.nodes_total:
            return None
        finished = [each for each in unfinished if each and self._is_finished(each)]
        return [*finished, *new]

    async def _find(self, document: int) -> Document | None:
        try:
            return await self._client.document(document)
        except JmftsError as error:
            if error.is_missing:
                return None
            raise

    def _is_finished(self, document: Document) -> bool:
        return not line_of(document, self._document).incomplete

    async def _below(self, document: int) -> list[Document] | None:
        """A document and all below it; None if it is gone."""
        documents: list[Document] = []
        try:
            async for arrived in split(self._client.subtree(document, _WINDOW)):
                documents += arrived.documents
        except BadAnswer:
            return None
        except JmftsError as error:
            if error.is_missing:
                return None
            raise
        return documents

    # What was read

    def _now(self) -> Session:
        return self._session(self._decoder, self._log, self.flaws)

    def _session(self, decoder: Decoder, source: _Log, flaws: list[str]) -> Session:
        log = decoder.log()
        findings = [Diagnostic(None, None, flaw, Severity.DAMAGE) for flaw in flaws]
        return session_of(replace(log, diagnostics=[*findings, *log.diagnostics]), source)


def _grown(reading: Reading, lines: Mapping[int, Line], added: Sequence[Document]) -> Reading:
    """How a conversation stands once these lines, of these documents, were read on."""
    new = [lines[number] for number in sorted(lines) if number > reading.newest]
    flaw = disorder([Line(reading.newest, b"", reading.last_seq, False), *new])
    open_now = {number for number, line in lines.items() if line.incomplete}
    last = max(added, key=lambda document: document.id, default=None)
    if last is not None and last.id >= reading.newest:
        reading = _up_to(last, reading)
    return msgspec.structs.replace(
        reading,
        count=reading.count + len(new),
        incomplete=sorted(open_now | (set(reading.incomplete) - lines.keys())),
        last_seq=_highest(new) or reading.last_seq,
        flaws=[*reading.flaws, *([flaw] if flaw else [])],
    )


def _lack(hidden: int) -> str:
    """Why a conversation is not all there."""
    return f"{counted(hidden, 'document')} of it not open to this token" if hidden else ""


def _up_to(newest: Document, reading: Reading) -> Reading:
    return msgspec.structs.replace(
        reading,
        newest=newest.id,
        newest_created=newest.created_at or "",
        newest_updated=newest.updated_at,
    )


def _highest(lines: Iterable[Line]) -> int | None:
    return max((line.seq for line in lines if line.seq is not None), default=None)


def _decoder_of(log: Iterable[bytes]) -> Decoder:
    decoder = Decoder()
    for piece in log:
        decoder.feed(piece)
    return decoder


def _stretches(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends, in pieces that are not too small to be read at once."""
    piece: list[bytes] = []
    size = 0
    for line in lines:
        piece += (line, b"\n")
        size += len(line) + 1
        if size >= _CHUNK:
            yield b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)
