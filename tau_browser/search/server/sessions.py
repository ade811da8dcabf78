"""What filters and hits need to know of the conversations of a server, read only where that is
cheap: those that are open, at hand, or short."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import Summary
from tau_browser.search.filtering import Unjudged, how_entries_stand
from tau_browser.search.index.groups import own_model
from tau_browser.search.scan import Hit as Scanned

Read = Callable[[str], Session | None]
"""From the path of a conversation to what is in it; None where it is not read."""


class Conversations:
    """Those of one server, for one answer."""

    def __init__(self, roots: Mapping[int, Summary], read: Read) -> None:
        self._roots = roots
        self._read = read
        self._known: dict[str, _Conversation] = {}

    def of(self, path: str) -> _Conversation:
        """One of them; "" stands for what belongs to none."""
        if path not in self._known:
            summary = self._roots.get(int(path)) if path else None
            self._known[path] = _Conversation(path, summary.cwd if summary else "", self._read)
        return self._known[path]


class _Conversation:
    def __init__(self, path: str, cwd: str, read: Read) -> None:
        self.cwd = cwd
        self._path = path
        self._read = read
        self._stand: dict[str, tuple[State, str]] | None = None

    def state(self, hit: Scanned) -> State:
        """How an entry stands to the leaf. Raises Unjudged."""
        return self._of(hit)[0]

    def named(self, hit: Scanned) -> Record:
        """The record as it is: whatever is on a server says which tool a result is of."""
        return hit.record

    def model(self, hit: Scanned) -> str:
        """The model that was set where it stands, or else its own. Raises Unjudged."""
        return self._of(hit)[1] or own_model(hit.record)

    def _of(self, hit: Scanned) -> tuple[State, str]:
        if not self._path:  # of no conversation: nothing was set, and nothing was left
            return State.DETACHED, ""
        if self._stand is None:
            session = self._read(self._path)
            stand = how_entries_stand(session) if session is not None else []
            ids = map(session.entry_id, range(len(session))) if session is not None else ()
            self._stand = dict(zip(ids, stand, strict=True))
        if (found := self._stand.get(str(-hit.start))) is None:
            raise Unjudged
        return found
