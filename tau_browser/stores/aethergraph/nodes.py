"""Entries on their way into a session: where each stands, and what is found about it.

Entries are written in the order of time, groups just before what is first in them, so that what
is added to a store later comes later in its session, too, and nothing changes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec

from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.times import NO_TIME
from tau_browser.model.translation import findings_for_header
from tau_browser.stores.aethergraph.events import Event, spelled
from tau_browser.stores.aethergraph.records import Damage, Json, Spot

Line = Callable[[bytes, bytes], bytes]
"""What is written of an entry, given its id and that of what it hangs under, both as JSON."""


@dataclass(slots=True, eq=False)
class Node:
    """An entry that is no event. entry: its id, unique in its session once `Nodes` has it ·
    parent: what it hangs under · name: its id as JSON · place: its line in the session, from 1,
    once that is known."""

    entry: str
    parent: Node | Event | None
    line: Line
    name: bytes = b""
    place: int = 0


@dataclass(slots=True)
class Nodes:
    """The entries of a session. event_line: what is written of an event."""

    event_line: Callable[[Event], bytes] | None = None
    _nodes: list[Node | Event] = field(default_factory=list)
    _times: list[int] = field(default_factory=list)
    _first: dict[str, Node | Event] = field(default_factory=dict)  # by id
    _copies: dict[str, list[Node | Event]] = field(default_factory=dict)  # all but the first
    _about: list[tuple[Node | Event | None, Diagnostic]] = field(default_factory=list)
    _time: int = 0

    def add(self, node: Node | Event, time: int) -> Node | Event | None:
        """Take an entry; one without a time comes after what was taken before it.

        Returns the first entry of the same id, if there is one: then the new one is renamed.
        """
        if time != NO_TIME:
            self._time = time
        self._nodes.append(node)
        self._times.append(self._time)
        first = self._first.setdefault(node.entry, node)
        if first is node:
            return None
        copies = self._copies.setdefault(node.entry, [])
        copies.append(node)
        node.entry = f"{node.entry}~{len(copies) + 1}"
        self._first.setdefault(node.entry, node)
        return first

    def named(self, name: str) -> list[Node | Event]:
        """The entries that were taken under an id, in their order."""
        first = self._first.get(name)
        return [first, *self._copies.get(name, ())] if first is not None else []

    def note(
        self,
        node: Node | Event | None,
        reason: str,
        spot: Spot | str = "",
        severity: Severity = Severity.NOTE,
    ) -> None:
        """Take a finding, about an entry or about the whole."""
        self._about.append((node, Diagnostic(None, None, reason, severity, str(spot))))

    def damage(self, damage: Damage) -> None:
        """Take what could not be read: a finding, and an entry where there is a text to show."""
        node = None
        if damage.text and damage.severity is not Severity.PENDING:
            title = f"could not be read: {damage.reason}"
            name = f"damaged:{damage.spot.file}:{damage.spot.line or damage.spot.row}"
            node = Node(
                name, None, titled("damaged", title, {"text": damage.text}, "", damage.spot)
            )
            self.add(node, NO_TIME)
        self.note(node, damage.reason, damage.spot, damage.severity)

    def lines(self, header: Json) -> Iterator[bytes]:
        """The header and all entries."""
        ordered = self._ordered()
        findings = [
            Diagnostic(
                node.place if node is not None else None,
                None,
                finding.reason,
                finding.severity,
                finding.source,
            )
            for node, finding in self._about
        ]
        yield spelled(header | {"nested": True, "findings": findings_for_header(findings)}) + b"\n"
        event_line = self.event_line
        for node in ordered:
            node.name = json_of(node.entry)
            if type(node) is Event and event_line is not None:
                yield event_line(node)
            elif type(node) is Node:
                above = node.parent
                yield node.line(node.name, above.name if above is not None else b"null") + b"\n"

    def _ordered(self) -> list[Node | Event]:
        """All entries, each after the one it hangs under; they learn their places."""
        due, times = self._nodes, self._times
        if any(later < earlier for earlier, later in pairwise(times)):
            due = [due[at] for at in sorted(range(len(due)), key=times.__getitem__)]
        ordered: list[Node | Event] = []
        for node in due:
            if node.place:
                continue
            if (above := node.parent) is not None and not above.place:
                self._place_above(above, ordered)
            ordered.append(node)
            node.place = len(ordered) + 1  # after the header
        return ordered

    @staticmethod
    def _place_above(node: Node | Event, ordered: list[Node | Event]) -> None:
        """Take an entry that something hangs under, and what it hangs under itself."""
        above = [node]
        while (over := above[-1].parent) is not None and not over.place:
            above.append(over)
        for each in reversed(above):
            ordered.append(each)
            each.place = len(ordered) + 1


def titled(
    kind: str, title: str, data: Json, stamp: str, spot: Spot | None = None, **more: Any
) -> Line:
    """The line of an entry that has a title and data."""

    def line(name: bytes, parent: bytes) -> bytes:
        origin = {"store": "aethergraph", **(spot.told() if spot else {})}
        record = {"timestamp": stamp, "title": title, "data": data, "origin": origin, **more}
        kind_ = json_of(f"aethergraph:{kind}")
        return b'{"type":%b,"id":%b,"parentId":%b,"customType":%b,%b' % (
            kind_,
            name,
            parent,
            json_of(kind),
            json_of(record)[1:],
        )

    return line


def json_of(value: Any) -> bytes:
    """A value as JSON."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return spelled(value)


_encode = msgspec.json.Encoder().encode
