"""How the entries of a session stand: which share a branch state and a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tau_browser.model.columns import Bools, Codes, Flag, Int32s, Int64s
from tau_browser.model.context import settings_of
from tau_browser.model.payload import Record, message_of
from tau_browser.model.session import Session
from tau_browser.search.index.catalog import Group

NONE = -1
"""Stands for no group: the entry is new."""


def models_of(session: Session) -> tuple[Int32s, list[str]]:
    """The model that was set where each entry stands, by place, as a code; and what the codes
    mean: the names of the model, "" where none was set."""
    columns, tree = session.columns, session.tree
    codes = np.zeros(len(session), np.int32)
    names = {"": 0}
    sets: Bools = (columns.flags & Flag.CONFIG) != 0
    sets = sets | session.kinds.where(columns.kind, "model_change")
    above: list[tuple[int, Record]] = []  # (end of the subtree in preorder, what is set there)
    for place in sorted(np.flatnonzero(sets).tolist(), key=tree.position.__getitem__):
        start = int(tree.position[place])
        while above and above[-1][0] <= start:
            above.pop()
        inherited = above[-1][1] if above else {}
        config = inherited | settings_of(session.record(place))
        end = start + int(tree.size[place])
        if (name := model_name(config)) != model_name(inherited):
            codes[tree.order[start:end]] = names.setdefault(name, len(names))
        above.append((end, config))
    return codes, list(names)


def own_model(record: Record) -> str:
    """The model that an entry itself names, for sessions that never set one."""
    value = message_of(record).get("model")
    return value if isinstance(value, str) else ""


class Groups:
    """The groups of one file. Changes of state are applied to whole groups where they can be."""

    def __init__(
        self,
        groups: Iterable[Group],
        add: Callable[[int, str], int],
        set_state: Callable[[int, int], None],
    ) -> None:
        self._model = {group.id: group.model for group in groups}
        self._state = {group.id: group.state for group in groups}
        self._add = add
        self._set_state = set_state
        self._by_kind: dict[tuple[int, str], int] = {}
        self._index()

    def find(self, state: int, model: str) -> int:
        """The group for entries of this state and model, made if there is none."""
        if (state, model) not in self._by_kind:
            group = self._add(state, model)
            self._state[group], self._model[group] = state, model
            self._by_kind[state, model] = group
        return self._by_kind[state, model]

    def regroup(self, groups: Int64s, states: Codes) -> Int64s:
        """The groups of entries whose states may have changed since. Most entries keep theirs:
        a group takes the state of most of its members, and only the others move.

        groups: by place, NONE for entries that have none yet.
        """
        now = groups.copy()
        for group in np.unique(groups[groups != NONE]).tolist():
            counts = np.bincount(states[groups == group])
            state = int(counts.argmax())
            if state != self._state[group]:
                self._state[group] = state
                self._set_state(group, state)
        self._index()
        for group in np.unique(groups[groups != NONE]).tolist():
            stray = (groups == group) & (states != self._state[group])
            for state in np.unique(states[stray]).tolist():
                now[stray & (states == state)] = self.find(state, self._model[group])
        return now

    def _index(self) -> None:
        self._by_kind = {}
        for group, state in self._state.items():
            self._by_kind.setdefault((state, self._model[group]), group)


def model_name(config: Record) -> str:
    """What a configuration calls its model: its own name for it, and the provider's."""
    spec = config.get("model_spec")
    names = [config.get("model"), spec.get("id") if isinstance(spec, dict) else spec]
    return " ".join(dict.fromkeys(name for name in names if isinstance(name, str) and name))
