"""What is out of scope is never a hit, whatever a server answers; what is in scope always is."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.search.results import Reach
from tau_browser.search.server.asking import Told
from tau_browser.search.server.entries import named
from tau_browser.search.server.scope import Scope
from tau_browser.stores.jmfts.documents import CHUNK, Located, Scored

_KINDS = ("tau:conversation", "tau:message", "note", CHUNK)


@dataclass(frozen=True)
class Server:
    """Documents by number, from 1: above each its parent (0 for none), and its use type."""

    parents: dict[int, int]
    kinds: dict[int, str]

    def above(self, number: int) -> list[int]:
        """All documents above one, the outermost first."""
        parent = self.parents[number]
        return [*self.above(parent), parent] if parent else []

    def located(self, number: int) -> Located:
        """A document as the server sends it."""
        stored = msgspec.Raw(b'{"tau":{"type":"message"},"seq":1}')
        return Located(
            number,
            self.above(number),
            self.parents[number] or None,
            usetype=self.kinds[number],
            structured_content=stored,
        )

    @property
    def roots(self) -> set[int]:
        """Of conversations."""
        return {number for number, kind in self.kinds.items() if kind == _KINDS[0]}

    def owner(self, number: int) -> int:
        """The entry that a document counts for: that which a piece is of; 0 if there is none."""
        return self.parents[number] if self.kinds[number] == CHUNK else number


@st.composite
def servers(draw: st.DrawFn) -> Server:
    count = draw(st.integers(1, 14))
    parents = {number: draw(st.integers(0, number - 1)) for number in range(1, count + 1)}
    kinds = {number: draw(st.sampled_from(_KINDS)) for number in parents}
    return Server(parents, kinds)


def is_inside(server: Server, entry: int, given: list[int] | None, reach: Reach) -> bool:
    """Whether an entry is in scope, told by walking from parent to parent."""
    above = server.above(entry)
    if entry in server.roots:
        return False
    if given is None:
        return reach is Reach.ALL or bool(server.roots & set(above))
    return any(
        one in above or (reach is Reach.BRANCH and (entry == one or entry in server.above(one)))
        for one in given
    )


@given(servers(), st.data())
def test_hits_are_those_within_the_scope(server: Server, data: st.DataObject) -> None:
    reach = data.draw(st.sampled_from(Reach))
    numbers = st.lists(st.sampled_from(sorted(server.parents)), unique=True)
    given_ = None if reach is Reach.ALL else data.draw(st.none() | numbers)
    answered = data.draw(numbers)
    scope = Scope(
        server.roots,
        given_,
        reach,
        {one: server.above(one) for one in given_ or ()},
    )
    owners = {server.owner(number) for number in answered} - {0}
    told = Told(
        [Scored(server.located(number), 1.0) for number in answered],
        {number: server.located(number) for number in owners},
    )
    inside = {entry for entry in owners if is_inside(server, entry, given_, reach)}
    found = named(told, scope)
    assert set(found.entries) == inside == {entry for entry, _ in found.ranking}
    for number, entry in found.entries.items():
        assert entry.root == next((it for it in server.above(number) if it in server.roots), None)


@given(servers(), st.data())
def test_what_is_asked_for_holds_all_of_the_scope(server: Server, data: st.DataObject) -> None:
    numbers = st.lists(st.sampled_from(sorted(server.parents)), unique=True, min_size=1)
    given_, reach = data.draw(numbers), data.draw(st.sampled_from([Reach.BELOW, Reach.BRANCH]))
    scope = Scope(server.roots, given_, reach, {one: server.above(one) for one in given_})
    for entry in server.parents:
        is_asked_for = any(
            parent is None or parent in server.above(entry) for parent in scope.parents
        )
        has_root = bool(server.roots & set(server.above(entry)))
        if scope.holds(entry, server.above(entry)) and has_root:
            assert is_asked_for
