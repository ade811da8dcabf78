"""What runs behind the search screen: answering, following, indexing.

As in `loading`, workers post what they have and never touch a widget.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tau_browser.model.session import Session
from tau_browser.model.text import size_of
from tau_browser.search.engine import can_rerank
from tau_browser.search.find import QueryError
from tau_browser.search.index.folder import IndexBusy, NoIndex
from tau_browser.search.index.update import Progress
from tau_browser.search.known import Values
from tau_browser.search.query import Query
from tau_browser.search.results import Asking, Hit, Method, Results
from tau_browser.stores.store import StoreError
from tau_browser.tui.loading import Cancelled, Pace, Post

if TYPE_CHECKING:
    from tau_browser.search.engines import AnyEngine

_RERANKED_AFTER = 0.3
"""Seconds for which an answer stands before the model of the extra, which takes both processors,
goes to work: by then most people have typed on, or not."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. generation: higher than that of every question before · goes_on: the answer
    to it is on screen already, and more of it is wanted, or in another order · scans: the index
    may be behind, so that a scan must tell what it lacks."""

    generation: int
    asking: Asking
    goes_on: bool = False
    scans: bool = False

    @property
    def text(self) -> str:
        """The query as typed."""
        return self.asking.query.text


class Answered(Message):
    """An answer: the last one to its question, or one that is there sooner."""

    def __init__(self, question: Question, results: Results, *, is_last: bool) -> None:
        super().__init__()
        self.question = question
        self.results = results
        self.is_last = is_last


class Unanswered(Message):
    """A question that cannot be answered, and why."""

    def __init__(self, question: Question, reason: str) -> None:
        super().__init__()
        self.question = question
        self.reason = reason


class IndexNews(Message):
    """How indexing goes on. changed: there is more to be found now · over: it has ended · behind:
    and has not come to the end of all there is."""

    def __init__(
        self, said: str, *, changed: bool = False, over: bool = False, behind: bool = False
    ) -> None:
        super().__init__()
        self.said = said
        self.changed = changed
        self.over = over
        self.behind = behind


class Followed(Message):
    """The open session can be searched as it stands now."""


class Known(Message):
    """What filters may ask for, by their names."""

    def __init__(self, values: Values) -> None:
        super().__init__()
        self.values = values


class Searcher:
    """Puts questions to an engine, from many threads."""

    def __init__(self, engine: AnyEngine) -> None:
        self._engine = engine
        self._followed = ""
        self._following = threading.Lock()

    def answer(self, question: Question, post: Post, is_wanted: Cancelled) -> None:
        """Post the answers to a question, as long as it is the one that matters."""
        try:
            for results, is_last in self._answers(question, lambda: not is_wanted()):
                if not is_wanted():
                    return
                post(Answered(question, results, is_last=is_last))
                if is_last:
                    placed = self._engine.placed(results, lambda: not is_wanted())
                    post(Answered(question, placed, is_last=True))
        except (NoIndex, QueryError) as error:
            post(Unanswered(question, str(error)))

    def follow(self, path: str, session: Session, post: Post, is_wanted: Cancelled) -> None:
        """Let what the open session holds be found, and no longer what another did."""
        with self._following:
            if not is_wanted():
                return
            if self._followed not in ("", path):
                self._engine.forget(self._followed)
            self._followed = path
            self._engine.follow(path, session)
        post(Followed())

    def learn(self, post: Post) -> None:
        """Post what filters may ask for."""
        with contextlib.suppress(NoIndex, StoreError):
            post(Known(self._engine.values()))

    def explained(self, hit: Hit, query: Query) -> Hit:
        """A hit with all that is known of why it was found; as it is where that cannot be told."""
        try:
            return self._engine.explained(hit, query)
        except StoreError:
            return hit

    def close(self) -> None:
        """Let go of the index."""
        self._engine.close()

    def _answers(self, question: Question, cancelled: Cancelled) -> Iterator[tuple[Results, bool]]:
        """Better and better answers, and whether each is the last. Words are there first; what
        means the same, what is not indexed yet, and the order of the extra follow. Where an answer
        stands already, only what is better in all of this takes its place."""
        asking, engine = question.asking, self._engine
        waits = can_rerank(asking)
        try:
            for sooner in () if question.goes_on else engine.early(asking, cancelled):
                yield sooner, False
                if cancelled():
                    return
            results = engine.answer(asking, cancelled)
        except NoIndex:
            if asking.method is Method.VECTOR:
                raise
            yield engine.scan(asking, cancelled), True
            return
        if not question.goes_on:
            yield results, not (question.scans or waits)
        if question.scans:
            results = engine.completed(results, cancelled)
        if question.scans and not question.goes_on:
            yield results, not waits
        if waits and not question.goes_on:
            time.sleep(_RERANKED_AFTER)
        if waits and not cancelled():
            results = engine.reranked(results, cancelled)
        if waits or question.goes_on:
            yield results, True


def bring_up_to_date(engine: AnyEngine, post: Post, stopped: Cancelled) -> None:
    """Index and embed what is new, telling how it goes. The engine is this thread's own."""
    due = Pace()

    def tell(progress: Progress) -> None:
        if progress.bytes and due():
            share = progress.bytes_done / progress.bytes
            post(IndexNews(f"indexing {share:.0%} of {size_of(progress.bytes)}"))
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
        behind = report.cancelled or bool(report.problem)
        post(IndexNews(" · ".join(remarks), changed=embedded, over=True, behind=behind))
    except (IndexBusy, NoIndex, OSError) as error:
        post(IndexNews(str(error), over=True, behind=True))
    finally:
        engine.close()
