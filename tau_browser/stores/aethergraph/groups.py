"""The groups of a session: its runs, and the nodes of their graphs, with what they hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from tau_browser.model.text import counted
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.nodes import Node, Nodes, titled
from tau_browser.stores.aethergraph.parts import Parts
from tau_browser.stores.aethergraph.records import Json, Stored, dict_in, stamp_in, text_in

_FAILED = {"failed", "error", "FAILED", "ERROR"}
_UNFINISHED = {"running", "pending", "RUNNING", "WAITING"}
_numbers = msgspec.json.Decoder(dict[str, object]).decode


@dataclass(slots=True)
class Group:
    """A run, or a node of one, counted while it is filled. stamp: of its first event."""

    node: Node
    inner: list[Group] = field(default_factory=list)
    kinds: Counter[str | None] = field(default_factory=Counter)
    metrics: Counter[str] = field(default_factory=Counter)
    stamp: str = ""

    def told(self) -> Json:
        """The counts for a record; {} where there are none."""
        kinds, metrics = self._sums()
        events = {kind or "(no kind)": count for kind, count in kinds.items()}
        sums = {name: round(value, 6) for name, value in metrics.items()}
        return ({"events": events} if events else {}) | ({"sum of metrics": sums} if sums else {})

    def words(self) -> str:
        """How many events there are."""
        count = self._sums()[0].total()
        return counted(count, "event") if count else ""

    def _sums(self) -> tuple[Counter[str | None], Counter[str]]:
        kinds, metrics = self.kinds.copy(), self.metrics.copy()
        for group in self.inner:
            kinds.update(group.kinds)
            metrics.update(group.metrics)
        return kinds, metrics


class Groups:
    """The groups of one session, made as they are asked for."""

    def __init__(self, parts: Parts, nodes: Nodes) -> None:
        self._parts = parts
        self._nodes = nodes
        self._runs: dict[str, Group] = {}
        self._inner: dict[tuple[str, str], Group] = {}
        self._beside: dict[tuple[str, str], Node] = {}
        self._states = {run: _states(stored.value) for run, stored in parts.states.items()}
        self._changes: dict[tuple[str, str], list[Stored]] = {}
        for each in parts.changes:
            node = text_in(dict_in(each.value, "payload"), "node_id")
            self._changes.setdefault((text_in(each.value, "run_id"), node), []).append(each)

    def run(self, name: str) -> Group:
        """A run."""
        if (group := self._runs.get(name)) is None:
            group = self._runs[name] = self._new_run(name)
        return group

    def node(self, run: str, name: str) -> Group:
        """A node of a run."""
        if (group := self._inner.get((run, name))) is None:
            above = self.run(run)
            group = self._inner[run, name] = self._new_node(run, name, above.node)
            above.inner.append(group)
        return group

    def beside(self, run: str, what: str) -> Node:
        """What of one kind lies beside the nodes of a run, or is of no run ("")."""
        if (node := self._beside.get((run, what))) is None:
            above = self.run(run).node if run else None
            title = what if run else f"{what} of no run"
            node = Node(f"{what}:{run}", above, titled("group", title, {}, ""))
            self._beside[run, what] = node
        return node

    def count(self, group: Group, event: Event) -> None:
        """Take note of an event in a group."""
        group.kinds[event.kind] += 1
        if not group.stamp:
            group.stamp = event.stamp.decode()
        if event.has_metrics:
            for name, value in _metrics(event).items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    group.metrics[name] += value  # type: ignore[assignment]

    def add_empty(self) -> None:
        """Runs and nodes that have no event: each is an entry all the same."""
        parts = self._parts
        for run in dict.fromkeys([*parts.runs, *parts.states]):
            record = parts.runs[run].value if run in parts.runs else {}
            group = self.run(run)
            self._nodes.add(group.node, _first_time(record, "started_at", "created_at"))
            if text_in(record, "status") in _UNFINISHED:
                self._nodes.note(group.node, "the run has not finished", parts.runs[run].spot)
            for name, state in self._states.get(run, {}).items():
                self._nodes.add(self.node(run, name).node, _first_time(state, "started_at"))

    def _new_run(self, run: str) -> Group:
        parts = self._parts
        record, result, state = (of.get(run) for of in (parts.runs, parts.results, parts.states))
        about = dict(record.value) if record else {}
        status = text_in(about, "status")
        data: Json = {"run_id": run, **about}
        if result is not None:
            data["outputs"] = result.value.get("outputs")
        if state is not None:
            data["graph"] = _graph(state.value)
        words = [run or "no run", text_in(about, "graph_id"), status, _duration(about)]
        spot = record.spot if record else state.spot if state else None

        def line(name: bytes, parent: bytes) -> bytes:
            title = " · ".join(word for word in (*words, group.words()) if word)
            more = {"is_error": True} if status in _FAILED else {}
            stamp = stamp_in(about, "started_at", "created_at") or group.stamp
            if not stamp and group.inner:
                stamp = group.inner[0].stamp
            return titled("run", title, data | group.told(), stamp, spot, **more)(name, parent)

        group = Group(Node(f"run:{run}", None, line))
        return group

    def _new_node(self, run: str, name: str, above: Node) -> Group:
        state = self._states.get(run, {}).get(name, {})
        status = text_in(state, "status")
        history = [_change(each) for each in self._changes.get((run, name), ())]
        stored = self._parts.states.get(run)
        spot = stored.spot if stored and state else None

        def line(entry: bytes, parent: bytes) -> bytes:
            title = " · ".join(word for word in (name, status, group.words()) if word)
            data: Json = {"node_id": name, **state, **group.told()}
            if history:
                data["history"] = history
            more = {"is_error": True} if status in _FAILED else {}
            began = stamp_in(state, "started_at") or (history[0]["time"] if history else "")
            stamp = began or group.stamp
            return titled("node", title, data, stamp, spot, **more)(entry, parent)

        group = Group(Node(f"node:{run}:{name}", above, line))
        return group


def _change(stored: Stored) -> Json:
    """A change of a node's state, as its group tells it."""
    value = stored.value
    payload = dict_in(value, "payload")
    return {
        "time": stamp_in(value, "ts"),
        "kind": text_in(value, "event_kind") or text_in(value, "kind"),
        **{name: each for name, each in payload.items() if name != "node_id"},
    }


def _metrics(event: Event) -> dict[str, object]:
    try:
        return _numbers(event.metrics)
    except (msgspec.DecodeError, RecursionError):
        return {}


def _graph(state: Json) -> Json:
    """What a snapshot tells of the graph itself."""
    inner = dict_in(state, "state")
    told = {name: state[name] for name in ("graph_id", "rev", "spec_hash") if name in state}
    edges = inner.get("edges", state.get("edges"))
    return told | ({"edges": edges} if edges else {})


def _states(state: Json) -> dict[str, Json]:
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
