"""Where Claude Code goes on. It notes that itself, in lines of the kind `last-prompt`; what it does
with them is what versions 2.1.197 and 2.1.332 were seen to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tau_browser.model.columns import KINDS, NO_KEY, ROLES, Bools, Columns, Flag
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.format import Links
from tau_browser.stores.claude_code.linking import Link, long_answers

_BOUNDARY = KINDS.index("compaction")
_ANSWER, _RESULT = ROLES.index("assistant"), ROLES.index("toolResult")


class Note(NamedTuple):
    """What such a line tells. leaf: the id of the entry at which it goes on, or None for a
    conversation without any · is_explicit: whether that holds whatever was written before, as when
    a person went back there."""

    leaf: str | None
    is_explicit: bool


def with_leaf(
    columns: Columns, stored: Columns, own: Bools, links: Links
) -> tuple[Columns, list[Diagnostic]]:
    """The columns with the mark of the entry at which the program goes on, and a remark where that
    is not the last one. stored: the same with the parents that are written · own: which entries are
    of the conversation itself.

    A note holds until a compaction. An entry that was written later, and that the noted one led to,
    takes its place; one on another branch does not, unless the note is not in the log.
    """
    places = np.flatnonzero(own)
    if not len(places):
        return columns, []
    last = int(places[-1])
    at, note = _newest(columns, own, last, links)
    if note == (None, True):
        return columns, [_remark(columns, at, "with an empty conversation")]
    leaf, remarks = last, []
    noted = places[columns.key[places] == hash(note.leaf)]
    if len(noted) and (note.is_explicit or not _leads_to(stored, links, int(noted[-1]), last)):
        leaf = int(noted[-1])
        if columns.key[leaf] != columns.key[last]:
            remarks.append(_remark(columns, at, f"at {note.leaf}, not at the last entry"))
    flags = columns.flags.copy()
    flags[columns.key == columns.key[leaf]] |= Flag.GOES_ON
    return replace(columns, flags=flags), remarks


def _newest(columns: Columns, own: Bools, last: int, links: Links) -> tuple[int, Note]:
    """The newest note since the last compaction, and where it stands. It is explicit if it, or one
    before it that says the same, is so, and no entry was written since."""
    boundaries = np.flatnonzero(own & (columns.kind == _BOUNDARY))
    since = int(boundaries[-1]) if len(boundaries) else -1
    notes = [(at, note) for at, note in links if isinstance(note, Note) and at > since]
    if not notes:
        return -1, Note(None, False)
    at, newest = notes[-1]
    alike = [note for at, note in notes if at > last and note.leaf == newest.leaf]
    return at, Note(newest.leaf, any(note.is_explicit for note in alike))


def _leads_to(columns: Columns, links: Links, above: int, below: int) -> bool:
    """Whether an entry is on the way to another, from the last compaction on, or belongs to an
    answer that is: as another line of it, or as the result of a call in it."""
    keys, roles = columns.key.tolist(), columns.role.tolist()
    parents = np.where(columns.kind == _BOUNDARY, NO_KEY, columns.parent).tolist()
    parent_of = dict(zip(keys, parents, strict=True))
    way, wanted = set(_up(parent_of, keys[below])), keys[above]
    answers = {key for key, role in zip(keys, roles, strict=True) if role == _ANSWER and key in way}
    for lines in long_answers(links):
        if not answers.isdisjoint(some := [keys[place] for place in lines]):
            answers.update(some)
    if wanted in way or wanted in answers:
        return True
    between = {keys[place] for place, link in links if isinstance(link, Link) and link.is_progress}
    role_of = dict(zip(keys, roles, strict=True))
    for key in _up(parent_of, wanted):  # results may hang under each other
        if key in answers:
            return True
        if role_of[key] != _RESULT and key not in between:
            return False
    return False


def _up(parent_of: Mapping[int, int], key: int) -> list[int]:
    """What leads to an entry, itself first."""
    way: dict[int, None] = {}
    while key in parent_of and key not in way:
        way[key] = None
        key = parent_of[key]
    return list(way)


def _remark(columns: Columns, at: int, where: str) -> Diagnostic:
    line, byte = int(columns.line[at]), int(columns.start[at])
    return Diagnostic(line, byte, f"Claude Code goes on {where}", Severity.REMARK)
