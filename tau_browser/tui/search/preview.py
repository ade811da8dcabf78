"""The hit under the cursor as it stands in its session, read behind the screen."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from typing import NamedTuple

import msgspec
from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.worker import Worker, WorkerState

from tau_browser.model.decoder import Decoder
from tau_browser.model.label import label_of
from tau_browser.model.payload import Record
from tau_browser.model.session import Session, session_of
from tau_browser.model.text import safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.search.results import Asking, Hit
from tau_browser.stores.store import Change, OpenSession, Store, StoreError
from tau_browser.tui.bar import Bar
from tau_browser.tui.entry import EntryPane
from tau_browser.tui.loading import Cancelled, Post
from tau_browser.tui.search.found import QueryPattern

_AFTER = 0.1  # seconds without another hit, after which one is read
_KEPT_SESSIONS = 3


class Read(Message):
    """A session for the preview, or why there is none."""

    def __init__(self, generation: int, session: Session | None, reason: str = "") -> None:
        super().__init__()
        self.generation = generation
        self.session = session
        self.reason = reason


class Preview(Vertical):
    """An entry below its title, which says in which turn it stands."""

    def __init__(self, store: Store, entry: EntryPane) -> None:
        super().__init__(id="preview-pane")
        self._sessions = Sessions(store)
        self._entry = entry
        self._title = Bar("Entry", id="preview-title")
        self._hit: Hit | None = None
        self._asking: Asking | None = None
        self._is_explained = False
        self._generation = 0

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._entry

    def show(self, hit: Hit | None) -> None:
        """Show a hit, or nothing. What was shown stays until the hit is read."""
        self._generation += 1
        self._hit = hit
        if self._is_explained:
            self.highlight(self._asking)
        if hit is None:
            self._entry.clear()
            self._title.show("Entry")
        elif hit.document is not None:
            self._entry.show(_alone(hit.document), 0)
            self._title.show(safe_line(f"Document {hit.entry} · in no session"))
        elif self.display:
            self._read(hit.standing.path, self._generation)

    def highlight(self, asking: Asking | None) -> None:
        """Mark what is asked for in what is shown from now on."""
        self._asking, self._is_explained = asking, False
        self._entry.highlight(QueryPattern(asking).spans if asking else None)

    def explain(self, hit: Hit, asking: Asking) -> None:
        """Mark in a hit, as long as it is shown, what probably matched there, too."""
        pattern = QueryPattern(asking)
        pattern.learn(hit.likely)
        self._is_explained = True
        self._entry.highlight(pattern.spans, pattern.near)

    def on_descendant_focus(self) -> None:
        self._title.set_class(self._entry.has_focus, "-focused")

    def on_descendant_blur(self) -> None:
        self.on_descendant_focus()

    def on_unmount(self) -> None:
        self._generation += 1
        self._sessions.close()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self._title.show(safe_line(f"preview failed: {type(error).__name__}: {error}"))

    @work(exclusive=True, group="preview", exit_on_error=False)
    async def _read(self, path: str, generation: int) -> None:
        await asyncio.sleep(_AFTER)
        await asyncio.to_thread(
            self._sessions.read,
            path,
            generation,
            self.post_message,
            lambda: generation == self._generation,
        )

    def on_read(self, event: Read) -> None:
        hit, session = self._hit, event.session
        if event.generation != self._generation or hit is None:
            return
        places = [] if session is None else session.places_at([hit.standing.start]).tolist()
        if session is None or not places:
            self._entry.clear()
            reason = safe_line(event.reason) or "the entry is no longer where it was found"
            self._title.show(reason)
            return
        self._entry.show(session, places[0], hit.state_word)
        self._title.show(_where(session, places[0]))


class Sessions:
    """The sessions that were previewed last, kept open. For many threads, one at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, tuple[OpenSession, Session]] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: str, generation: int, post: Post, is_wanted: Cancelled) -> None:
        """Post a session, read from its start unless it is kept and has not changed."""
        with self._lock:
            if not is_wanted():
                return
            try:
                session = self._known(path) or self._load(path, is_wanted)
            except StoreError as error:
                post(Read(generation, None, str(error)))
                return
            if session is not None:
                post(Read(generation, session))

    def close(self) -> None:
        """Let go of all of them."""
        with self._lock:
            while self._kept:
                self._kept.popitem()[1][0].close()

    def _known(self, path: str) -> Session | None:
        if path not in self._kept:
            return None
        self._kept.move_to_end(path)
        opened, session = self._kept[path]
        return session if opened.check() is Change.NONE else None

    def _load(self, path: str, is_wanted: Cancelled) -> Session | None:
        opened = self._store.open(path)
        session = None
        try:
            for progress in opened.load():
                if not is_wanted():
                    return None
                session = progress.session
                time.sleep(0)
        finally:
            if session is None:
                opened.close()
        if session is not None:
            self._keep(path, opened, session)
        return session

    def _keep(self, path: str, opened: OpenSession, session: Session) -> None:
        if path in self._kept:
            self._kept.pop(path)[0].close()
        self._kept[path] = opened, session
        if len(self._kept) > _KEPT_SESSIONS:
            self._kept.popitem(last=False)[1][0].close()


class _Bytes(NamedTuple):
    """A log in memory."""

    data: bytes

    def read(self, start: int, stop: int) -> bytes:
        return self.data[start:stop]


def _alone(record: Record) -> Session:
    """A record of no session as the only entry of one."""
    header = {"type": "session", "version": 1, "id": "", "timestamp": None, "parent": None}
    log = b"".join(
        msgspec.json.encode(each) + b"\n" for each in (header, record | {"parentId": None})
    )
    decoder = Decoder()
    decoder.feed(log)
    return session_of(decoder.log(), _Bytes(log))


def _where(session: Session, place: int) -> str:
    """Under what turn an entry stands, by what the person asked in it."""
    turn = int(session.outline.turn[place])
    if turn in (NOWHERE, place):
        return "Entry"
    return f"Entry · in the turn {label_of(session, turn, session.record(turn))}"
