"""Tool calls and results that a change would part from each other."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tau_browser.model.calls import call_of
from tau_browser.model.columns import Bools
from tau_browser.model.session import Session


@dataclass(frozen=True, slots=True)
class Parted:
    """Places of entries that would be left alone. calls: {assistant entry: the results that it
    would lose} · results: {result: the entry that made its call}."""

    calls: dict[int, list[int]]
    results: dict[int, int]

    def __bool__(self) -> bool:
        return bool(self.calls or self.results)

    def names(self, session: Session) -> tuple[str, ...]:
        """The ids of those that would be left alone."""
        return tuple(session.ids([*self.calls, *self.results]))


def parted(session: Session, kept: Bools) -> Parted:
    """What is parted if only these entries are kept. A call that another kept entry answers, on
    another branch, is not; nor is one that nothing ever answered."""
    columns = session.columns
    is_result = session.roles.where(columns.role, "toolResult")
    is_result |= session.kinds.where(columns.kind, "toolResult")
    answered: set[tuple[int, str]] = set()
    lost: dict[tuple[int, str], list[int]] = defaultdict(list)
    orphans: dict[int, int] = {}
    for result in np.flatnonzero(is_result).tolist():
        if (found := call_of(session, result)) is None:
            continue
        place, call = found
        if kept[place] and kept[result]:
            answered.add((place, call.id))
        elif kept[place]:
            lost[place, call.id].append(result)
        elif kept[result]:
            orphans[result] = place
    calls: dict[int, list[int]] = defaultdict(list)
    for (place, call_id), results in lost.items():
        if (place, call_id) not in answered:
            calls[place] += results
    return Parted(dict(calls), orphans)
