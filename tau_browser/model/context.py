"""What the model saw: the fold of a path at its last compaction or elide (tau-format 2.5, 2.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tau_browser.model.columns import PREVIOUS_KEY, Bools, Codes, Flag, Int32s
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.tree import NOWHERE, is_foreign

ANCHORS = ("compaction", "elide")
"""Kinds that drop what stands before them from the context."""

_CONFIG_KEYS = (
    "model",
    "backend",
    "thinking",
    "cwd",
    "tools",
    "extensions",
    "model_spec",
    "system_prompt_digest",
    "tool_exposure",
    "tool_declaration",
)


@dataclass(frozen=True, slots=True)
class Fold:
    """The context at an entry. `anchor` and `resumes` are NOWHERE where nothing is folded, or
    where the entry from which the context should resume is not on the path."""

    context: Int32s  # places in the order in which the model saw them
    anchor: int
    resumes: int


def fold_at(session: Session, place: int) -> Fold:
    """The context of the model at an entry, that entry included."""
    path = session.tree.path(place)
    anchors = np.flatnonzero(session.kinds.where(session.columns.kind[path], *ANCHORS))
    if not len(anchors):
        return Fold(path, NOWHERE, NOWHERE)
    at = int(anchors[-1])
    before, anchor = path[:at], int(path[at])
    resumes = _on_path(session, before, session.record(anchor).get("firstKeptId"))
    boundary = at if resumes == NOWHERE else int(np.flatnonzero(before == resumes)[0])
    dropped = before[:boundary]
    carried = dropped[_is_system(session, dropped)]
    context = np.concatenate([carried, path[at : at + 1], before[boundary:], path[at + 1 :]])
    return Fold(context, anchor, resumes)


def states(session: Session, place: int) -> Codes:
    """The `State` of every entry as seen from one of them, by place."""
    tree, flags = session.tree, session.columns.flags
    elsewhere = State.PATH if session.is_nested else State.ABANDONED
    state = np.full(len(session), elsewhere, np.uint8)
    if place != NOWHERE:
        fold = fold_at(session, place)
        path = tree.path(place)
        state[path] = State.PATH if fold.anchor == NOWHERE else State.FOLDED
        state[fold.context] = State.PATH
    for head in _lane_heads(session):
        if (over := tree.parent[head]) != NOWHERE and state[over] != State.ABANDONED:
            start = int(tree.position[head])
            below = tree.order[start : start + int(tree.size[head])]
            state[below[state[below] == State.ABANDONED]] = State.SUBAGENT
    for root in np.flatnonzero(flags & (Flag.ORPHAN | Flag.CYCLE)):
        start = int(tree.position[root])
        below = tree.order[start : start + int(tree.size[root])]
        state[below] = State.DETACHED
    state[(flags & Flag.INCOMPLETE) != 0] = State.INCOMPLETE
    _share_state_of_what_they_follow(state, session.columns.parent == PREVIOUS_KEY)
    if not session.is_nested:
        for at in np.flatnonzero(is_foreign(session.columns, session.kinds)).tolist():
            if (over := int(tree.parent[at])) != NOWHERE:
                state[at] = state[over]  # it belongs to what it hangs under
    return state


def _share_state_of_what_they_follow(state: Codes, aside: Bools) -> None:
    """What hangs where it was written stands as the entry before it does, below the leaf, too."""
    if aside.any():
        places = np.arange(len(state))
        followed = np.maximum.accumulate(np.where(aside, NOWHERE, places))
        shares = aside & (followed != NOWHERE)
        state[shares] = state[followed[shares]]


def context_messages(session: Session, place: int) -> list[Record]:
    """The messages at an entry as τ hands them to the model, before provider-specific mapping."""
    shown = (_rendered(session.record(int(at))) for at in fold_at(session, place).context)
    return [message for message in shown if message is not None]


def reaches_model(record: Record) -> bool:
    """Whether an entry of the context is given to the model, and not only kept beside it."""
    message = _rendered(record)
    return message is not None and message.get("visibleToModel") is not False


def config_at(session: Session, place: int) -> Record:
    """The configuration in force at an entry: what its path set last, per key."""
    path = session.tree.path(place)
    columns = session.columns
    sets = (columns.flags[path] & Flag.CONFIG) != 0
    sets |= session.kinds.where(columns.kind[path], "model_change", "thinking_change")
    config: Record = {}
    for at in path[sets]:
        config.update(settings_of(session.record(int(at))))
    return config


def legacy_cursor(session: Session) -> tuple[str, str | None] | None:
    """Where τ 0.9 would reopen a log that ends with a move: (navigate id, target id or None)."""
    if not len(session) or session.kind(len(session) - 1) != "navigate":
        return None
    last = len(session) - 1
    target = session.record(last).get("targetId")
    return session.entry_id(last), target if isinstance(target, str) else None


def subagent_heads(session: Session) -> list[int]:
    """First entries of branches that look like a sub-agent's: a fork's child that narrows tools
    or prompt (tau-format 2.4). A reading of the log, not a fact in it."""
    tree, flags = session.tree, session.columns.flags
    configs = np.flatnonzero(flags & Flag.CONFIG)
    at_forks = configs[np.isin(tree.parent[configs], np.array(tree.forks, np.int32))]
    heads = [at for at in at_forks.tolist() if _narrows(session.record(at))]
    return sorted({*heads, *_lane_heads(session)})


def _lane_heads(session: Session) -> list[int]:
    """The first entries of the branches that a log itself tells to be of sub-agents."""
    tree, flags = session.tree, session.columns.flags
    lanes = np.flatnonzero(flags & Flag.LANE)
    parents = tree.parent[lanes]
    first = (parents == NOWHERE) | ((flags[parents] & Flag.LANE) == 0)
    heads: list[int] = lanes[first].tolist()
    return heads


def _narrows(record: Record) -> bool:
    data = record.get("data")
    return isinstance(data, dict) and not data.keys().isdisjoint(("tools", "system_prompt_digest"))


def _on_path(session: Session, path: Int32s, entry_id: Any) -> int:
    if not isinstance(entry_id, str | int):
        return NOWHERE
    found = np.intersect1d(np.array(session.find(str(entry_id)), np.int32), path)
    return int(found[0]) if len(found) else NOWHERE


def _is_system(session: Session, places: Int32s) -> Bools:
    columns = session.columns
    messages = session.kinds.where(columns.kind[places], "message")
    return messages & session.roles.where(columns.role[places], "system")


def _rendered(record: Record) -> Record | None:
    message = record.get("message")
    match record.get("type"):
        case "message" | "customMessage" if isinstance(message, dict):
            # one provider of 0.9 wrote 0 for "unknown"; τ reads it so (tau-format 1.8)
            unknown = message.get("role") == "assistant" and message.get("timestamp") == 0
            return message | {"timestamp": None} if unknown else message
        case "compaction":
            return _summary("Compaction", record)
        case "branch_summary":
            return _summary("Branch", record)
    return None


def _summary(kind: str, record: Record) -> Record:
    text = f"[[{kind} summary: {record.get('summary', '')}]]"
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def settings_of(record: Record) -> Record:
    """What an entry sets of the configuration; {} for most."""
    data = record.get("data")
    match record.get("type"), record.get("customType"):
        case "model_change", _:
            return {key: record[key] for key in ("model", "backend") if key in record}
        case "thinking_change", _:
            return {"thinking": record.get("level")}
        case _, "agent_spec" if isinstance(data, dict):
            known = ("tools", "extensions", "cwd", "system_prompt_digest")
            settings = {key: data[key] for key in known if key in data}
            return settings | ({"model_spec": data["model"]} if "model" in data else {})
        case _, "config" if isinstance(data, dict):
            return {key: data[key] for key in _CONFIG_KEYS if key in data}
    return {}
