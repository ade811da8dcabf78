"""What comes after a recall, and what came before it, in a tree with branches."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

import numpy as np

from tau_browser.audit.transcript import Transcript
from tau_browser.audit.words import Words
from tau_browser.model.columns import Int32s
from tau_browser.model.context import ANCHORS, fold_at
from tau_browser.model.payload import Call, blocks_of
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE


class Following:
    """The tree of a session, asked what hangs below what."""

    def __init__(self, session: Session, transcript: Transcript) -> None:
        self.transcript = transcript
        self._session = session
        self._position: list[int] = session.tree.position.tolist()
        self._end: list[int] = (session.tree.position + session.tree.size).tolist()
        places = {passage.place for passage in transcript.passages}
        self._in_order = sorted(places, key=self._position.__getitem__)
        self._positions = [self._position[place] for place in self._in_order]

    def is_below(self, place: int, above: int) -> bool:
        """Whether an entry hangs below another, at any depth. Nothing hangs below NOWHERE."""
        if NOWHERE in (place, above):
            return False
        return self._position[above] < self._position[place] < self._end[above]

    def is_at_or_below(self, place: int, above: int) -> bool:
        """The same of an entry that may be the other itself."""
        return place == above or self.is_below(place, above)

    def extents(self, places: Int32s) -> tuple[Int32s, Int32s]:
        """From which to which position each of some entries and all below it stand."""
        tree = self._session.tree
        start = tree.position[places]
        return start, start + tree.size[places]

    def position(self, place: int) -> int:
        """The position of an entry in such an order; NOWHERE is before all others."""
        return NOWHERE if place == NOWHERE else self._position[place]

    def calls_at(self, place: int) -> list[Call]:
        """The calls of tools in an entry."""
        blocks = blocks_of(self._session.record(place))
        return [block for block in blocks if isinstance(block, Call)]

    def is_answered(self, result: int) -> bool:
        """Whether the model said something with a result in its context."""
        if result == NOWHERE:
            return False
        skip = self._position[result]
        for answer in self._below(result):
            if self._position[answer] < skip:
                continue  # below one that did not see the result any more
            if not self._has_anchors or result in self._context(answer):
                return True
            skip = self._end[answer]
        return False

    def first_after(self, result: int) -> int:
        """The first answer after a result, on the branch that was written first; or NOWHERE."""
        return min(self._below(result) if result != NOWHERE else [], default=NOWHERE)

    def in_turn(self, result: int) -> list[int]:
        """The answers after a result, before the user spoke again."""
        if result == NOWHERE:
            return []
        end = self._end[result]
        at = bisect_left(self._user_positions, self._position[result])
        found: list[int] = []
        start = self._position[result]
        while start < end:
            # as far as the next user's entry, and on after all that hangs below it
            user = self._user_positions[at] if at < len(self._user_positions) else end
            found += self._between(start, min(user, end))
            start = max(start, self._user_ends[at]) if user < end else end
            at = bisect_left(self._user_positions, start)
        return found

    @cached_property
    def user_places(self) -> Int32s:
        """The users' entries, in file order."""
        return np.array([place for place, _ in self.transcript.users], np.int32)

    @cached_property
    def user_words(self) -> Words:
        """The texts of the users as words."""
        return Words([text for _, text in self.transcript.users], 2)

    @cached_property
    def _user_positions(self) -> list[int]:
        return sorted(self._position[place] for place in np.flatnonzero(self._session.is_user))

    @cached_property
    def _user_ends(self) -> list[int]:
        order: list[int] = self._session.tree.order.tolist()
        return [self._end[order[at]] for at in self._user_positions]

    def users_above(self, place: int) -> list[str]:
        """The text of each user's entry on the path to an entry."""
        return [text for user, text in self.transcript.users if self.is_below(place, user)]

    def _below(self, place: int) -> list[int]:
        return self._between(self._position[place] + 1, self._end[place])

    def _between(self, start: int, end: int) -> list[int]:
        """The answers at some positions of the tree's preorder."""
        return self._in_order[
            bisect_left(self._positions, start) : bisect_left(self._positions, end)
        ]

    @cached_property
    def _has_anchors(self) -> bool:
        return bool(self._session.places_of_kind(*ANCHORS))

    def _context(self, place: int) -> Int32s:
        return fold_at(self._session, place).context
