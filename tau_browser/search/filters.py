"""The filters of the query language: one row of a table each.

A new filter is a new row here, and a column or a field that it is asked of (`index.selection`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tau_browser.model.columns import KINDS, ROLES
from tau_browser.model.memory import MemoryType
from tau_browser.search.dates import SPELLINGS, read_time

Read = Callable[[str, datetime], str | int | None]
"""From a value as typed, and the present time, to what it stands for; None if it stands for
nothing. Milliseconds since 1970 where it is a time, hundredths where it is a signal."""

MEMORIES = tuple(type.value for type in MemoryType)
_BRANCHES = {
    "active": "path",
    "abandoned": "abandoned",
    "folded": "folded",
    "detached": "detached",
    "incomplete": "incomplete",
    "sub-agent": "sub-agent",
}


@dataclass(frozen=True, slots=True)
class FilterKind:
    """One filter. `values`: those there are, or () where any word may be one; `hint`: what a
    value may be; `joins`: whether several of its kind must all hold, and not just one of them."""

    name: str
    meaning: str
    read: Read
    values: tuple[str, ...] = ()
    hint: str = ""
    joins: bool = False


def _any_word(value: str, _: datetime) -> str:
    return value.casefold()


def _one_of(*names: str, **others: str) -> Read:
    known = {name.casefold(): name for name in names} | others
    return lambda value, _: known.get(value.casefold())


def _since(value: str, now: datetime) -> int | None:
    return read_time(value, now, end=False)


def _until(value: str, now: datetime) -> int | None:
    return read_time(value, now, end=True)


def _whole(value: str, _: datetime) -> int | None:
    return int(value) if re.fullmatch("[0-9]{1,2}", value, re.ASCII) else None


def _hundredths(value: str, _: datetime) -> int | None:
    return round(float(value) * 100) if re.fullmatch(r"0?\.[0-9]{1,6}|[01]", value) else None


FILTERS = {
    filter.name: filter
    for filter in (
        FilterKind("role", "who speaks", _one_of(*ROLES, tool="toolResult"), ROLES),
        FilterKind("kind", "kind of entry", _any_word, hint=", ".join(KINDS)),
        FilterKind(
            "tool", "tool called or answered, or its family", _any_word, hint="name of a tool"
        ),
        FilterKind("memory", "kind of memory it makes", _one_of(*MEMORIES), MEMORIES),
        FilterKind("store", "where the session lives", _any_word, hint="name of a store"),
        FilterKind("project", "part of the working directory's path", _any_word, hint="a path"),
        FilterKind("since", "not before", _since, hint=SPELLINGS, joins=True),
        FilterKind("until", "not after", _until, hint=SPELLINGS, joins=True),
        FilterKind("model", "part of the model's name", _any_word, hint="name of a model"),
        FilterKind("branch", "how it stands to the leaf", _one_of(**_BRANCHES), (*_BRANCHES,)),
        FilterKind("is", "what it is", _one_of("error", "recall"), ("error", "recall"), joins=True),
        FilterKind("event", "kind of event in its own memory", _any_word, hint="kind of an event"),
        FilterKind("stage", "stage of an event", _any_word, hint="name of a stage"),
        FilterKind("tag", "tag of an event", _any_word, hint="a tag", joins=True),
        FilterKind("metric", "a number that an event bears", _any_word, hint="name", joins=True),
        FilterKind("severity", "at least so severe", _whole, hint="a number: 5 for failures"),
        FilterKind("signal", "at least so much worth", _hundredths, hint="a number from 0 to 1"),
        FilterKind("has", "what it holds", _one_of("image"), ("image",), joins=True),
    )
}
"""By name. `until` is exclusive once read: the end of a day is the start of the next."""
