"""How an entry stands to the leaf, in τ's words."""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """The state of an entry; where several hold, the strongest."""

    PATH = 0  # on the path, and the model saw it or would see it
    ABANDONED = 1  # on a branch that was left
    FOLDED = 2  # on the path, but dropped from the context by a compaction or an elide
    DETACHED = 3  # below a root that lost its parent
    INCOMPLETE = 4  # interrupted before it finished
    SUBAGENT = 5  # what a sub-agent did, whose call was not left

    @property
    def word(self) -> str:
        """The state in a word."""
        return "sub-agent" if self is State.SUBAGENT else self.name.lower()
