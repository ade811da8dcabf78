"""Events of the memory: the few fields that place one in the tree, and its JSON as it is stored.

The two versions of the program differ in what they write; `Event` holds what either does. The
JSON itself goes into the session untouched, so that nothing an event says is lost on the way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from tau_browser.model.heads import decode_record
from tau_browser.model.times import format_time, parse_time
from tau_browser.stores.aethergraph.lines import lines_as
from tau_browser.stores.aethergraph.records import Damage, Json, Spot

_NOTHING = (b"null", b"{}", b"[]")
_NULL = msgspec.Raw(b"null")


class Head(msgspec.Struct, gc=False):
    """The fields of an event that the tree needs."""

    event_id: str | None = None
    ts: str | float | None = None
    run_id: str | None = None
    session_id: str | None = None
    node_id: str | None = None
    tool: str | None = None
    kind: str | None = None
    stage: str | None = None
    severity: int | None = None
    signal: float | None = None
    text: str | None = None
    timeline_id: str | None = None
    metrics: msgspec.Raw = _NULL
    sources: msgspec.Raw = _NULL


class Event:
    """One event. time: milliseconds since 1970, or NO_TIME · raw: its JSON as stored ·
    timeline: in which it was recorded ("" in the first version, which has none)."""

    __slots__ = ("head", "raw", "spot", "stamp", "time", "timeline")

    def __init__(self, head: Head, raw: bytes, spot: Spot, timeline: str = "") -> None:
        self.head = head
        self.raw = raw
        self.spot = spot
        self.timeline = timeline or head.timeline_id or ""
        self.time, self.stamp = _time_of(head.ts)

    @property
    def id(self) -> str:
        return self.head.event_id or ""

    @property
    def run(self) -> str:
        return self.head.run_id or ""

    @property
    def node(self) -> str:
        return self.head.node_id or ""

    @property
    def kind(self) -> str:
        return self.head.kind or ""

    @property
    def text(self) -> str:
        return self.head.text or ""

    @property
    def has_metrics(self) -> bool:
        return bytes(self.head.metrics) not in _NOTHING

    @property
    def has_sources(self) -> bool:
        return bytes(self.head.sources) not in _NOTHING

    @property
    def value(self) -> Json:
        """All of it, decoded."""
        return decode_record(self.raw)


def read_events(
    root: Path, files: Iterable[str], timeline: str = ""
) -> tuple[list[Event], list[Damage]]:
    """The events in files of lines, in the order of the files, and what could not be read."""
    events: list[Event] = []
    damage: list[Damage] = []

    def event(line: bytes, spot: Spot) -> Event:
        return Event(_decode(line), line, spot, timeline)

    for file in files:
        found, odd = lines_as(
            root, file, event, lambda value, spot: odd_event(value, spot, timeline)
        )
        events += found
        damage += odd
    return events, damage


def event_in(raw: str | bytes, spot: Spot, timeline: str = "") -> Event:
    """An event from the JSON of an object. Raises DecodeError where it is not one."""
    data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    try:
        return Event(_decode(data), data, spot, timeline)
    except (msgspec.DecodeError, RecursionError):
        if not (value := decode_record(data)):
            raise
        return odd_event(value, spot, timeline)


def odd_event(value: Json, spot: Spot, timeline: str = "") -> Event:
    """An event whose fields are not all of the kind that they should be."""
    kinds = {"severity": int, "signal": int | float, "ts": str | int | float}
    head = Head()
    for name in Head.__struct_fields__:
        found = value.get(name)
        if name in ("metrics", "sources"):
            setattr(head, name, msgspec.Raw(spelled(found)))
        elif isinstance(found, kinds.get(name, str)) and not isinstance(found, bool):
            setattr(head, name, found)
    return Event(head, spelled(value), spot, timeline)


def spelled(value: Any) -> bytes:
    """A value as JSON, with what only our own readers take (NaN, lone surrogates)."""
    return json.dumps(value).encode("ascii")


@lru_cache(maxsize=1 << 16)  # events bear whole seconds: many share one
def _time_of(ts: str | float | None) -> tuple[int, str]:
    """A time in milliseconds, or NO_TIME, and in τ's spelling, or ""."""
    time = parse_time(ts)
    return time, format_time(time) or ""


_decode = msgspec.json.Decoder(Head).decode
