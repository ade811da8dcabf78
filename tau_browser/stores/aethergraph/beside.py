"""What lies beside the events of a run: spans, log lines, meters, artifacts, indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tau_browser.model.diagnostic import Severity
from tau_browser.model.text import counted
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.aethergraph.artifacts import hash_of
from tau_browser.stores.aethergraph.indices import KINDS
from tau_browser.stores.aethergraph.links import Links
from tau_browser.stores.aethergraph.nodes import Key, Node, Nodes, titled
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

RunKey = Callable[[str], Key]


def add_log(nodes: Nodes, rows: list[Stored], run_key: RunKey) -> None:
    """The rows of the event log, each under its run; those of one span are one entry."""
    spans: dict[str, list[Stored]] = {}
    for row in rows:
        payload = dict_in(row.value, "payload")
        if text_in(row.value, "kind") == "trace" and text_in(payload, "span_id"):
            spans.setdefault(text_in(payload, "span_id"), []).append(row)
        else:
            nodes.add(_row_node(nodes, row, run_key), _time(row.value))
    made: dict[str, Node] = {}
    for name, phases in spans.items():
        made[name] = _span_node(nodes, name, phases, run_key)
    for name, phases in spans.items():
        above = text_in(dict_in(phases[0].value, "payload"), "parent_span_id")
        if above in made and not _leads_to(made, spans, above, name):
            made[name].parent = made[above]
        elif above:
            nodes.note(made[name], f"the span above it is missing: {above}", phases[0].spot)
        nodes.add(made[name], _time(phases[0].value))


def add_artifacts(nodes: Nodes, parts: Parts, run_key: RunKey) -> None:
    """The artifacts of the runs, each checked by its hash, those pinned first."""
    files = parts.files
    ordered = sorted(parts.artifacts, key=lambda stored: not stored.value.get("pinned"))
    for stored in ordered:
        artifact = stored.value
        hash_ = hash_of(artifact)
        check = files.check(hash_)
        key = _group(nodes, "artifacts", run_key(text_in(artifact, "run_id")))
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
        node = nodes.add(Node(f"artifact:{hash_}", key, line), _time(artifact, "created_at"))
        if not check.is_sound:
            nodes.note(
                node, f"artifact {hash_[:12]}: {check.verdict}", stored.spot, Severity.DAMAGE
            )


def add_indices(nodes: Nodes, parts: Parts, run_key: RunKey, links: Links) -> None:
    """The indices of a run, marked where the events say something newer, or time is up."""
    last = _last_by_output(links)
    for stored in parts.indices:
        index, entries = stored.value["index"], stored.value["entries"]
        stale = [
            name
            for name, entry in entries.items()
            if index == "name"
            and isinstance(entry, dict)
            and last.get(name, entry.get("event_id")) != entry.get("event_id")
        ]
        unknown = [
            name
            for name, entry in entries.items()
            if isinstance(entry, dict)
            and (event_id := entry.get("event_id"))
            and not links.nodes_of(str(event_id))
        ]
        marks = ["expired"] * bool(stored.value["is_expired"]) + ["stale"] * bool(stale)
        title = " · ".join(
            [KINDS.get(str(index), str(index)), counted(len(entries), "name"), *marks]
        )
        data = stored.value | {"stale": stale, "of no event here": unknown}
        key = _group(nodes, "indices", run_key(stored.value["run_id"]))
        name = f"index:{stored.value['run_id']}:{index}"
        node = nodes.add(Node(name, key, titled("index", title, data, "", stored.spot)), NO_TIME)
        if stale:
            reason = f"stale: the events say something newer of {', '.join(stale[:5])}"
            nodes.note(node, reason, stored.spot)
        if stored.value["is_expired"]:
            reason = "expired: the program deletes it as soon as it looks at it"
            nodes.note(node, reason, stored.spot)


def _last_by_output(links: Links) -> dict[str, str]:
    """The last event that gave an output, by the output's name."""
    last = {}
    for event, _ in links.events:
        if event.kind == "tool_result" and b'"outputs"' in event.raw:
            for item in list_in(event.value, "outputs"):
                if isinstance(item, dict) and isinstance(item.get("name"), str):
                    last[item["name"]] = event.id
    return last


def _row_node(nodes: Nodes, row: Stored, run_key: RunKey) -> Node:
    value = row.value
    kind = text_in(value, "kind") or ("llm_call" if "llm" in row.spot.file else "row")
    payload = dict_in(value, "payload") or value
    what = _GROUPS.get(kind, _METERS if kind.startswith("meter.") else kind)
    key = _group(nodes, what, _run_or_none(run_of_row(value), run_key))
    summary = text_in(payload, "summary") or text_in(dict_in(payload, "payload"), "message")
    meant = text_in(payload, "event_type") or text_in(payload, "event_kind") or kind
    status = text_in(payload, "status")
    title = " · ".join(word for word in (meant, summary, status) if word)
    failed = {"is_error": True} if _failed(payload) else {}
    line = titled(kind.replace(".", "_"), title, value, stamp_in(value, "ts"), row.spot, **failed)
    name = text_in(value, "id") or f"{row.spot.file}:{row.spot.line or row.spot.row}"
    return Node(name, key, line)


def _span_node(nodes: Nodes, name: str, phases: list[Stored], run_key: RunKey) -> Node:
    first = dict_in(phases[0].value, "payload")
    last = dict_in(phases[-1].value, "payload")
    key = _group(nodes, "spans", _run_or_none(run_of_row(phases[0].value), run_key))
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
    return Node(name, key, titled("span", " · ".join(words), data, stamp, phases[0].spot, **failed))


def _group(nodes: Nodes, what: str, above: Key | None) -> Key:
    """A group of one kind of thing below a run, or on its own for what is of no run."""
    key = (*(above or ("loose",)), f"\0{what}")
    if not nodes.has_group(key):
        run = above[-1] if above else ""
        title = what if above else f"{what} of no run"
        line = titled("group", title, {}, "")
        nodes.group(key, Node(f"{what}:{run}", above, line))
    return key


def _run_or_none(run: str, run_key: RunKey) -> Key | None:
    return run_key(run) if run else None


def _leads_to(made: dict[str, Node], spans: dict[str, list[Stored]], start: str, end: str) -> bool:
    """Whether the spans above one lead to another: a ring, which cannot be drawn."""
    met = set()
    at = start
    while at in made and at not in met:
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
