"""What runs behind the audit screen. As in `loading`, workers post and never touch a widget."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from tau_browser import config
from tau_browser.audit.context import with_context
from tau_browser.audit.following import Following
from tau_browser.audit.marks import Mark, marks_of
from tau_browser.audit.memory import Answer
from tau_browser.audit.recall import Hit, Recall, SessionAudit
from tau_browser.audit.replay import Drift, Replay, replay
from tau_browser.audit.session_audit import hits_of
from tau_browser.audit.states import load
from tau_browser.audit.store_audit import StoreAudit, audit_store, last_audits
from tau_browser.audit.tools import ToolTable
from tau_browser.audit.transcript import transcript_of
from tau_browser.model.session import Session
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.store import Store, StoreError
from tau_browser.tui.loading import Cancelled, Pace, Post


class SessionAudited(Message):
    """The open session was audited; `generation` is that of the session as it was read, `marks`
    what stands beside its entries."""

    def __init__(self, generation: int, audit: SessionAudit, marks: dict[int, Mark]) -> None:
        super().__init__()
        self.generation = generation
        self.audit = audit
        self.marks = marks


class StoreAudited(Message):
    """An audit of the store came on. `audit` where there is more to show; `reason`: why it goes
    no further."""

    def __init__(
        self, done: int, total: int, audit: StoreAudit | None = None, reason: str = ""
    ) -> None:
        super().__init__()
        self.done = done
        self.total = total
        self.audit = audit
        self.reason = reason


class TextsRead(Message):
    """The hits of a session's recalls with their texts, or why they cannot be read."""

    def __init__(self, path: str, read: Texts | None, reason: str = "") -> None:
        super().__init__()
        self.path = path
        self.read = read
        self.reason = reason


class AskedAgain(Message):
    """A recall was made again, or could not be."""

    def __init__(self, recall: Recall, hits: list[Hit], replay: Replay) -> None:
        super().__init__()
        self.recall = recall
        self.hits = hits
        self.replay = replay


class LookedUp(Message):
    """What a memory says of some documents today, or why none can be asked."""

    def __init__(self, answers: dict[str, Answer], reason: str = "") -> None:
        super().__init__()
        self.answers = answers
        self.reason = reason


@dataclass(frozen=True, slots=True)
class OpenAudit:
    """The session that is open in the browser, with its audit."""

    path: str
    session: Session
    audit: SessionAudit


@dataclass(frozen=True, slots=True)
class Texts:
    """The hits of a session's recalls, by number. audit: with what the model saw already ·
    following: what the model said, where the evidence stands."""

    session: Session
    hits: dict[int, list[Hit]]
    audit: SessionAudit
    following: Following


def mark_open(
    store: Store,
    cache_folder: Path | None,
    opened: OpenAudit,
    tools: ToolTable,
    generation: int,
    post: Post,
) -> None:
    """What stands beside the entries of the session that is open. On a server other sessions may
    have recalled them: those count that were audited already."""
    path, session, audit = opened.path, opened.session, opened.audit
    others = None
    if store.name == JMFTS:
        known = last_audits(store, cache_folder, tools)
        others = [other for other in known if other.path != path]
    post(SessionAudited(generation, audit, marks_of(session, audit, others)))


def audit_all(
    store: Store, cache_folder: Path | None, tools: ToolTable, post: Post, cancelled: Cancelled
) -> None:
    """Audit a store, telling how it goes."""
    due = Pace()
    try:
        for progress in audit_store(store, cache_folder, tools, cancelled):
            if progress.audit is not None or due():
                post(StoreAudited(progress.done, progress.total, progress.audit))
            time.sleep(0)  # let the screen have the interpreter
    except StoreError as error:
        post(StoreAudited(0, 0, reason=str(error)))


def look_up(store: Store, documents: list[str], post: Post) -> None:
    """Look documents up on the store, if it is a JMFTS server, else on the one that is set up."""
    from tau_browser.audit.server import memory_of

    try:
        memory = memory_of(store, lambda: config.connection(os.environ))
    except config.ConfigError as error:
        post(LookedUp({}, str(error)))
        return
    post(LookedUp(memory.read(documents)))


def ask_again(store: Store, recall: Recall, hits: list[Hit], post: Post) -> None:
    """Ask the same of the store, if it is a JMFTS server, else of the one that is set up."""
    from tau_browser.audit.server import memory_of

    try:
        found = replay(recall, hits, memory_of(store, lambda: config.connection(os.environ)))
    except config.ConfigError as error:
        found = Replay(Drift.CANNOT_TELL, [str(error)])
    post(AskedAgain(recall, hits, found))


def read_texts(
    store: Store,
    audit: SessionAudit,
    opened: Callable[[str], Session | None],
    tools: ToolTable,
    post: Post,
) -> None:
    """Read the session of some recalls, unless it is open, and their hits."""
    try:
        session = opened(audit.path) or load(store, audit.path)
    except StoreError as error:
        post(TextsRead(audit.path, None, str(error)))
        return
    hits = hits_of(session, audit.recalls, tools)
    following = Following(session, transcript_of(session, tools))
    texts = Texts(session, hits, with_context(session, audit, hits), following)
    post(TextsRead(audit.path, texts))
