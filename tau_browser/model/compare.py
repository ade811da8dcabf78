"""Two entries or two branches side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import islice

from tau_browser.model.label import speaker_of
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session

_MOST_LINES = 4000
"""Lines compared on each side; what is beyond is counted, not compared."""


class Side(StrEnum):
    """How a line of the left stands to the line of the right beside it."""

    SAME = "same"
    CHANGED = "changed"
    LEFT = "only left"
    RIGHT = "only right"


@dataclass(frozen=True, slots=True)
class Comparison:
    """fork: the last entry both paths share, or NOWHERE · left, right: the entries compared ·
    rows: (how, left line, right line) · cut: lines beyond the limit on either side."""

    fork: int
    left: list[int]
    right: list[int]
    rows: list[tuple[Side, str, str]]
    cut: int

    @property
    def of_branches(self) -> bool:
        """Whether two branches are compared, rather than two entries of one path."""
        return len(self.left) > 1 or len(self.right) > 1


def compare(session: Session, one: int, other: int) -> Comparison:
    """Compare what follows the fork between two entries, or, if one leads to the other, the two."""
    tree = session.tree
    fork = tree.common_ancestor(one, other)
    if fork in (one, other):
        left, right = [one], [other]
    else:
        shared = len(tree.path(fork))
        left, right = tree.path(one)[shared:].tolist(), tree.path(other)[shared:].tolist()
    texts = [_lines(session, places) for places in (left, right)]
    kept = [list(islice(lines, _MOST_LINES)) for lines in texts]
    cut = sum(1 for lines in texts for _ in lines)
    return Comparison(fork, left, right, list(_rows(*kept)), cut)


def _lines(session: Session, places: list[int]) -> Iterator[str]:
    for place in places:
        record = session.record(place)
        if len(places) > 1:
            yield f"── {speaker_of(record)} {session.entry_id(place)}"
        yield from text_of(record).split("\n")


def _rows(left: list[str], right: list[str]) -> Iterator[tuple[Side, str, str]]:
    for tag, i, i_end, j, j_end in SequenceMatcher(None, left, right).get_opcodes():
        both = min(i_end - i, j_end - j)
        how = Side.SAME if tag == "equal" else Side.CHANGED
        for step in range(both):
            yield how, left[i + step], right[j + step]
        yield from ((Side.LEFT, line, "") for line in left[i + both : i_end])
        yield from ((Side.RIGHT, "", line) for line in right[j + both : j_end])
