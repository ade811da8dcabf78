"""What surrounds a hit in its session: who asked for it, and whether a sub-agent did the work."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tau_browser.model.columns import Int32s
from tau_browser.model.context import states, subagent_heads
from tau_browser.model.label import label_of
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.search.results import Hit, Turn
from tau_browser.stores.store import Change, OpenSession, Store, StoreError

_KEPT = 16  # sessions


class Surroundings:
    """Reads the sessions in which hits stand, and keeps the last of them. For one thread at a
    time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, tuple[OpenSession, _Known]] = OrderedDict()

    def of(self, hits: Sequence[Hit], cancelled: Callable[[], bool]) -> list[Hit]:
        """The hits, each with its turn; those of sessions that cannot be read stay as they are.
        All do once cancelled."""
        found = []
        for hit in hits:
            known = None if cancelled() else self._known(hit.standing.path)
            found.append(known.told(hit) if known else hit)
        return found

    def session(self, path: str) -> Session | None:
        """One of the sessions; None if it cannot be read."""
        known = self._known(path)
        return known.session if known else None

    def close(self) -> None:
        """Let go of the sessions."""
        while self._kept:
            self._kept.popitem()[1][0].close()

    def _known(self, path: str) -> _Known | None:
        if path in self._kept:
            self._kept.move_to_end(path)
            opened, known = self._kept[path]
            if opened.check() is Change.NONE:
                return known
            self._kept.pop(path)[0].close()
        try:
            opened = self._store.open(path)
            session = [it.session for it in opened.load()][-1]
        except (StoreError, OSError, IndexError):
            return None
        if session is None:
            opened.close()
            return None
        self._kept[path] = opened, _Known(session)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)[1][0].close()
        return self._kept[path][1]


class _Known:
    """What is known of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._heads = np.array(subagent_heads(session), np.int32)
        self._states = states(session, session.leaf)

    def told(self, hit: Hit) -> Hit:
        """A hit with what is known of it."""
        session = self.session
        places = session.places_at([hit.standing.start])
        if not len(places):
            return hit
        place = int(places[0])
        if hit.state is None:  # a server does not tell
            state = State(int(self._states[place]))
            hit = replace(hit, standing=replace(hit.standing, state=state))
        path = session.tree.path(place)
        is_subagent = bool(np.isin(path, self._heads).any())
        return replace(hit, turn=self._turn(path), is_subagent=is_subagent)

    def _turn(self, path: Int32s) -> Turn | None:
        """The last message of a person above the end of a path; None where that is one."""
        session = self.session
        asked = path[session.is_user[path]]
        if not len(asked) or asked[-1] == path[-1]:
            return None
        at = int(asked[-1])
        return Turn(session.entry_id(at), label_of(session, at, session.record(at)))
