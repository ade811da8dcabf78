"""From the records of a log to the entries of a conversation.

τ writes an assistant message twice under one id: a placeholder when its stream opens, the whole
when it ends. The two are one entry, at the place of the first (tau-format 1.7). Where one id
stands for different things, both are kept: τ would let the later swallow the earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tau_browser.model.columns import Bools, Columns, Flag, Int32s, Int64s, Places
from tau_browser.model.diagnostic import Diagnostic, Severity

SameRecord = Callable[[int, int], bool]
"""Whether two records of the log, given by place, say the same."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Columns with one place per entry, and the lookup from key to place."""

    columns: Columns
    by_key: Int32s  # places in order of key, then of file
    keys: Int64s  # the keys in that order
    diagnostics: list[Diagnostic]

    def find(self, key: int) -> int | None:
        """The first entry with this key, or None."""
        at = int(np.searchsorted(self.keys, key))
        return int(self.by_key[at]) if at < len(self.keys) and self.keys[at] == key else None


def entries_of(records: Columns, same: SameRecord) -> Entries:
    """Fold the records of a log into entries. Their flags are their own: links are marked there."""
    by_key, keys = _in_key_order(records)
    repeats = np.flatnonzero(keys[1:] == keys[:-1])
    if not len(repeats):
        return Entries(replace(records, flags=records.flags.copy()), by_key, keys, [])

    source = np.arange(len(records))  # the record that supplies the entry at a place
    kept = np.ones(len(records), np.bool_)
    earlier, later = by_key[repeats], by_key[repeats + 1]
    finished = _is_finalised(records, earlier, later)
    finished &= _stand_alone(repeats)
    source[earlier[finished]] = later[finished]
    kept[later[finished]] = False

    diagnostics: list[Diagnostic] = []
    clashing: list[int] = []
    rest = repeats[~finished]
    for group in np.split(rest, np.flatnonzero(np.diff(rest) > 1) + 1) if len(rest) else ():
        places = by_key[group[0] : group[-1] + 2].tolist()
        clashing += _fold_group(records, places, same, source, kept, diagnostics)
    flags = records.flags.copy()
    flags[clashing] |= Flag.SAME_ID | Flag.NOTED
    place = source[kept]
    columns = records.take(place)
    columns.flags[:] = flags[place]
    return Entries(columns, *_in_key_order(columns), diagnostics)


def _in_key_order(columns: Columns) -> tuple[Int32s, Int64s]:
    """Places in order of key, then of file, and their keys."""
    order = np.argsort(columns.key).astype(np.int32)  # a third of what a stable sort costs
    keys = columns.key[order]
    same = keys[1:] == keys[:-1]
    shared = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    places = np.sort(order[shared])
    order[shared] = places[np.argsort(columns.key[places], kind="stable")]
    return order, keys


def _is_finalised(records: Columns, earlier: Int32s, later: Int32s) -> Bools:
    """Whether the later record of each pair takes the place of an unfinished earlier one."""
    takes_place: Bools = (
        ((records.flags[earlier] & Flag.INCOMPLETE) != 0)
        & (records.parent[earlier] == records.parent[later])
        & (records.kind[earlier] == records.kind[later])
    )
    return takes_place


def _stand_alone(repeats: Places) -> Bools:
    """Which adjacent pairs are a whole group: no third record shares their key."""
    joined = np.diff(repeats) == 1
    alone = np.ones(len(repeats), np.bool_)
    alone[1:] &= ~joined
    alone[:-1] &= ~joined
    return alone


def _fold_group(
    records: Columns,
    places: list[int],
    same: SameRecord,
    source: Places,
    kept: Bools,
    diagnostics: list[Diagnostic],
) -> list[int]:
    """Fold the records of one id in file order; returns those that clash and are all kept."""
    standing = [places[0]]
    for place in places[1:]:
        last = standing[-1]
        pair = np.array([source[last]], np.int32), np.array([place], np.int32)
        line, start = int(records.line[place]), int(records.start[place])
        if _is_finalised(records, *pair)[0]:
            source[last] = place
            kept[place] = False
        elif any(same(int(source[other]), place) for other in standing):
            kept[place] = False
            reason = f"repeats line {records.line[source[last]]} word for word: shown once"
            diagnostics.append(Diagnostic(line, start, reason, Severity.NOTE))
        else:
            standing.append(place)
            reason = f"same id as line {records.line[last]} but not the same entry: both are shown"
            diagnostics.append(Diagnostic(line, start, reason, Severity.DAMAGE))
    return [int(source[place]) for place in standing] if len(standing) > 1 else []
