"""What is left of a session if only some of its entries are kept: the rules for references.

No entry that is written refers to one that is not. A reference into what goes is set anew by the
rule of its field, or else dropped, and each is listed; where a field cannot do without, and nothing
else can stand in it, the plan is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tau_browser.actions.plan import Loose, Refusal, Remedy
from tau_browser.actions.programs.rules import TAU_RULES, Rules
from tau_browser.model.columns import Bools, Flag
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE


@dataclass(slots=True)
class Remains:
    """kept: by place · changed: records that are not written as they were, by place · anchors:
    compactions and elides that have lost the entry they resume at."""

    kept: Bools
    changed: dict[int, Record] = field(default_factory=dict)
    loose: list[Loose] = field(default_factory=list)
    anchors: list[int] = field(default_factory=list)

    def refusal(self, session: Session) -> Refusal | None:
        """Why not, if anchors have nothing to resume at."""
        if not self.anchors:
            return None
        names = session.ids(self.anchors)
        reason = f"{', '.join(names)} would resume the context at an entry that goes"
        return Refusal(reason, Remedy.PAIRS, tuple(names))


def remains_of(session: Session, kept: Bools, rules: Rules = TAU_RULES) -> Remains:
    """What is left, every kept entry under its nearest kept ancestor.

    rules: of the program that is to read it, in whose words the changed records are.
    """
    remains = Remains(kept)
    _hang(session, remains, rules)
    for place in rules.referrers(session):
        if kept[place]:
            _refer(session, place, remains, rules)
    return remains


def nearest_kept(session: Session, place: int, kept: Bools) -> int:
    """The nearest ancestor that is kept, or NOWHERE."""
    above = int(session.tree.parent[place])
    while above != NOWHERE and not kept[above]:
        above = int(session.tree.parent[above])
    return above


def _hang(session: Session, remains: Remains, rules: Rules) -> None:
    """Every kept entry whose parent goes, or was never there, gets another."""
    parent, flags = session.tree.parent, session.columns.flags
    holders = remains.kept & rules.holders(session)
    lost = remains.kept & (parent != NOWHERE) & ~remains.kept[parent]
    torn = remains.kept & ((flags & (Flag.ORPHAN | Flag.CYCLE)) != 0)
    for place in np.flatnonzero(lost | torn).tolist():
        record = rules.stored(session, place)
        name, was = rules.above(record)
        if not torn[place] and any(remains.kept[at] for at in session.find(str(was))):
            continue  # only what was drawn between the two goes
        above = nearest_kept(session, place, holders)
        above_id = session.entry_id(above) if above != NOWHERE else None
        if was is None or was == above_id:
            continue
        remains.changed[place] = record | {name: above_id}
        remains.loose.append(Loose(session.entry_id(place), name, str(was), above_id))


def _refer(session: Session, place: int, remains: Remains, rules: Rules) -> None:
    record = remains.changed.get(place) or rules.stored(session, place)
    for name, target in rules.references(record).items():
        meant = session.find(target)
        if not meant or any(remains.kept[at] for at in meant):
            continue  # what dangled before is as it was
        if name in rules.indispensable:
            remains.anchors.append(place)
            return
        if name == rules.first_kept:
            stand_in = _resumes(session, place, meant[0], remains.kept)
            if stand_in == NOWHERE:
                remains.anchors.append(place)
                continue
        elif name == "configId":
            stand_in = _config_above(session, place, remains.kept)
        else:
            stand_in = NOWHERE
        becomes = session.entry_id(stand_in) if stand_in != NOWHERE else None
        record = rules.with_reference(record, name, becomes)
        remains.changed[place] = record
        remains.loose.append(Loose(session.entry_id(place), name, target, becomes))


def _resumes(session: Session, anchor: int, target: int, kept: Bools) -> int:
    """The first kept entry from the target on, on the path to the anchor, or NOWHERE."""
    path = session.tree.path(anchor)[:-1]
    after = path[np.flatnonzero(path == target)[0] :] if target in path else path[:0]
    found = after[kept[after]]
    return int(found[0]) if len(found) else NOWHERE


def _config_above(session: Session, place: int, kept: Bools) -> int:
    """The nearest kept ancestor that sets the configuration, or NOWHERE."""
    path = session.tree.path(place)[:-1]
    sets = kept[path] & ((session.columns.flags[path] & Flag.CONFIG) != 0)
    found = path[sets]
    return int(found[-1]) if len(found) else NOWHERE
