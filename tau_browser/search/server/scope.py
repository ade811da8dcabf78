"""What a search on a server may find. Told by the documents above each hit, whatever the server
was asked and whatever it answers."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field

from tau_browser.search.results import Reach

_FEW = 8
"""So many parts of a scope are asked for one by one; of more, all of the server is asked."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents that count.

    roots: of all conversations · given: documents that were named, or None if none were · above:
    of each that was named, where the reach is a branch, the documents above it, the outermost
    first
    """

    roots: Container[int]
    given: Collection[int] | None = None
    reach: Reach = Reach.BELOW
    above: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def holds(self, document: int, path: Sequence[int]) -> bool:
        """Whether a document counts. path: the documents above it, the outermost first."""
        if document in self.roots:
            return False
        if self.given is None:
            return self.reach is Reach.ALL or self.root_of(path) is not None
        if any(above in self.given for above in path):
            return True
        return self.reach is Reach.BRANCH and any(
            document == given or document in self.above.get(given, ()) for given in self.given
        )

    def root_of(self, path: Sequence[int]) -> int | None:
        """The conversation that a document belongs to, by those above it; None if to none."""
        return next((above for above in path if above in self.roots), None)

    @property
    def parents(self) -> tuple[int | None, ...]:
        """Below which documents the server is asked; None stands for all of it."""
        if self.given is None:
            return (None,)
        asked = self.given
        if self.reach is Reach.BRANCH:  # what stands above an entry hangs below its root
            asked = {self.root_of(self.above.get(given, ())) or given for given in self.given}
        return tuple(sorted(asked)) if len(asked) <= _FEW else (None,)

    @property
    def is_asked_exactly(self) -> bool:
        """Whether the server is asked for what counts and for nothing else."""
        return self.reach is not Reach.BRANCH and (self.given is None) == (self.parents == (None,))
