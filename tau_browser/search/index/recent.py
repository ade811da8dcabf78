"""Entries of followed sessions that no commit holds yet: indexed in memory, found at once.

They are searched like all others, by the same queries in a small index of their own, and leave
it as soon as a commit has them.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import tantivy

from tau_browser.model.calls import ResultNames
from tau_browser.model.columns import Flag, Int32s
from tau_browser.model.context import states
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import Record, text_of
from tau_browser.model.session import Session, records_at
from tau_browser.model.state import State
from tau_browser.search.documents import content_of, document_of
from tau_browser.search.index.groups import models_of, own_model
from tau_browser.search.index.postings import KEY, STEM, open_postings, tools_in, writer, written
from tau_browser.search.index.reader import Reader, Standing
from tau_browser.search.index.selection import GroupFacts, Selection, select
from tau_browser.search.query import Query

_MOST = 500
"""Entries of one session; of more, those that were written last: an answer must be there within
100 ms, and what a session lacks is committed within seconds."""
_HEAP = 15 << 20  # the least that tantivy takes


class Recent:
    """What the readers' index does not hold yet of some sessions. Its keys are below zero."""

    def __init__(self, reader: Reader, store: str = "tau") -> None:
        self._reader = reader
        self._store = store
        self._sessions: dict[str, Session] = {}
        self._begin()

    def follow(self, path: str, session: Session) -> None:
        """Take note of a session as it stands now. Raises NoIndex."""
        self._sessions[path] = session
        self.settle()

    def settle(self) -> None:
        """Let go of what has been committed. To be called when the reader went on."""
        self._begin()
        for path, session in self._sessions.items():
            self._add(path, session, self._missing(path, session))
        self._writer.commit()
        self._writer.wait_merging_threads()  # it holds a lock that a reader waits 100 ms for
        self._postings.reload()
        self.searcher = self._postings.searcher()

    def forget(self, path: str) -> None:
        """A session is no longer followed."""
        if self._sessions.pop(path, None) is not None:
            self.settle()

    def __len__(self) -> int:
        return len(self._standings)

    def __contains__(self, place: tuple[str, int]) -> bool:
        """Whether the entry that starts at this byte of this file is here."""
        return place in self._places

    # what the ranker asks of an index

    @property
    def count(self) -> int:
        """How many contents there are."""
        return self.searcher.num_docs

    def having(self, stem: str) -> int:
        """How many contents hold a word of this stem."""
        return self.searcher.doc_freq(STEM, stem)

    def select(self, query: Query, paths: Collection[str] | None = None) -> Selection:
        """What a query's filters leave."""
        return select(query, lambda: self._groups.values(), lambda: tools_in(self.searcher), paths)

    def keys(self, addresses: list[tantivy.DocAddress]) -> list[int]:
        """The keys of entries: -1 for the first."""
        values = self.searcher.fast_field_values(KEY, addresses)
        return [-1 - int(value or 0) for value in values]

    # what is asked of a hit

    def standing(self, key: int) -> Standing:
        """Where the entry of a key stands."""
        return self._standings[-1 - key]

    def record(self, key: int) -> Record:
        """The record of a key."""
        standing = self.standing(key)
        session = self._sessions[standing.path]
        raw = session.source.read(standing.start, standing.stop)
        return session.format.record(decode_record(raw))

    def text(self, key: int) -> str:
        """What the entry of a key says."""
        return text_of(self.record(key))

    def _begin(self) -> None:
        self._postings = open_postings(None)
        self._writer = writer(self._postings, _HEAP)
        self._standings: list[Standing] = []
        self._places: set[tuple[str, int]] = set()
        self._groups: dict[tuple[str, State, str], GroupFacts] = {}
        self.searcher = self._postings.searcher()

    def _missing(self, path: str, session: Session) -> Int32s:
        """The entries that the reader does not have, by place; at most so many."""
        columns = session.columns
        known = {row.start: row.stop for row in self._reader.rows(path)}
        ranges = zip(columns.start.tolist(), columns.stop.tolist(), strict=True)
        missing = [at for at, (start, stop) in enumerate(ranges) if known.get(start) != stop]
        return np.array(missing[-_MOST:], np.int32)

    def _add(self, path: str, session: Session, places: Int32s) -> None:
        columns = session.columns
        state = states(session, session.leaf)
        model, names = models_of(session)
        cwd = session.header.get("cwd")
        result_names = ResultNames(session)
        raws = records_at(session.source, columns, places)
        for place, raw in zip(places.tolist(), raws, strict=True):
            record = session.format.record(decode_record(raw))
            if self._reader.stands(content_of(record)):  # found already, in the session it is from
                continue
            now, name = State(int(state[place])), names[model[place]] or own_model(record)
            group = self._group(path, str(cwd or ""), now, name)
            start, stop = columns.row(place)
            called = result_names.named(place, record)
            document = document_of(called, is_error=session.has(place, Flag.ERROR))
            self._writer.add_document(written(len(self._standings), [group.id], document))
            self._places.add((path, start))
            self._standings.append(
                Standing(
                    path,
                    start,
                    stop,
                    session.id,
                    str(cwd or ""),
                    now,
                    name,
                    group.id,
                )
            )

    def _group(self, path: str, cwd: str, state: State, model: str) -> GroupFacts:
        key = path, state, model
        if key not in self._groups:
            self._groups[key] = GroupFacts(
                len(self._groups),
                path,
                self._store.casefold(),
                cwd.casefold(),
                state.word,
                model.casefold(),
            )
        return self._groups[key]
