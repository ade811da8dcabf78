"""What leads from one entry to others: digests and what they are made of, citations, references.

Sources are looked up among the events of the same session, and every event of that id counts: the
program's ids collide.
"""

from __future__ import annotations

import re
from collections import defaultdict

from tau_browser.model.diagnostic import Severity
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.nodes import Node, Nodes
from tau_browser.stores.aethergraph.parts import Parts
from tau_browser.stores.aethergraph.records import Json, dict_in, list_in, text_in

_DIGESTS = ("rolling_summary", "run_summary", "long_term_summary", "long_term_summary_hydrate")
_ANSWER = "rag.answer."
_CITED = re.compile(r"\[(\d{1,4})\]")


class Links:
    """The links of one session's events."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._promotions = parts.promotions
        self._files = parts.files
        self._events: list[tuple[Event, Node]] = []
        self._by_id: dict[str, list[Node]] = defaultdict(list)
        self._sources: dict[int, list[str]] = {}  # by the identity of an event
        self._used_by: dict[int, list[Node]] = defaultdict(list)  # by that of a node
        self._node_of: dict[int, Node] = {}
        self._tool_nodes: dict[tuple[str, str], str] = {}  # the node in which a tool ran
        self._digests = {_digest_key(each.value): each for each in parts.summaries}
        self._read: set[tuple[str, str, str]] = set()

    def add(self, event: Event, node: Node) -> None:
        """Take an event."""
        self._events.append((event, node))
        self._by_id[event.id].append(node)
        self._node_of[id(event)] = node
        if event.head.tool and event.node:
            self._tool_nodes[event.run, event.head.tool] = event.node
        if event.has_sources or event.kind in _DIGESTS:
            self._sources[id(event)] = self._sources_of(event)

    def node_of_digest(self, event: Event) -> str:
        """The node under which the digest of a tool's run belongs; "" for all other events."""
        if event.kind != "run_summary" or not event.head.tool:
            return ""
        return self._tool_nodes.get((event.run, event.head.tool), "")

    def note(self, nodes: Nodes) -> None:
        """Work out the links, once all events are there, and note what is wrong with them."""
        for event, node in self._events:
            sources = self._sources.get(id(event))
            if sources is not None:
                self._note_sources(nodes, event, node, sources)
            if (event.head.tool or "").startswith(_ANSWER):
                for reason in citation_faults(event.value):
                    nodes.note(node, reason, event.spot, Severity.DAMAGE)
        for key, stored in self._digests.items():
            if key not in self._read:
                nodes.note(None, "a digest whose event is missing", stored.spot, Severity.DAMAGE)

    def told(self, event: Event) -> Json:
        """The links of an event, as its record tells them; {} for most."""
        told: Json = {}
        if (sources := self._sources.get(id(event))) is not None:
            found = [source for source in sources if source in self._by_id]
            told["sources"] = {
                "found": f"{len(found)} of {len(sources)}",
                "entries": [node.id for source in found for node in self._by_id[source]],
                "missing": [source for source in sources if source not in self._by_id],
            }
        if used := self._used_by.get(id(self._node_of[id(event)])):
            told["used by"] = [node.id for node in used]
        if promoted := self._promotions.of(event):
            told["promoted to"] = [each._asdict() for each in promoted]
        if (event.head.tool or "").startswith(_ANSWER):
            told["citations"] = citations(event.value)
        if b'"file:' in event.raw and (files := self._files_of(event.value)):
            told["files"] = files
        return told

    def nodes_of(self, event_id: str) -> list[Node]:
        """The entries of an event's id."""
        return self._by_id.get(event_id, [])

    @property
    def events(self) -> list[tuple[Event, Node]]:
        """All events and their entries."""
        return self._events

    def _sources_of(self, event: Event) -> list[str]:
        value = event.value
        data = dict_in(value, "data")
        told = [
            *list_in(value, "sources"),
            *list_in(data, "source_event_ids"),
            *list_in(dict_in(data, "summary"), "source_event_ids"),
        ]
        if not told and (digest := self._digests.get(_digest_key(value, event))):
            self._read.add(_digest_key(value, event))
            told = list_in(digest.value, "sources")
        return [source for source in told if isinstance(source, str)]

    def _note_sources(self, nodes: Nodes, event: Event, node: Node, sources: list[str]) -> None:
        missing = [source for source in sources if source not in self._by_id]
        for source in dict.fromkeys(sources):
            for used in self._by_id.get(source, ()):
                self._used_by[id(used)].append(node)
        if missing:
            reason = f"{len(missing)} of {len(sources)} sources are not in this session"
            nodes.note(node, f"{reason}: {', '.join(missing[:3])}", event.spot, Severity.DAMAGE)
        if event.kind not in _DIGESTS:
            return
        if not sources:
            nodes.note(node, "a digest that does not tell its sources", event.spot)
        digests = [each for each in self._events_of(sources) if each.kind in _DIGESTS]
        if digests and event.kind != "long_term_summary_hydrate":
            reason = f"{len(digests)} of its {len(sources)} sources are digests themselves"
            nodes.note(node, reason, event.spot)
        window = dict_in(dict_in(event.value, "data"), "time_window")
        start, stop = parse_time(window.get("from")), parse_time(window.get("to"))
        if NO_TIME not in (start, stop) and start > stop:
            reason = "its window runs backwards: it was made of the newest events first"
            nodes.note(node, reason, event.spot)

    def _events_of(self, sources: list[str]) -> list[Event]:
        wanted = set(sources)
        return [event for event, _ in self._events if event.id in wanted]

    def _files_of(self, value: Json) -> list[Json]:
        """The files that an event's outputs and data lead to, each with what became of it."""
        found: dict[str, Json] = {}
        stack: list[object] = [value.get("inputs"), value.get("outputs"), value.get("data")]
        while stack:
            item = stack.pop()
            if isinstance(item, dict):
                stack += item.values()
            elif isinstance(item, list):
                stack += item
            elif (
                isinstance(item, str)
                and item.startswith("file:")
                and (check := self._files.check_uri(item))
            ):
                found[item] = {"file": check.file, "verdict": check.verdict}
        return [*found.values()]


def citations(answer: Json) -> list[Json]:
    """What a stored answer cites, each with whether its text uses it: [{n, used, title, …}]."""
    used = _used(answer)
    return [
        {
            "n": number,
            "used": number in used,
            **{name: cited[name] for name in ("title", "doc_id", "chunk_id") if name in cited},
        }
        for number, cited in sorted(_given(answer).items())
    ]


def citation_faults(answer: Json) -> list[str]:
    """What is wrong with the citations of a stored answer: nothing else checks them."""
    given, used = _given(answer), _used(answer)
    lacking = sorted(used - given.keys())
    faults = [f"its text cites [{number}], which is not among its citations" for number in lacking]
    if given and not used:
        faults.append(f"its text uses none of its {len(given)} citations")
    empty = [number for number, cited in given.items() if not text_in(cited, "snippet")]
    if empty:
        faults.append(f"citations without a text: {', '.join(map(str, sorted(empty)))}")
    return faults


def _used(answer: Json) -> set[int]:
    """The numbers that the text of an answer cites."""
    outputs = _outputs(answer)
    text = outputs.get("answer")
    return {int(number) for number in _CITED.findall(text)} if isinstance(text, str) else set()


def _given(answer: Json) -> dict[int, Json]:
    """The citations of an answer by their number."""
    found = {}
    for name, value in _outputs(answer).items():
        number = name.removeprefix("cite_")
        if name != number and number.isdigit() and isinstance(value, dict):
            rank = value.get("rank")
            found[rank if isinstance(rank, int) else int(number)] = value
    return found


def _outputs(answer: Json) -> Json:
    return {
        item["name"]: item.get("value")
        for item in list_in(answer, "outputs")
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    }


def _digest_key(value: Json, event: Event | None = None) -> tuple[str, str, str]:
    """What a digest and its event have in common: run and time, or run and tool."""
    is_episode = text_in(value, "kind") in ("episode_summary", "run_summary")
    if is_episode:
        return "episode", text_in(value, "run_id"), text_in(value, "tool")
    return "rolling", text_in(value, "run_id"), text_in(value, "ts")
