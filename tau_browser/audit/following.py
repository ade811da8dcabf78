"""What comes after a recall, and what came before it, in a tree with branches."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tau_browser.audit.runs import Words, words_in
from tau_browser.audit.said import Said
from tau_browser.model.columns import Bools, Int32s
from tau_browser.model.context import ANCHORS, fold_at
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session, records_at
from tau_browser.model.tree import NOWHERE


class Following:
    """The tree of a session, asked what hangs below what."""

    def __init__(self, session: Session, said: Sequence[Said]) -> None:
        self.said = said
        self._session = session
        self._position: list[int] = session.tree.position.tolist()
        self._end: list[int] = (session.tree.position + session.tree.size).tolist()
        self._in_order = sorted(said, key=lambda each: self._position[each.place])
        self._positions = [self._position[each.place] for each in self._in_order]

    def is_below(self, place: int, above: int) -> bool:
        """Whether an entry hangs below another, at any depth. Nothing hangs below NOWHERE."""
        if NOWHERE in (place, above):
            return False
        return self._position[above] < self._position[place] < self._end[above]

    def is_at_or_below(self, place: int, above: int) -> bool:
        """The same of an entry that may be the other itself."""
        return place == above or self.is_below(place, above)

    def above(self, places: Int32s, place: int) -> Bools:
        """Which of some entries are on the path to another, that one included."""
        if place == NOWHERE:
            return np.zeros(len(places), np.bool_)
        tree, at = self._session.tree, self._position[place]
        start = tree.position[places]
        return (start <= at) & (at < start + tree.size[places])

    def is_later(self, said: Said, result: int) -> bool:
        """Whether something was said after a result, on any branch below it."""
        return self.is_below(said.place, result)

    def is_answered(self, result: int) -> bool:
        """Whether the model said something with a result in its context."""
        if result == NOWHERE:
            return False
        skip = self._position[result]
        for said in self._below(result):
            at = self._position[said.place]
            if at < skip:
                continue  # below one that did not see the result any more
            if not self._has_anchors or result in self._context(said.place):
                return True
            skip = self._end[said.place]
        return False

    def first_after(self, result: int) -> Said | None:
        """What was said first after a result, on the branch that was written first."""
        below = self._below(result) if result != NOWHERE else []
        return min(below, key=lambda said: said.place, default=None)

    def in_turn(self, result: int) -> list[Said]:
        """What was said after a result before the user spoke again."""
        if result == NOWHERE:
            return []
        end = self._end[result]
        at = bisect_left(self._user_positions, self._position[result])
        found: list[Said] = []
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
        return np.flatnonzero(self._session.is_user).astype(np.int32)

    @cached_property
    def users(self) -> list[tuple[int, str]]:
        """What the users said: place and text of each entry, in file order."""
        session, places = self._session, self.user_places
        raws = records_at(session.source, session.columns, places)
        texts = (text_of(session.format.record(decode_record(raw))) for raw in raws)
        return list(zip(places.tolist(), texts, strict=True))

    @cached_property
    def user_words(self) -> Words:
        """The texts of the users as words."""
        return words_in([text for _, text in self.users], 2)

    @cached_property
    def _user_positions(self) -> list[int]:
        return sorted(self._position[place] for place in np.flatnonzero(self._session.is_user))

    @cached_property
    def _user_ends(self) -> list[int]:
        order: list[int] = self._session.tree.order.tolist()
        return [self._end[order[at]] for at in self._user_positions]

    def users_above(self, place: int) -> list[str]:
        """The text of each user's entry on the path to an entry."""
        return [text for user, text in self.users if self.is_below(place, user)]

    def _below(self, place: int) -> list[Said]:
        return self._between(self._position[place] + 1, self._end[place])

    def _between(self, start: int, end: int) -> list[Said]:
        """What was said at some positions of the tree's preorder."""
        return self._in_order[
            bisect_left(self._positions, start) : bisect_left(self._positions, end)
        ]

    @cached_property
    def _has_anchors(self) -> bool:
        return bool(self._session.places_of_kind(*ANCHORS))

    def _context(self, place: int) -> Int32s:
        return fold_at(self._session, place).context
