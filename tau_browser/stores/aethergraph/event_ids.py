"""The ids of events, reckoned anew from what they say: a change of one shows, if not of all.

An id is made of a few parts of an event, some of which are not stored as they were then: numbers
and sources that were added later, and texts that were cut. So an id may fit, or not, or not tell.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import product

from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.records import Json, list_in, text_in, whole_seconds

LENGTH = 24  # characters of an id: so many of a SHA-256 in hexadecimal
_HASHED_TEXT = 6000  # characters of the text that an id tells apart
_CUT = " ...[truncated]"
_OF_FIRST = ["ts", "run_id", "graph_id", "node_id", "agent_id", "tool", "kind", "stage", "severity"]
_OF_FIFTEENTH = ["run_id", "kind", "tool", "topic"]


def fits(event: Event, sources: list[str]) -> bool | None:
    """Whether the id of an event is that of what it says; None where that cannot be told.

    sources: those of a digest, which are kept beside it.
    """
    value = event.value
    if text_in(value, "text").endswith(_CUT):
        return None
    return any(_spelled(parts) == event.event_id for parts in _parts(value, sources))


def _parts(value: Json, sources: list[str]) -> Iterator[Json]:
    """What an id may have been made of."""
    text = text_in(value, "text")[:_HASHED_TEXT]
    if value.get("version") == 1:
        told = {name: value.get(name) for name in _OF_FIRST} | {"text": text}
        some_sources: list[list[object]] = [list_in(value, "sources"), [], [*sources]]
        for has_metrics, each in product((bool(value.get("metrics")), False), some_sources):
            yield told | {"metrics_present": has_metrics, "sources": each}
    else:
        told = {name: value.get(name) for name in _OF_FIFTEENTH} | {"text": text}
        yield told | {"ts": whole_seconds(value.get("ts"))}


def _spelled(parts: Json) -> str:
    spelled = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]
