"""What filters need to know of the conversations of a server. How entries stand is read where that
is cheap, in those that are open, at hand or short; else it is asked what tells of the hits alone,
as it always is for models (`distant`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import Summary
from tau_browser.search.filtering import Unjudged, how_entries_stand
from tau_browser.search.index.groups import own_model
from tau_browser.search.scan import Hit as Scanned
from tau_browser.search.server.distant import Distant
from tau_browser.stores.jmfts.records import FOREIGN

Read = Callable[[str], Session | None]
"""From the path of a conversation to what is in it; None where it is not read."""


class Conversations:
    """Those of one server, for one answer. above: by the numbers of what was found, those of the
    documents above it, the outermost first."""

    def __init__(
        self,
        roots: Mapping[int, Summary],
        read: Read,
        distant: Distant,
        above: Mapping[int, Sequence[int]],
    ) -> None:
        self._roots = roots
        self._read = read
        self._distant = distant
        self._above = above
        self._known: dict[str, _Conversation] = {}

    def of(self, path: str) -> _Conversation:
        """One of them; "" stands for what belongs to none."""
        if path not in self._known:
            summary = self._roots.get(int(path)) if path else None
            cwd = summary.cwd if summary else ""
            self._known[path] = _Conversation(path, cwd, self._read, self._distant, self._above)
        return self._known[path]


class _Conversation:
    def __init__(
        self,
        path: str,
        cwd: str,
        read: Read,
        distant: Distant,
        above: Mapping[int, Sequence[int]],
    ) -> None:
        self.cwd = cwd
        self._path = path
        self._read = read
        self._distant = distant
        self._above = above

    def state(self, hit: Scanned) -> State:
        """How an entry stands to the leaf. Raises Unjudged, and JmftsError."""
        if not self._path:
            return State.DETACHED
        if self._stands is not None:
            return self._stand(hit)[0]
        if hit.record.get("type") == FOREIGN:  # it stands as what it hangs under does
            raise Unjudged
        return self._distant.state(int(self._path), self._documents(hit), hit.record)

    def named(self, hit: Scanned) -> Record:
        """The record as it is: whatever is on a server says which tool a result is of."""
        return hit.record

    def model(self, hit: Scanned) -> str:
        """The model that was set where it stands, or else its own. Raises Unjudged, and
        JmftsError."""
        return (self._path and self._model_set(hit)) or own_model(hit.record)

    def _model_set(self, hit: Scanned) -> str:
        try:  # which takes less than to read even a short conversation
            return self._distant.model(int(self._path), self._documents(hit))
        except Unjudged:
            return self._stand(hit)[1]

    @cached_property
    def _stands(self) -> dict[str, tuple[State, str]] | None:
        """How all entries stand, by their ids; None where the conversation is not read."""
        session = None if self._distant.cancelled() else self._read(self._path)
        if session is None:
            return None
        ids = map(session.entry_id, range(len(session)))
        return dict(zip(ids, how_entries_stand(session), strict=True))

    def _stand(self, hit: Scanned) -> tuple[State, str]:
        if self._stands is None or (found := self._stands.get(str(-hit.start))) is None:
            raise Unjudged
        return found

    def _documents(self, hit: Scanned) -> list[int]:
        """The numbers of the document of a hit and of those above it. Raises Unjudged where the
        server did not name it."""
        if (above := self._above.get(-hit.start)) is None:
            raise Unjudged
        return [*above, -hit.start]
