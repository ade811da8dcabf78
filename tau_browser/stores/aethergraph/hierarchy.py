"""A session as a hierarchy: its runs, their nodes, and the events in them, with all their links.

run -> node -> event; a tool's result hangs under the call it answers. Beside its nodes, a run has
its spans (a tree of their own), log lines, artifacts and indices.
"""

from __future__ import annotations

from collections.abc import Iterator

from tau_browser.model.diagnostic import Severity
from tau_browser.model.signal import SAME, formula
from tau_browser.model.times import NO_TIME, format_time
from tau_browser.stores.aethergraph.beside import Beside
from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.groups import Group, Groups
from tau_browser.stores.aethergraph.links import Links
from tau_browser.stores.aethergraph.messages import event_line
from tau_browser.stores.aethergraph.nodes import Nodes
from tau_browser.stores.aethergraph.parts import Parts
from tau_browser.stores.aethergraph.records import Json, dict_in, stamp_in

_CUT = " ...[truncated]"  # how the fifteenth alpha ends a text that it cut
_CUT_JSON = b' ...[truncated]"'
_TITLE = 50  # characters of what was asked first, where a run has no title of its own
_USUAL_SEVERITY = 2


class Hierarchy:
    """The entries of one session. `lines()` is the session in τ's lines."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._nodes = Nodes()
        self._groups = Groups(parts, self._nodes)
        self._links = Links(parts, self._nodes)
        self._nodes.event_line = lambda event: event_line(event, self._links.told(event))
        self._add_events()
        self._links.note()
        self._groups.add_empty()
        beside = Beside(parts, self._nodes, self._groups)
        beside.add_log()
        beside.add_artifacts()
        beside.add_indices()
        for damage in parts.damage:
            self._nodes.damage(damage)

    def lines(self) -> Iterator[bytes]:
        """The header, then one line an entry."""
        parts = self._parts
        times = [event.time for event in parts.events if event.time != NO_TIME]
        asked = (event.text for event in parts.events if event.kind == "user_msg")
        began = format_time(min(times, default=NO_TIME)) or ""
        header: Json = {
            "type": "session",
            "version": 1,
            "id": parts.id,
            "timestamp": stamp_in(parts.about, "created_at") or began,
            "cwd": str(parts.root),
            "parent": None,
            "session_name": parts.title or f"{parts.id} {next(asked, '')[:_TITLE]}".strip(),
        }
        if parts.about:
            header["about"] = parts.about
        return self._nodes.lines(header)

    def _add_events(self) -> None:
        calls: dict[tuple[str | None, str | None], Event] = {}  # the open call of each node
        nodes, links, groups = self._nodes, self._links, self._groups
        for event in self._parts.events:
            kind, group = event.kind, self._group_of(event)
            event.entry = event.event_id or f"{event.file}:{event.line or event.row}"
            event.parent = group.node
            if event.node_id:
                place = event.run_id, event.node_id
                if kind == "tool_start":
                    calls[place] = event
                elif kind in ("tool_result", "error") and (call := calls.pop(place, None)):
                    event.parent = event.answers = call
            first = nodes.add(event, event.time)
            groups.count(group, event)
            links.add(event)
            if first is not None:
                self._note_collision(event, first)
            self._note_event(event)

    def _group_of(self, event: Event) -> Group:
        name = event.node_id or self._links.node_of_digest(event)
        return self._groups.node(event.run, name) if name else self._groups.run(event.run)

    def _note_collision(self, event: Event, first: object) -> None:
        if isinstance(first, Event) and first.timeline == event.timeline:
            reason = (
                f"the id {event.event_id} is that of another event, too: the program makes it of "
                "the second and the text, and cannot tell the two apart"
            )
            self._nodes.note(event, reason, event.spot)

    def _note_event(self, event: Event) -> None:
        if (stored := event.signal) is not None:
            severity = _USUAL_SEVERITY if event.severity is None else event.severity
            value = formula(severity, event.length, event.has_metrics)
            if not -SAME < stored - value < SAME:
                reason = f"stored signal {stored:.3g}, by the formula {value:.3g}"
                self._nodes.note(event, reason, event.spot)
        if bytes(event.said).endswith(_CUT_JSON):
            is_whole = bool(dict_in(event.value, "data"))
            rest = "its data are whole" if is_whole else "the rest is lost"
            cut = f"its text was cut at {event.length - len(_CUT):,} characters: {rest}"
            severity_of = Severity.NOTE if is_whole else Severity.DAMAGE
            self._nodes.note(event, cut, event.spot, severity_of)
