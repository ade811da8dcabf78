"""The filters of a query asked of an entry itself: for what a scan found, without an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from tau_browser.model.calls import ResultNames, is_nameless
from tau_browser.model.context import states
from tau_browser.model.families import is_called
from tau_browser.model.memory import memory_of_tool, stored_memory
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.times import NO_TIME
from tau_browser.model.tools import tools_of
from tau_browser.search.documents import Facts, document_of, is_error
from tau_browser.search.filters import FILTERS
from tau_browser.search.index.groups import models_of, own_model
from tau_browser.search.index.reader import Standing
from tau_browser.search.logs import FILES, Logs
from tau_browser.search.query import Filter, Query
from tau_browser.search.scan import Hit
from tau_browser.stores.store import StoreError

NO_GROUP = -1
"""The group of what stands in no index."""


class Unjudged(Exception):
    """What a filter asks of an entry cannot be told: its session was not read."""


class SessionFacts(Protocol):
    """What filters may ask of one session, and of an entry by where it stands in it. Raises
    Unjudged where that is not known."""

    @property
    def cwd(self) -> str:
        """The working directory; "" if it is not known."""
        ...

    def named(self, hit: Hit) -> Record:
        """The record of a tool's result that does not say which tool, with its name."""
        ...

    def state(self, hit: Hit) -> State:
        """How an entry stands to the leaf."""
        ...

    def model(self, hit: Hit) -> str:
        """The model that was set where an entry stands, or else the one that it names."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """An entry that filters are asked of, with what is known of its session."""

    hit: Hit
    facts: Facts
    store: str
    session: SessionFacts


_HOLDS: dict[str, Callable[[_Asked, str], bool]] = {
    "role": lambda asked, value: asked.facts.role == value.casefold(),
    "kind": lambda asked, value: asked.facts.kind == value,
    "tool": lambda asked, value: any(is_called(tool, value) for tool in asked.facts.tools),
    "is": lambda asked, value: value in asked.facts.traits,
    "has": lambda asked, value: value in asked.facts.traits,
    "memory": lambda asked, value: value in _memories(asked.hit.record),
    "store": lambda asked, value: asked.store == value,
    "project": lambda asked, value: value in asked.session.cwd.casefold(),
    "model": lambda asked, value: value in asked.session.model(asked.hit).casefold(),
    "branch": lambda asked, value: value == asked.session.state(asked.hit).word,
}


_HOLDS |= {
    name: lambda asked, value, name=name: f"{name}:{value}" in asked.facts.facets  # type: ignore[misc]
    for name in ("event", "stage", "tag", "metric")
}
_OF_SESSION = {"model", "branch"}
_OF_TOOLS = {"tool", "memory"}
_AT_LEAST: dict[str, Callable[[Facts], int]] = {
    "severity": lambda facts: facts.severity,
    "signal": lambda facts: facts.signal,
}


def _memories(record: Record) -> set[str]:
    """The types of memory that an entry makes, with all its tools."""
    if stored := stored_memory(record):
        return {stored.type}
    return {memory_of_tool(tool).type for tool in tools_of(record)}


class Filtering:
    """Asks the filters of one query. `facts_of`: what is known of a session, by its path; it is
    asked only for what a filter is about."""

    def __init__(self, query: Query, store: str, facts_of: Callable[[str], SessionFacts]) -> None:
        self._groups = query.filters_by_name()
        self._asks_of_tools = any(each.name in _OF_TOOLS for each in query.filters)
        self._store = store.casefold()
        self._facts_of = facts_of

    def passes(self, hit: Hit) -> bool:
        """Whether an entry passes all the filters. Raises Unjudged where it passes all but such as
        cannot be asked of it."""
        if not self._groups:
            return True
        session = self._facts_of(hit.path)
        if self._asks_of_tools and is_nameless(hit.record):
            hit = hit._replace(record=session.named(hit))
        facts = document_of(hit.record, is_error=is_error(hit.record)).facts
        asked = _Asked(hit, facts, self._store, session)
        groups = sorted(self._groups.items(), key=lambda it: it[0].removeprefix("-") in _OF_SESSION)
        return all(_passes(name, some, asked) for name, some in groups)


class ReadSessions:
    """What is known of the sessions of a store, each read when it is first asked for."""

    def __init__(self, logs: Logs = FILES) -> None:
        self._logs = logs
        self._sessions: dict[str, _Session] = {}

    def of(self, path: str) -> _Session:
        """One of them."""
        if path not in self._sessions:
            self._sessions[path] = _Session(path, self._logs)
        return self._sessions[path]

    def standing(self, hit: Hit) -> Standing:
        """Where an entry stands. Reads its session."""
        session = self.of(hit.path)
        state, model = session.state(hit), session.model(hit)
        place = hit.path, hit.start, hit.stop
        return Standing(*place, session.id, session.cwd, state, model, NO_GROUP)


class _Session:
    """What is known of one session, read when it is first asked for."""

    def __init__(self, path: str, logs: Logs) -> None:
        self._path = path
        self._logs = logs
        self._by_start: dict[int, tuple[State, str]] | None = None

    @cached_property
    def _header(self) -> dict[str, Any]:
        try:
            return self._logs.of(self._path).header()
        except (OSError, StoreError):
            return {}

    @property
    def cwd(self) -> str:
        """The working directory; "" if it is not known."""
        cwd = self._header.get("cwd")
        return cwd if isinstance(cwd, str) else ""

    @property
    def id(self) -> str:
        """The id of the session; "" if it is not known."""
        session_id = self._header.get("id")
        return session_id if isinstance(session_id, str) else ""

    def named(self, hit: Hit) -> Record:
        """The record of a tool's result that does not say which tool, with its name."""
        names = self._names
        if names is None:
            return hit.record
        starts = names.session.columns.start
        place = int(np.searchsorted(starts, hit.start))
        if place == len(starts) or starts[place] != hit.start:
            return hit.record
        return names.named(place, hit.record)

    @cached_property
    def _names(self) -> ResultNames | None:
        try:
            return ResultNames(self._logs.load(self._path))
        except (OSError, StoreError):
            return None

    def state(self, hit: Hit) -> State:
        """How an entry stands to the leaf."""
        return self._facts().get(hit.start, (State.DETACHED, ""))[0]

    def model(self, hit: Hit) -> str:
        """The model that was set where an entry stands, or else the one that it names."""
        return self._facts().get(hit.start, (State.DETACHED, ""))[1] or own_model(hit.record)

    def _facts(self) -> dict[int, tuple[State, str]]:
        if self._by_start is None:
            try:
                session = self._logs.load(self._path)
                starts = session.columns.start.tolist()
                self._by_start = dict(zip(starts, how_entries_stand(session), strict=True))
            except (OSError, StoreError):
                self._by_start = {}
        return self._by_start


def how_entries_stand(session: Session) -> list[tuple[State, str]]:
    """The state of each entry, and the model that was set where it stands, by place."""
    models, names = models_of(session)
    facts = zip(states(session, session.leaf).tolist(), models.tolist(), strict=True)
    return [(State(state), names[model]) for state, model in facts]


def _passes(name: str, conditions: list[Filter], asked: _Asked) -> bool:
    bare = name.removeprefix("-")
    held = [_holds(condition, asked) for condition in conditions]
    if name.startswith("-"):
        return not any(held)
    return all(held) if FILTERS[bare].joins else any(held)


def _holds(condition: Filter, asked: _Asked) -> bool:
    time, value = asked.facts.time, condition.value
    if isinstance(value, str):
        return _HOLDS[condition.name](asked, value)
    if condition.name in _AT_LEAST:
        return _AT_LEAST[condition.name](asked.facts) >= value
    if time == NO_TIME:
        return False
    return time >= value if condition.name == "since" else time < value
