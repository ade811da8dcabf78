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
from tau_browser.stores.aethergraph.nodes import Nodes
from tau_browser.stores.aethergraph.parts import Parts
from tau_browser.stores.aethergraph.records import Json, dict_in, list_in, text_in

DIGESTS = ("rolling_summary", "run_summary", "long_term_summary", "long_term_summary_hydrate")
_NONE: Json = {}
_ANSWER = "rag.answer."
_CITED = re.compile(r"\[(\d{1,4})\]")


class Links:
    """The links of one session's events."""

    def __init__(self, parts: Parts, nodes: Nodes) -> None:
        self._events = parts.events
        self._nodes = nodes
        self._promotions = parts.promotions
        self._files = parts.files
        self._sources: dict[str, list[str]] = {}  # by the entry of a digest
        self._used_by: dict[str, list[str]] = defaultdict(list)  # digests, by the entry they use
        self._tool_nodes: dict[tuple[str, str], str] = {}  # the node in which a tool ran
        self._digests = {_digest_key(each.value): each for each in parts.summaries}
        self._read: set[tuple[str, str, str]] = set()
        self._special: list[Event] = []  # the events that lead somewhere
        self._linked: set[str] = set()  # the entries that lead somewhere, or are led to
        self._promotes = self._promotions.are_any

    def add(self, event: Event) -> None:
        """Take an event."""
        if (tool := event.tool) and event.node_id:
            self._tool_nodes[event.run, tool] = event.node_id
        if event.kind in DIGESTS or event.has_sources:
            self._sources[event.entry] = self._sources_of(event)
            self._special.append(event)
        elif tool and tool.startswith(_ANSWER):
            self._special.append(event)

    def node_of_digest(self, event: Event) -> str:
        """The node under which the digest of a tool's run belongs; "" for all other events."""
        if event.kind != "run_summary" or not event.tool:
            return ""
        return self._tool_nodes.get((event.run, event.tool), "")

    def note(self) -> None:
        """Work out the links, once all events are there, and note what is wrong with them."""
        for event in self._special:
            if (sources := self._sources.get(event.entry)) is not None:
                self._note_sources(event, sources)
            if (event.tool or "").startswith(_ANSWER):
                for reason in citation_faults(event.value):
                    self._nodes.note(event, reason, event.spot, Severity.DAMAGE)
        self._linked = {event.entry for event in self._special} | self._used_by.keys()
        for key, stored in self._digests.items():
            if key not in self._read:
                reason = "a digest whose event is missing"
                self._nodes.note(None, reason, stored.spot, Severity.DAMAGE)

    def sources(self, event: Event) -> list[str]:
        """The ids of what a digest was made of; [] for other events."""
        return self._sources.get(event.entry, [])

    def told(self, event: Event) -> Json:
        """The links of an event, as its record tells them; {} for most."""
        name = event.entry
        if name not in self._linked and not self._promotes and b'"file:' not in event.raw:
            return _NONE
        told: Json = {}
        if name in self._sources:
            sources = self._sources[name]
            missing = [source for source in sources if not self._named(source)]
            told["sources"] = {
                "found": f"{len(sources) - len(missing)} of {len(sources)}",
                "entries": [used.entry for source in sources for used in self._named(source)],
                "missing": missing,
            }
        if name in self._used_by:
            told["used by"] = self._used_by[name]
        if promoted := self._promotions.of(event):
            told["promoted to"] = [each._asdict() for each in promoted]
        if event.tool and event.tool.startswith(_ANSWER):
            told["citations"] = citations(event.value)
        if b'"file:' in event.raw and (files := self._files_of(event.value)):
            told["files"] = files
        return told

    def _named(self, event_id: str) -> list[Event]:
        """The events of an id."""
        return [node for node in self._nodes.named(event_id) if isinstance(node, Event)]

    def _sources_of(self, event: Event) -> list[str]:
        value = event.value
        data = dict_in(value, "data")
        told = [
            *list_in(value, "sources"),
            *list_in(data, "source_event_ids"),
            *list_in(dict_in(data, "summary"), "source_event_ids"),
        ]
        if not told and (digest := self._digests.get(_digest_key(value))):
            self._read.add(_digest_key(value))
            told = list_in(digest.value, "sources")
        return [source for source in told if isinstance(source, str)]

    def _note_sources(self, event: Event, sources: list[str]) -> None:
        used = {source: self._named(source) for source in dict.fromkeys(sources)}
        for source in (each for found in used.values() for each in found):
            self._used_by[source.entry].append(event.entry)
        if missing := [source for source in sources if not used[source]]:
            reason = f"{len(missing)} of {len(sources)} sources are not in this session"
            said = f"{reason}: {', '.join(missing[:3])}"
            self._nodes.note(event, said, event.spot, Severity.DAMAGE)
        if event.kind not in DIGESTS:
            return
        if not sources:
            self._nodes.note(event, "a digest that does not tell its sources", event.spot)
        digests = sum(each.kind in DIGESTS for found in used.values() for each in found)
        if digests and event.kind != "long_term_summary_hydrate":
            reason = f"{digests} of its {len(sources)} sources are digests themselves"
            self._nodes.note(event, reason, event.spot)
        window = dict_in(dict_in(event.value, "data"), "time_window")
        start, stop = parse_time(window.get("from")), parse_time(window.get("to"))
        if NO_TIME not in (start, stop) and start > stop:
            reason = "its window runs backwards: it was made of the newest events first"
            self._nodes.note(event, reason, event.spot)

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


def _digest_key(value: Json) -> tuple[str, str, str]:
    """What a digest and its event have in common: run and time, or run and tool."""
    is_episode = text_in(value, "kind") in ("episode_summary", "run_summary")
    if is_episode:
        return "episode", text_in(value, "run_id"), text_in(value, "tool")
    return "rolling", text_in(value, "run_id"), text_in(value, "ts")
