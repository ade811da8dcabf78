"""Which entries are promoted, and what each becomes: a title, labels, a text, and its sources.

What a document is called by is made of its sources and its text, so that promoting again adds only
what is new; and it keeps the sources, so that whoever recalls it is led back to them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tau_browser.actions.distill.digest import Digest
from tau_browser.actions.plan import Refused
from tau_browser.model.label import speaker_of
from tau_browser.model.memory import MemoryType, memory_of
from tau_browser.model.payload import Record, event_of, text_of
from tau_browser.model.session import Session
from tau_browser.model.signal import facets_of, hundredths, severity_of, signal_of
from tau_browser.model.summary import stamp_text
from tau_browser.model.text import first_line
from tau_browser.search.query import BadQuery, Filter, Query, parse

_LENGTH = 24  # characters of an identity
_KINDS = ("event", "kind", "role")
_FACETS = ("stage", "tag", "metric")
_FILTERS_ARE = "give filters: event:, kind:, role:, stage:, tag:, metric:, memory:, signal:"


@dataclass(frozen=True, slots=True)
class PromoteRequest:
    """What to promote. only: these entries, by place, whatever else is asked · kinds: entries or
    events of these kinds or roles · memories: entries that make one of these types of memory ·
    facets: "name:value", all of which must hold · min_signal: in hundredths."""

    only: tuple[int, ...] = ()
    kinds: frozenset[str] = frozenset()
    memories: frozenset[MemoryType] = frozenset()
    facets: frozenset[str] = frozenset()
    min_signal: int = 0

    @property
    def is_blank(self) -> bool:
        """Whether it asks for nothing."""
        return self == PromoteRequest()


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry, or a digest, as it would be kept. identity: of its source and its text · summary:
    a digest in the shape of τ's summary of a branch."""

    identity: str
    title: str
    labels: dict[str, Any]
    body: str
    source: dict[str, Any]
    summary: dict[str, Any] | None = None


def filter_of(words: str) -> PromoteRequest:
    """What filters ask for, in the words of a search: "event:checkpoint signal:0.5".

    Raises Refused for what is no filter, or none of those that hold for a single entry.
    """
    kinds, facets, memories, worth = set(), set(), set(), 0
    query = _parsed(words)
    for each in query.filters:
        if not _is_filter(each):
            raise Refused(f"{words[each.start : each.stop]}: {_FILTERS_ARE}")
        value = str(each.value)
        if each.name == "signal":
            worth = max(worth, int(each.value))
        elif each.name == "memory":
            memories.add(MemoryType(value))
        elif each.name in _KINDS:
            kinds.add(value)
        else:
            facets.add(f"{each.name}:{value}")
    if query.terms or not query.filters:
        said = query.terms[0].text if query.terms else "nothing"
        raise Refused(f"{said}: {_FILTERS_ARE}")
    return PromoteRequest((), frozenset(kinds), frozenset(memories), frozenset(facets), worth)


def filters_in(words: str) -> str:
    """The filters of a search that promotions know, as typed; "" where there are none."""
    try:
        found = _parsed(words).filters
    except Refused:
        return ""
    return " ".join(words[each.start : each.stop] for each in found if _is_filter(each))


def _is_filter(condition: Filter) -> bool:
    """Whether promotions know a filter of searches."""
    return condition.name in (*_KINDS, *_FACETS, "memory", "signal") and not condition.negated


def _parsed(words: str) -> Query:
    try:
        return parse(words)
    except BadQuery as error:
        raise Refused(f"{words}: {error}") from error


def candidates(
    session: Session, request: PromoteRequest, *, store: str, path: str
) -> tuple[list[Candidate], int]:
    """The entries that are asked for, oldest first, and how many of them say nothing."""
    found = []
    silent = 0
    for place in _places(session, request):
        record = session.record(place)
        body = text_of(record).strip()
        if not body:
            silent += 1
            continue
        found.append(_candidate(session, place, record, body, store, path))
    return found, silent


def _places(session: Session, request: PromoteRequest) -> Iterator[int]:
    if request.only:
        yield from sorted(request.only)
        return
    kinds = {kind.casefold() for kind in request.kinds}
    for place in range(len(session)):
        record = session.record(place)
        event = event_of(record)
        is_group = session.is_nested and not event and "title" in record
        if (
            not is_group
            and (not kinds or kinds & _kinds_of(session, place, event))
            and (not request.memories or _makes(record, request.memories))
            and request.facets <= {facet.casefold() for facet in facets_of(record)}
            and hundredths(signal_of(record).value) >= request.min_signal
        ):
            yield place


def _kinds_of(session: Session, place: int, event: Record) -> set[str]:
    kinds = (str(event.get("kind") or ""), session.kind(place), session.role(place))
    return {kind.casefold() for kind in kinds}


def _makes(record: Record, types: frozenset[MemoryType]) -> bool:
    memory = memory_of(record)
    return memory is not None and memory.type in types


def _candidate(
    session: Session, place: int, record: Record, body: str, store: str, path: str
) -> Candidate:
    event = event_of(record)
    entry = session.entry_id(place)
    stamp = stamp_text(record.get("timestamp"))
    source = {
        "store": store,
        "session": session.id,
        "entry": entry,
        "event": event.get("event_id"),
        "origin": record.get("origin"),
        "path": path,
    }
    kind = str(event.get("kind") or speaker_of(record))
    what = str(event.get("tool") or event.get("stage") or first_line(body)[:60])
    labels = {name: event[name] for name in _LABELS if event.get(name) not in (None, [], "")}
    labels |= {"kind": kind, "severity": severity_of(record)}
    labels["signal"] = round(signal_of(record).value, 4)
    if memory := memory_of(record):
        labels["memory"] = memory.type.value
    return Candidate(
        identity=identity_of(source, body),
        title=":".join(part for part in (kind, what, stamp) if part),
        labels=labels,
        body=body,
        source={name: value for name, value in source.items() if value is not None},
    )


def candidate_of(digest: Digest, *, store: str, path: str) -> Candidate:
    """A digest as it would be kept: with all its sources, oldest first."""
    start, stop = digest.window
    sources = [source.entry for source in digest.sources]
    return Candidate(
        identity=digest.id,
        title=f"{digest.kind} digest:{digest.session}:{stop}",
        labels={"kind": f"{digest.kind}_digest", "from": start, "to": stop, **digest.asked},
        body=digest.text,
        source={"store": store, "session": digest.session, "path": path, "entries": sources},
        summary={"type": "branch_summary", "summary": digest.text, "fromId": sources[-1]},
    )


def identity_of(source: dict[str, Any], body: str) -> str:
    """What a document is called by: the same for the same entry with the same text."""
    text = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    parts = [source[name] for name in ("store", "session", "entry", "event")]
    return hashlib.sha256(json.dumps([*parts, text]).encode()).hexdigest()[:_LENGTH]


_LABELS = ("tool", "stage", "run_id", "graph_id", "node_id", "agent_id", "tags")
