"""What the tree pane knows of a session besides its rows: worked out once, in a thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tau_browser.model.columns import Codes, Places
from tau_browser.model.context import states, subagent_heads
from tau_browser.model.session import Session
from tau_browser.model.state import State


@dataclass(frozen=True, slots=True)
class Facts:
    """states: how each entry stands to the leaf, by place · forks, subagents: places."""

    session: Session
    states: Codes
    forks: Places
    subagents: frozenset[int]

    def state(self, place: int) -> State:
        """How an entry stands to the leaf."""
        return State(int(self.states[place]))


def facts_of(session: Session) -> Facts:
    """The facts of a session; its outline is laid out on the way."""
    assert len(session.outline) == len(session)
    return Facts(
        session=session,
        states=states(session, session.leaf),
        forks=np.array(session.forks, np.intp),
        subagents=frozenset(subagent_heads(session)),
    )
