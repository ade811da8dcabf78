"""Events of the memory: the few fields that place one in the tree, and its JSON as it is stored.

The two versions of the program differ in what they write; `Event` holds what either does. The
JSON itself goes into the session untouched, so that nothing an event says is lost on the way. A
workspace may hold hundreds of thousands: an event is one object, which no collector looks at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from tau_browser.model.heads import decode_record
from tau_browser.model.times import NO_TIME, format_time, parse_time
from tau_browser.stores.aethergraph.lines import file_lines, lines_as
from tau_browser.stores.aethergraph.records import Damage, Json, Spot

TABLE = "events"
_NOTHING = (b"null", b"{}", b"[]")
_NULL = msgspec.Raw(b"null")
_PLAIN = b'"'
_LARGEST = 10**12


class Event(msgspec.Struct, gc=False):
    """One event. Below the line: what its JSON does not tell.

    raw: the JSON · file, line, byte or row: where it is stored · timeline: in which it was
    recorded, "" in the first version · entry, name, parent, place: as in `nodes.Node` ·
    answers: the call whose result it is · time: milliseconds since 1970, or NO_TIME, and `stamp`
    the same in τ's spelling, or b"".
    """

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
    timeline_id: str | None = None
    said: msgspec.Raw = msgspec.field(default=_NULL, name="text")
    metrics: msgspec.Raw = _NULL
    sources: msgspec.Raw = _NULL
    inputs: msgspec.Raw = _NULL
    # ---
    raw: bytes = msgspec.field(default=b"", name="(raw)")
    file: str = msgspec.field(default="", name="(file)")
    line: int = msgspec.field(default=0, name="(line)")
    byte: int = msgspec.field(default=0, name="(byte)")
    row: int = msgspec.field(default=0, name="(row)")
    timeline: str = msgspec.field(default="", name="(timeline)")
    entry: str = msgspec.field(default="", name="(entry)")
    name: bytes = msgspec.field(default=b"", name="(name)")
    parent: Any = msgspec.field(default=None, name="(parent)")
    answers: Any = msgspec.field(default=None, name="(answers)")
    place: int = msgspec.field(default=0, name="(place)")
    time: int = msgspec.field(default=NO_TIME, name="(time)")
    stamp: bytes = msgspec.field(default=b"", name="(stamp)")

    @property
    def run(self) -> str:
        return self.run_id or ""

    @property
    def node(self) -> str:
        return self.node_id or ""

    @property
    def text(self) -> str:
        """What it says."""
        try:
            found = msgspec.json.decode(self.said)
        except msgspec.DecodeError:  # half a surrogate pair, mostly
            found = json.loads(bytes(self.said))
        return found if isinstance(found, str) else ""

    @property
    def length(self) -> int:
        """How many characters it says."""
        said = bytes(self.said)
        if said.isascii() and b"\\" not in said:
            return max(0, len(said) - 2) if said.startswith(_PLAIN) else 0
        return len(self.text)

    @property
    def has_metrics(self) -> bool:
        return bytes(self.metrics) not in _NOTHING

    @property
    def has_sources(self) -> bool:
        return bytes(self.sources) not in _NOTHING

    @property
    def spot(self) -> Spot:
        """Where it is stored."""
        if self.row:
            return Spot(self.file, table=TABLE, row=self.row)
        return Spot(self.file, self.line, self.byte)

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
        return _placed(_decode(line), line, spot, timeline)

    def odd(value: Json, spot: Spot) -> Event:
        return odd_event(value, spot, timeline)

    for file in files:
        found = _sound_file(root, file, timeline)
        if found is None:
            found, harm = lines_as(root, file, event, odd)
            damage += harm
        events += found
    return events, damage


def events_in_rows(
    file: str, rows: Iterable[tuple[int, bytes, bytes | None]]
) -> tuple[list[Event], list[Spot]]:
    """The events of rows (number, JSON, timeline) of a table, and those that hold none."""
    events: list[Event] = []
    torn: list[Spot] = []
    timelines: dict[bytes | None, str] = {None: ""}
    for number, raw, timeline in rows:
        if (name := timelines.get(timeline)) is None and timeline is not None:
            name = timelines[timeline] = timeline.decode("utf-8", "replace")
        try:
            event = _decode(raw)
        except (msgspec.DecodeError, RecursionError, TypeError):
            spot = Spot(file, table=TABLE, row=number)
            if isinstance(raw, bytes) and (value := decode_record(raw)):
                events.append(odd_event(value, spot, name or ""))
            else:
                torn.append(spot)
            continue
        event.raw, event.file, event.row = raw, file, number
        event.timeline = name or event.timeline_id or ""
        event.time, event.stamp = _time_of(event.ts)
        events.append(event)
    return events, torn


def odd_event(value: Json, spot: Spot, timeline: str = "") -> Event:
    """An event whose fields are not all of the kind that they should be."""
    kinds = {"severity": int, "signal": int | float, "ts": str | int | float}
    event = Event()
    for name in _NAMES:
        found = value.get(name)
        if name in ("metrics", "sources", "inputs"):
            setattr(event, name, msgspec.Raw(spelled(found)))
        elif isinstance(found, kinds.get(name, str)) and not _is_odd(found):
            setattr(event, name, found)
    if isinstance(value.get("text"), str):
        event.said = msgspec.Raw(spelled(value["text"]))
    return _placed(event, spelled(value), spot, timeline)


def spelled(value: Any) -> bytes:
    """A value as JSON, with what only our own readers take (NaN, lone surrogates)."""
    return json.dumps(value).encode("ascii")


def _sound_file(root: Path, file: str, timeline: str) -> list[Event] | None:
    """The events of a file that holds one on each line and nothing else, at once; or None."""
    data = file_lines(root, file)
    if data is None or not data.endswith(b"\n"):
        return None
    lines = data.split(b"\n")
    lines.pop()
    try:
        events = _decode_lines(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    if len(events) != len(lines):
        return None
    byte = 0
    for number, (event, line) in enumerate(zip(events, lines, strict=True), 1):
        event.raw, event.file, event.line, event.byte = line, file, number, byte
        event.timeline = timeline or event.timeline_id or ""
        event.time, event.stamp = _time_of(event.ts)
        if line[-1:] != b"}" or line[:1] != b"{":  # two on one line and none on another
            return None
        byte += len(line) + 1
    return events


def _placed(event: Event, raw: bytes, spot: Spot, timeline: str) -> Event:
    event.raw, event.file, event.line, event.byte, event.row = (
        raw,
        spot.file,
        spot.line,
        spot.byte,
        spot.row,
    )
    event.timeline = timeline or event.timeline_id or ""
    event.time, event.stamp = _time_of(event.ts)
    return event


def _is_odd(found: object) -> bool:
    """Whether what should be a number is none that can be reckoned with."""
    return isinstance(found, bool) or (isinstance(found, int) and abs(found) > _LARGEST)


@lru_cache(maxsize=64)  # events bear whole seconds: neighbours often share one
def _time_of(ts: str | float | None) -> tuple[int, bytes]:
    """A time in milliseconds, or NO_TIME, and in τ's spelling, or b""."""
    if type(ts) is str and len(ts) == 20 and ts[10] == "T" and ts[13] == ":" and ts[19] == "Z":
        try:  # as the program spells it: nearly all
            return int(datetime.fromisoformat(ts).timestamp()) * 1000, f"{ts[:19]}.000Z".encode()
        except ValueError:
            pass
    time = parse_time(ts)
    return time, (format_time(time) or "").encode()


_NAMES = [name for name in Event.__struct_encode_fields__ if name[0] != "(" and name != "text"]
_decoder = msgspec.json.Decoder(Event)
_decode, _decode_lines = _decoder.decode, _decoder.decode_lines
