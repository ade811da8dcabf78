"""What lies beside the events of a run: spans, log lines, meters, artifacts, indices."""

from __future__ import annotations

from typing import Any

from tau_browser.model.diagnostic import Severity
from tau_browser.model.text import counted
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.aethergraph.artifacts import hash_of
from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.groups import Groups
from tau_browser.stores.aethergraph.indices import KINDS
from tau_browser.stores.aethergraph.nodes import Node, Nodes, titled
from tau_browser.stores.aethergraph.parts import Parts, run_of_row
from tau_browser.stores.aethergraph.records import (
    Json,
    Stored,
    dict_in,
    list_in,
    stamp_in,
    text_in,
)

_SHOWN_TEXT = 4000  # characters of an artifact
_GROUPS = {
    "trace": "spans",
    "agent_event": "agent events",
    "inspect_log": "log lines",
    "llm_call": "calls of models",
}
_METERS = "meters"
_FAILED = {"error", "failed"}


class Beside:
    """What lies beside the events of one session."""

    def __init__(self, parts: Parts, nodes: Nodes, groups: Groups) -> None:
        self._parts = parts
        self._nodes = nodes
        self._groups = groups

    def add_log(self) -> None:
        """The rows of the event log, each under its run; those of one span are one entry."""
        spans: dict[str, list[Stored]] = {}
        for row in self._parts.log:
            payload = dict_in(row.value, "payload")
            if text_in(row.value, "kind") == "trace" and text_in(payload, "span_id"):
                spans.setdefault(text_in(payload, "span_id"), []).append(row)
            else:
                self._nodes.add(self._row_node(row), _time(row.value))
        made = {name: self._span_node(name, phases) for name, phases in spans.items()}
        for name, phases in spans.items():
            above = text_in(dict_in(phases[0].value, "payload"), "parent_span_id")
            if above in made and not _leads_to(spans, above, name):
                made[name].parent = made[above]
            elif above:
                reason = f"the span above it is missing: {above}"
                self._nodes.note(made[name], reason, phases[0].spot)
            self._nodes.add(made[name], _time(phases[0].value))

    def add_artifacts(self) -> None:
        """The artifacts of the runs, each checked by its hash, those pinned first."""
        files = self._parts.files
        ordered = sorted(self._parts.artifacts, key=lambda each: not each.value.get("pinned"))
        for stored in ordered:
            artifact = stored.value
            hash_ = hash_of(artifact)
            check = files.check(hash_)
            name = text_in(dict_in(artifact, "labels"), "filename") or text_in(artifact, "kind")
            size = artifact.get("bytes")
            words = [
                "pinned" if artifact.get("pinned") else "",
                name,
                text_in(artifact, "mime"),
                f"{size:,} B" if isinstance(size, int) else "",
                check.verdict,
            ]
            data = artifact | {"file": check.file, "verdict": check.verdict}
            if text := files.text(hash_, _SHOWN_TEXT):
                data["text"] = text
            title = " · ".join(word for word in words if word)
            line = titled("artifact", title, data, stamp_in(artifact, "created_at"), stored.spot)
            group = self._groups.beside(text_in(artifact, "run_id"), "artifacts")
            node = Node(f"artifact:{hash_}", group, line)
            self._nodes.add(node, _time(artifact, "created_at"))
            if not check.is_sound:
                reason = f"artifact {hash_[:12]}: {check.verdict}"
                self._nodes.note(node, reason, stored.spot, Severity.DAMAGE)

    def add_indices(self) -> None:
        """The indices of a run, marked where the events say something newer, or time is up."""
        last = _last_by_output(self._parts.events) if self._parts.indices else {}
        for stored in self._parts.indices:
            index, entries = str(stored.value["index"]), stored.value["entries"]
            told = {name: each for name, each in entries.items() if isinstance(each, dict)}
            stale = [
                name
                for name, each in told.items()
                if index == "name" and last.get(name, each.get("event_id")) != each.get("event_id")
            ]
            unknown = [
                name
                for name, each in told.items()
                if each.get("event_id") and not self._nodes.named(str(each["event_id"]))
            ]
            is_expired = bool(stored.value["is_expired"])
            marks = ["expired"] * is_expired + ["stale"] * bool(stale)
            words = [KINDS.get(index, index), counted(len(entries), "name"), *marks]
            data = stored.value | {"stale": stale, "of no event here": unknown}
            run = str(stored.value["run_id"])
            line = titled("index", " · ".join(words), data, "", stored.spot)
            node = Node(f"index:{run}:{index}", self._groups.beside(run, "indices"), line)
            self._nodes.add(node, NO_TIME)
            if stale:
                reason = f"stale: the events say something newer of {', '.join(stale[:5])}"
                self._nodes.note(node, reason, stored.spot)
            if is_expired:
                reason = "expired: the program deletes it as soon as it looks at it"
                self._nodes.note(node, reason, stored.spot)

    def _row_node(self, row: Stored) -> Node:
        value = row.value
        kind = text_in(value, "kind") or ("llm_call" if "llm" in row.spot.file else "row")
        payload = dict_in(value, "payload") or value
        what = _GROUPS.get(kind, _METERS if kind.startswith("meter.") else kind)
        summary = text_in(payload, "summary") or text_in(dict_in(payload, "payload"), "message")
        meant = text_in(payload, "event_type") or text_in(payload, "event_kind") or kind
        title = " · ".join(word for word in (meant, summary, text_in(payload, "status")) if word)
        failed = {"is_error": True} if _failed(payload) else {}
        stamp = stamp_in(value, "ts")
        line = titled(kind.replace(".", "_"), title, value, stamp, row.spot, **failed)
        name = text_in(value, "id") or f"{row.spot.file}:{row.spot.line or row.spot.row}"
        return Node(name, self._groups.beside(run_of_row(value), what), line)

    def _span_node(self, name: str, phases: list[Stored]) -> Node:
        first = dict_in(phases[0].value, "payload")
        last = dict_in(phases[-1].value, "payload")
        operation = f"{text_in(first, 'service')}.{text_in(first, 'operation')}".strip(".")
        is_done = text_in(last, "phase") != "start"
        took = last.get("duration_ms")
        words = [operation, text_in(last, "status") if is_done else "unfinished"]
        words += [f"{took:,} ms"] if is_done and isinstance(took, int | float) else []
        data: Json = {
            "span_id": name,
            "phases": [{"origin": each.spot.told(), **each.value} for each in phases],
        }
        failed = {"is_error": True} if _failed(last) else {}
        stamp = stamp_in(phases[0].value, "ts")
        line = titled("span", " · ".join(words), data, stamp, phases[0].spot, **failed)
        return Node(name, self._groups.beside(run_of_row(phases[0].value), "spans"), line)


def _last_by_output(events: list[Event]) -> dict[str, str]:
    """The last event that gave an output, by the output's name."""
    last = {}
    for event in events:
        if event.kind == "tool_result" and b'"outputs"' in event.raw:
            for item in list_in(event.value, "outputs"):
                if isinstance(item, dict) and isinstance(item.get("name"), str):
                    last[item["name"]] = event.event_id or ""
    return last


def _leads_to(spans: dict[str, list[Stored]], start: str, end: str) -> bool:
    """Whether the spans above one lead to another: a ring, which cannot be drawn."""
    met = set()
    at = start
    while at in spans and at not in met:
        if at == end:
            return True
        met.add(at)
        at = text_in(dict_in(spans[at][0].value, "payload"), "parent_span_id")
    return False


def _failed(payload: Json) -> bool:
    return text_in(payload, "status") in _FAILED or text_in(payload, "severity") == "error"


def _time(value: Json, name: str = "ts") -> int:
    found: Any = value.get(name)
    return parse_time(found)
