"""What runs behind the search screen: answering, indexing, reading sessions for the preview.

As in `loading`, workers post what they have and never touch a widget.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from textual.message import Message

from tau_browser.model.session import Session
from tau_browser.model.text import size_of
from tau_browser.search.engine import Engine
from tau_browser.search.find import QueryError
from tau_browser.search.index.folder import IndexBusy, NoIndex
from tau_browser.search.index.update import Progress
from tau_browser.search.query import Query
from tau_browser.search.results import Method, Results
from tau_browser.stores.store import Change, OpenSession, Store, StoreError
from tau_browser.tui.loading import Cancelled, Pace, Post

_KEPT_SESSIONS = 3


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. generation: higher than that of every question before · limit: how many
    hits are wanted · goes_on: the answer to it is on screen already, and more of it is wanted."""

    generation: int
    query: Query
    limit: int
    goes_on: bool = False

    @property
    def methods(self) -> list[Method]:
        """How it is answered, the fastest way first."""
        if self.query.is_exact or not self.query.sought:
            return [Method.BM25]
        return [Method.HYBRID] if self.goes_on else [Method.BM25, Method.HYBRID]


class Answered(Message):
    """An answer: the last one to its question, or one that is there sooner."""

    def __init__(self, question: Question, results: Results) -> None:
        super().__init__()
        self.question = question
        self.results = results

    @property
    def is_last(self) -> bool:
        """Whether no better answer will follow."""
        return self.results.method is self.question.methods[-1]


class Unanswered(Message):
    """A question that cannot be answered, and why."""

    def __init__(self, question: Question, reason: str) -> None:
        super().__init__()
        self.question = question
        self.reason = reason


class IndexNews(Message):
    """How indexing goes on. changed: there is more to be found now · over: it has ended."""

    def __init__(self, said: str, *, changed: bool = False, over: bool = False) -> None:
        super().__init__()
        self.said = said
        self.changed = changed
        self.over = over


class Read(Message):
    """A session for the preview, or why there is none."""

    def __init__(self, generation: int, session: Session | None, reason: str = "") -> None:
        super().__init__()
        self.generation = generation
        self.session = session
        self.reason = reason


class Searcher:
    """An engine for many threads, of which one at a time is let in."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()

    def answer(self, question: Question, post: Post, is_wanted: Cancelled) -> None:
        """Post the answers to a question, as long as it is the one that matters."""
        for method in question.methods:
            with self._lock:
                if not is_wanted():
                    return
                try:
                    results = self._engine.search(question.query, method, limit=question.limit)
                except (NoIndex, QueryError) as error:
                    post(Unanswered(question, str(error)))
                    return
            post(Answered(question, results))

    def close(self) -> None:
        """Let go of the index."""
        with self._lock:
            self._engine.close()


def bring_up_to_date(engine: Engine, post: Post, stopped: Cancelled) -> None:
    """Index and embed what is new, telling how it goes. The engine is this thread's own."""
    due = Pace()

    def tell(progress: Progress) -> None:
        if progress.bytes and due():
            share = progress.bytes_done / progress.bytes
            post(IndexNews(f"indexing: {share:.0%} of {size_of(progress.bytes)}"))
        time.sleep(0)  # let the screen have the interpreter

    try:
        report = engine.update(tell, stopped)
        remarks = [f"the index was made anew: {report.rebuilt}"] if report.rebuilt else []
        remarks += [report.problem] if report.problem else []
        changed = bool(report.added or report.removed or report.rebuilt)
        post(IndexNews("embedding", changed=changed))
        embedded = False
        for state in engine.embed(stopped):
            embedded = True
            if due():
                post(IndexNews(f"embedding: {state.contents:,} entries so far"))
            time.sleep(0)
        post(IndexNews(" · ".join(remarks), changed=embedded, over=True))
    except IndexBusy as error:
        post(IndexNews(f"{error}: searching what is there", over=True))
    except (NoIndex, OSError) as error:
        post(IndexNews(str(error), over=True))
    finally:
        engine.close()


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
