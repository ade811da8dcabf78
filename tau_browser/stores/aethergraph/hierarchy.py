"""A session as a hierarchy: its runs, their nodes, and the events in them, with all their links.

run -> node -> event; a tool's result hangs under the call it answers. Beside its nodes, a run has
its spans (a tree of their own), log lines, artifacts and indices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from tau_browser.model.diagnostic import Severity
from tau_browser.model.signal import signal_from
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.aethergraph.beside import add_artifacts, add_indices, add_log
from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.links import Links
from tau_browser.stores.aethergraph.nodes import Key, Node, Nodes, json_of, titled
from tau_browser.stores.aethergraph.parts import Parts
from tau_browser.stores.aethergraph.records import (
    Json,
    dict_in,
    list_in,
    stamp_in,
    text_in,
)

_CUT = " ...[truncated]"  # how the fifteenth alpha ends a text that it cut
_TITLE = 50  # characters of what was asked first, where a run has no title of its own
_USUAL_SEVERITY = 2
_FAILED = {"failed", "error", "FAILED", "ERROR"}
_UNFINISHED = {"running", "pending", "RUNNING", "WAITING"}
_number = msgspec.json.Decoder(dict[str, object]).decode


@dataclass(slots=True)
class _Tally:
    """What a group holds, counted while it is filled."""

    kinds: Counter[str] = field(default_factory=Counter)
    metrics: dict[str, float] = field(default_factory=dict)
    stamp: str = ""  # of the first event

    def count(self, event: Event) -> None:
        self.stamp = self.stamp or event.stamp
        self.kinds[event.kind or "(no kind)"] += 1
        if event.has_metrics:
            for name, value in _metrics(event).items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    self.metrics[name] = self.metrics.get(name, 0) + value

    @property
    def told(self) -> Json:
        """The counts for a record; {} where there are none."""
        sums = {name: round(value, 6) for name, value in self.metrics.items()}
        return {
            **({"events": dict(self.kinds)} if self.kinds else {}),
            **({"sum of metrics": sums} if sums else {}),
        }

    @property
    def words(self) -> str:
        """How many events there are."""
        count = self.kinds.total()
        return f"{count:,} event{'' if count == 1 else 's'}" if count else ""


class Hierarchy:
    """The entries of one session. `lines()` is the session in τ's lines."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._nodes = Nodes()
        self._tallies: dict[Key, _Tally] = {}
        self._calls: dict[tuple[str, str], Node] = {}  # the open call of each node of each run
        self._graph_nodes = {
            run: _graph_nodes(stored.value) for run, stored in parts.states.items()
        }
        self._links = Links(parts)
        self._events: list[tuple[Event, Node]] = []
        self._add_events()
        self._links.note(self._nodes)
        self._add_runs()
        add_log(self._nodes, parts.log, self._run_key)
        add_artifacts(self._nodes, parts, self._run_key)
        add_indices(self._nodes, parts, self._run_key, self._links)
        for damage in parts.damage:
            self._nodes.damage(damage, None)

    def lines(self) -> Iterator[bytes]:
        """The header, then one line an entry."""
        parts = self._parts
        stamps = [event.stamp for event, _ in self._events if event.stamp]
        asked = (event.text for event, _ in self._events if event.kind == "user_msg")
        title = parts.title or f"{parts.id} {next(asked, '')[:_TITLE]}".strip()
        header: Json = {
            "type": "session",
            "version": 1,
            "id": parts.id,
            "timestamp": stamp_in(parts.about, "created_at") or min(stamps, default=""),
            "cwd": str(parts.root),
            "parent": None,
            "session_name": title,
        }
        if parts.about:
            header["about"] = parts.about
        return self._nodes.lines(header)

    # Events

    def _add_events(self) -> None:
        seen: dict[tuple[str, str], Node] = {}
        for event in self._parts.events:
            node = self._nodes.add(self._event_node(event), event.time)
            self._events.append((event, node))
            self._links.add(event, node)
            self._note_event(event, node)
            if event.id:
                first = seen.setdefault((event.timeline, event.id), node)
                if first is not node:
                    reason = (
                        f"the id {event.id} is that of another event, too: the program makes it of "
                        "the second and the text, and cannot tell the two apart"
                    )
                    self._nodes.note(node, reason, event.spot)

    def _event_node(self, event: Event) -> Node:
        parent = self._parent_of(event)
        name = event.id or f"{event.spot.file}:{event.spot.line or event.spot.row}"
        answers: Node | None = None
        place = event.run, event.node
        if event.kind in ("tool_result", "error") and event.node:
            answers = self._calls.pop(place, None)
        node = Node(name, answers or parent, self._event_line(event, answers))
        if event.kind == "tool_start" and event.node:
            self._calls[place] = node
        return node

    def _parent_of(self, event: Event) -> Key:
        """The group of an event: its node, or its run. Made if need be."""
        key = self._run_key(event.run)
        self._tally(key).count(event)
        name = event.node or self._links.node_of_digest(event)
        if not name:
            return key
        below = (*key, name)
        if below not in self._tallies:
            self._nodes.group(below, self._node_group(event.run, name, key, below))
        self._tally(below).count(event)
        return below

    def _event_line(self, event: Event, answers: Node | None) -> Callable[[bytes, bytes], bytes]:
        links = self._links

        def line(name: bytes, parent: bytes) -> bytes:
            told = links.told(event)
            return b"".join(
                (
                    b'{"type":"message","id":',
                    name,
                    b',"parentId":',
                    parent,
                    b',"timestamp":"',
                    event.stamp.encode(),
                    b'",',
                    _message(event, name, parent if answers is not None else None),
                    b',"event":',
                    event.raw,
                    b',"origin":',
                    json_of({"store": "aethergraph", "id": event.id, **event.spot.told()}),
                    b',"links":' + json_of(told) if told else b"",
                    b"}",
                )
            )

        return line

    def _note_event(self, event: Event, node: Node) -> None:
        head, text = event.head, event.text
        if head.signal is not None:
            severity = _USUAL_SEVERITY if head.severity is None else head.severity
            signal = signal_from(
                severity, len(text), has_metrics=event.has_metrics, stored=head.signal
            )
            if not signal.agrees:
                reason = f"stored signal {head.signal:.3g}, by the formula {signal.formula:.3g}"
                self._nodes.note(node, reason, event.spot)
        if text.endswith(_CUT):
            is_whole = bool(dict_in(event.value, "data"))
            rest = "its data are whole" if is_whole else "the rest is lost"
            severity_of = Severity.NOTE if is_whole else Severity.DAMAGE
            reason = f"its text was cut at {len(text) - len(_CUT):,} characters: {rest}"
            self._nodes.note(node, reason, event.spot, severity_of)

    # Groups

    def _run_key(self, run: str) -> Key:
        """The group of a run; made if need be."""
        key = ("run", run)
        if key not in self._tallies:
            self._tallies[key] = _Tally()
            self._nodes.group(key, self._run_group(run, key))
        return key

    def _tally(self, key: Key) -> _Tally:
        return self._tallies.setdefault(key, _Tally())

    def _run_group(self, run: str, key: Key) -> Node:
        parts = self._parts
        record = parts.runs.get(run)
        result = parts.results.get(run)
        state = parts.states.get(run)
        about = dict(record.value) if record else {}
        status = text_in(about, "status")
        tally = self._tallies[key]
        data: Json = {"run_id": run, **about}
        if result is not None:
            data["outputs"] = result.value.get("outputs")
        if state is not None:
            data["graph"] = _graph(state.value)
        words = [run or "no run", text_in(about, "graph_id"), status, _duration(about)]
        spot = record.spot if record else state.spot if state else None

        def line(name: bytes, parent: bytes) -> bytes:
            title = " · ".join(word for word in (*words, tally.words) if word)
            more = {"is_error": True} if status in _FAILED else {}
            stamp = stamp_in(about, "started_at", "created_at") or tally.stamp
            return titled("run", title, data | tally.told, stamp, spot, **more)(name, parent)

        return Node(f"run:{run}", None, line)

    def _node_group(self, run: str, name: str, parent: Key, key: Key) -> Node:
        state = self._graph_nodes.get(run, {}).get(name, {})
        status = text_in(state, "status")
        history = self._changes_of(run, name)
        stored = self._parts.states.get(run)
        stamp = stamp_in(state, "started_at") or (history[0]["time"] if history else "")

        def line(entry: bytes, above: bytes) -> bytes:
            tally = self._tally(key)
            title = " · ".join(word for word in (name, status, tally.words) if word)
            data: Json = {"node_id": name, **state, **tally.told}
            if history:
                data["history"] = history
            more = {"is_error": True} if status in _FAILED else {}
            spot = stored.spot if stored and state else None
            began = stamp or tally.stamp
            return titled("node", title, data, began, spot, **more)(entry, above)

        return Node(f"node:{run}:{name}", parent, line)

    def _changes_of(self, run: str, name: str) -> list[Json]:
        """How the state of a graph's node changed."""
        return [
            {
                "time": stamp_in(each.value, "ts"),
                "kind": text_in(each.value, "event_kind") or text_in(each.value, "kind"),
                **{field: value for field, value in payload.items() if field != "node_id"},
            }
            for each in self._parts.changes
            if text_in(each.value, "run_id") == run
            and text_in(payload := dict_in(each.value, "payload"), "node_id") == name
        ]

    def _add_runs(self) -> None:
        """Runs and nodes that have no event: each is an entry all the same."""
        parts = self._parts
        for run in dict.fromkeys([*parts.runs, *parts.states]):
            key = self._run_key(run)
            record = parts.runs[run].value if run in parts.runs else {}
            self._use(key, _first_time(record, "started_at", "created_at"))
            if text_in(record, "status") in _UNFINISHED:
                group = self._nodes.group_of(key)
                self._nodes.note(group, "the run has not finished", parts.runs[run].spot)
            for name, state in self._graph_nodes.get(run, {}).items():
                below = (*key, name)
                if below not in self._tallies:
                    self._tally(below)
                    self._nodes.group(below, self._node_group(run, name, key, below))
                self._use(below, _first_time(state, "started_at"))

    def _use(self, key: Key, time: int) -> None:
        self._nodes.use(key, time)


def _message(event: Event, name: bytes, call: bytes | None) -> bytes:
    """The message of an event: who speaks, and what is said. call: the id of what it answers."""
    head = event.head
    kind, stage = event.kind, head.stage
    text = b'[{"type":"text","text":%b}]' % json_of(event.text)
    if kind == "user_msg" or (kind == "chat.turn" and stage == "user"):
        return b'"message":{"role":"user","content":%b}' % text
    if kind == "assistant_msg" or (kind == "chat.turn" and stage == "assistant"):
        return b'"message":{"role":"assistant","content":%b}' % text
    tool = json_of(head.tool or event.node or "tool")
    if kind == "tool_start":
        return (
            b'"message":{"role":"assistant","content":[{"type":"toolCall","id":%b,"name":%b,'
            b'"arguments":%b}]}' % (name, tool, _arguments(event))
        )
    if kind == "tool_result" or (kind == "error" and call is not None):
        failed = b',"is_error":true' if kind == "error" else b""
        answered = b',"tool_call_id":%b' % call if call is not None else b""
        return b'"message":{"role":"toolResult","tool_name":%b%b%b,"content":%b}' % (
            tool,
            answered,
            failed,
            text,
        )
    failed = b'"is_error":true,' if kind == "error" else b""
    return b'"customType":%b,"message":{"role":"custom",%b"content":%b}' % (
        json_of(kind or "event"),
        failed,
        text,
    )


def _arguments(event: Event) -> bytes:
    """The arguments of a call: its inputs by name, or else its text, which may be JSON."""
    value = event.value
    inputs = {
        item["name"]: item.get("value")
        for item in list_in(value, "inputs")
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    }
    if inputs:
        return json_of(inputs)
    try:
        said = _number(event.text)
    except (msgspec.DecodeError, RecursionError):
        return json_of({"text": event.text} if event.text else {})
    return json_of(said)


def _metrics(event: Event) -> dict[str, object]:
    try:
        return _number(event.head.metrics)
    except (msgspec.DecodeError, RecursionError):
        return {}


def _graph(state: Json) -> Json:
    """What a snapshot tells of the graph itself."""
    inner = dict_in(state, "state")
    told = {name: state[name] for name in ("graph_id", "rev", "spec_hash") if name in state}
    edges = inner.get("edges", state.get("edges"))
    return told | ({"edges": edges} if edges else {})


def _graph_nodes(state: Json) -> dict[str, Json]:
    """The states of a graph's own nodes; its inputs are no node."""
    nodes = dict_in(dict_in(state, "state"), "nodes")
    return {
        name: value
        for name, value in nodes.items()
        if isinstance(value, dict) and name != "__graph_inputs__"
    }


def _duration(about: Json) -> str:
    start, stop = parse_time(about.get("started_at")), parse_time(about.get("finished_at"))
    return "" if NO_TIME in (start, stop) else f"{(stop - start) / 1000:.3g} s"


def _first_time(value: Json, *names: str) -> int:
    times = (parse_time(value.get(name)) for name in names)
    return next((time for time in times if time != NO_TIME), NO_TIME)
