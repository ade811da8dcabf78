"""Entries on their way into a session: what each becomes, and what is found about it.

Entries are written in the order of time, groups just before what is first in them, so that what
is added to a store later comes later in its session, too, and nothing changes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.times import NO_TIME
from tau_browser.model.translation import findings_for_header
from tau_browser.stores.aethergraph.events import spelled
from tau_browser.stores.aethergraph.records import Damage, Json, Spot

Key = tuple[str, ...]
"""What names a group while a session is put together, outermost first."""


@dataclass(slots=True)
class Node:
    """An entry. id: unique in its session once `Nodes` has it · parent: the group or the node it
    hangs under, None: none · line: what is written of it, given its id and that of its parent, both
    as JSON."""

    id: str
    parent: Key | Node | None
    line: Callable[[bytes, bytes], bytes]


@dataclass(slots=True)
class Nodes:
    """The entries of a session, in the order in which they are written."""

    _due: list[tuple[int, Node]] = field(default_factory=list)
    _groups: dict[Key, Node] = field(default_factory=dict)
    _ids: dict[str, int] = field(default_factory=dict)
    _about: list[tuple[Node | None, Diagnostic]] = field(default_factory=list)
    _time: int = 0

    def add(self, node: Node, time: int) -> Node:
        """Take an entry; one without a time comes after what was taken before it."""
        self._time = self._time if time == NO_TIME else time
        if count := self._ids.get(node.id):
            self._ids[node.id] = count + 1
            node.id = f"{node.id}~{count + 1}"
        self._ids[node.id] = 1
        self._due.append((self._time, node))
        return node

    def group(self, key: Key, node: Node) -> None:
        """Take a group. It is written only if something is in it."""
        self._groups[key] = node

    def has_group(self, key: Key) -> bool:
        """Whether there is such a group."""
        return key in self._groups

    def group_of(self, key: Key) -> Node:
        """The entry of a group."""
        return self._groups[key]

    def use(self, key: Key, time: int) -> None:
        """Have a group written even if nothing is in it."""
        self._due.append((self._time if time == NO_TIME else time, self._groups[key]))

    def note(
        self,
        node: Node | None,
        reason: str,
        spot: Spot | str = "",
        severity: Severity = Severity.NOTE,
    ) -> None:
        """Take a finding, about an entry or about the whole."""
        self._about.append((node, Diagnostic(None, None, reason, severity, str(spot))))

    def damage(self, damage: Damage, parent: Key | None) -> None:
        """Take what could not be read: a finding, and an entry where there is a text to show."""
        node = None
        if damage.text and damage.severity is not Severity.PENDING:
            title = f"could not be read: {damage.reason}"
            data = {"text": damage.text}
            name = f"damaged:{damage.spot.file}:{damage.spot.line or damage.spot.row}"
            record = titled("damaged", title, data, "", damage.spot)
            node = self.add(Node(name, parent, record), NO_TIME)
        self.note(node, damage.reason, damage.spot, damage.severity)

    def lines(self, header: Json) -> Iterator[bytes]:
        """The header and all entries."""
        ordered = list(self._ordered())
        line_of = {id(node): at for at, node in enumerate(ordered, 2)}
        findings = [
            Diagnostic(
                line_of.get(id(node)) if node else None,
                None,
                finding.reason,
                finding.severity,
                finding.source,
            )
            for node, finding in self._about
        ]
        yield spelled(header | {"nested": True, "findings": findings_for_header(findings)}) + b"\n"
        ids: dict[int, bytes] = {}
        for node in ordered:
            ids[id(node)] = name = json_of(node.id)
            above = (
                node.parent
                if isinstance(node.parent, Node)
                else self._groups.get(node.parent or ())
            )
            yield node.line(name, ids[id(above)] if above is not None else b"null") + b"\n"

    def _ordered(self) -> Iterator[Node]:
        """All entries, each after the one it hangs under."""
        done: set[int] = set()
        for _, node in sorted(self._due, key=lambda due: due[0]):
            above: list[Node] = [node]
            while (over := self._over(above[-1])) is not None and id(over) not in done:
                above.append(over)
            for each in reversed(above):
                if id(each) not in done:
                    done.add(id(each))
                    yield each

    def _over(self, node: Node) -> Node | None:
        return node.parent if isinstance(node.parent, Node) else self._groups.get(node.parent or ())


def titled(
    kind: str, title: str, data: Json, stamp: str, spot: Spot | None = None, **more: Any
) -> Callable[[bytes, bytes], bytes]:
    """The line of an entry that has a title and data."""

    def line(name: bytes, parent: bytes) -> bytes:
        origin = {"store": "aethergraph", **(spot.told() if spot else {})}
        record = {"timestamp": stamp, "title": title, "data": data, "origin": origin, **more}
        rest = json_of(record)[1:]
        return (
            b'{"type":"aethergraph:%b","id":%b,"parentId":%b,"customType":"%b",'
            % (kind.encode(), name, parent, kind.encode())
        ) + rest

    return line


def json_of(value: Any) -> bytes:
    """A value as JSON."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return spelled(value)


_encode = msgspec.json.Encoder().encode
