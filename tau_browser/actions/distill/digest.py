"""A digest: the lines of some entries, oldest first, and exactly which entries they are.

Where not all fits, the newest stays. What was looked at and left out is counted, with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tau_browser.model.columns import Int32s
from tau_browser.model.label import speaker_of
from tau_browser.model.payload import Call, Record, Text, blocks_of, event_of, message_of
from tau_browser.model.session import Session
from tau_browser.model.signal import hundredths, signal_of
from tau_browser.model.summary import stamp_text
from tau_browser.model.text import safe_line
from tau_browser.model.tree import NOWHERE

DIGESTS = frozenset(
    {
        "compaction",
        "branch_summary",
        "rolling_summary",
        "run_summary",
        "long_term_summary",
        "long_term_summary_hydrate",
    }
)
"""Kinds of entries and events that are digests themselves: no source of another, unless asked."""
_LONGEST = 2000  # characters of one entry
_ID_LENGTH = 24


@dataclass(frozen=True, slots=True)
class DigestRequest:
    """What to distill.

    turns: rolling, the last so many turns · tool: episode, what one tool was asked and gave ·
    under: only what hangs below this entry, by place · at: as of this entry · min_signal: in
    hundredths · most: characters of all lines together · with_digests: digests are sources too.
    """

    turns: int | None = None
    tool: str | None = None
    under: int | None = None
    at: int | None = None
    min_signal: int = 0
    most: int = 20_000
    with_digests: bool = False

    @property
    def kind(self) -> str:
        """What its digest is called."""
        return "rolling" if self.turns is not None else "episode"


@dataclass(frozen=True, slots=True)
class Source:
    """An entry that a digest is made of. cut: its characters that are left out."""

    entry: str
    time: str
    line: str
    cut: int
    event: str  # its id in the memory that it was translated from, or ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was looked at: all in all, and why some of it is not in the digest."""

    considered: int
    used: int
    below_signal: int
    digests: int
    silent: int  # says nothing
    capped: int  # older than what fits


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest, oldest source first."""

    kind: str
    session: str
    asked: dict[str, Any]
    sources: tuple[Source, ...]
    coverage: Coverage
    metrics: dict[str, dict[str, float]]

    @property
    def text(self) -> str:
        """The lines of the sources."""
        return "\n".join(source.line for source in self.sources)

    @property
    def id(self) -> str:
        """The same for the same sources and text, another for any other."""
        said = json.dumps([[source.entry, source.line] for source in self.sources])
        return hashlib.sha256(said.encode()).hexdigest()[:_ID_LENGTH]

    @property
    def window(self) -> tuple[str, str]:
        """The times of the first and the last source."""
        times = [source.time for source in self.sources if source.time]
        return (times[0], times[-1]) if times else ("", "")


def digest_of(session: Session, request: DigestRequest) -> Digest:
    """The digest of a session."""
    places = _places(session, request)
    below = digests = silent = considered = 0
    found: list[tuple[Source, Record]] = []
    for place in places.tolist():
        record = session.record(place)
        if not _is_asked(record, request):
            continue
        considered += 1
        if not request.with_digests and kind_of(record) in DIGESTS:
            digests += 1
        elif hundredths(signal_of(record).value) < request.min_signal:
            below += 1
        elif (said := _line(record)) is None:
            silent += 1
        else:
            line, cut = said
            stamp = stamp_text(record.get("timestamp"))
            event = event_of(record).get("event_id")
            source = Source(session.entry_id(place), stamp, line, cut, str(event or ""))
            found.append((source, record))
    kept = _newest(found, request.most)
    coverage = Coverage(
        considered, len(kept), below, digests, silent, capped=len(found) - len(kept)
    )
    return Digest(
        kind=request.kind,
        session=session.id,
        asked=_asked(session, request),
        sources=tuple(source for source, _ in kept),
        coverage=coverage,
        metrics=_metrics(record for _, record in kept),
    )


def kind_of(record: Record) -> str:
    """The kind of an entry, or that of the event it was made from."""
    return str(event_of(record).get("kind") or record.get("type") or "")


def tools_in(record: Record) -> set[str]:
    """The tools that an entry calls or answers, by each of their names."""
    message = message_of(record)
    names = {block.name for block in blocks_of(record) if isinstance(block, Call)}
    event = event_of(record)
    names |= {
        name
        for name in (message.get("tool_name"), message.get("toolName"), event.get("tool"))
        if isinstance(name, str)
    }
    if isinstance(node := event.get("node_id"), str) and kind_of(record) in ("tool_start", "error"):
        names |= {node, f"tool.{node}"}  # calls of the first alpha name only their node
    return names


def _places(session: Session, request: DigestRequest) -> Int32s:
    """The entries that may be meant, in the order in which they were written."""
    tree = session.tree
    if request.under is not None:
        start = int(tree.position[request.under])
        places = np.sort(tree.order[start : start + int(tree.size[request.under])])
    elif session.is_nested:
        places = np.arange(len(session), dtype=np.int32)
    else:
        leaf = session.leaf if request.at is None else request.at
        places = tree.path(leaf) if leaf != NOWHERE else np.empty(0, np.int32)
    if request.at is not None and session.is_nested:
        places = places[places <= request.at]
    if request.turns is not None:
        asked = np.flatnonzero(session.is_user[places])
        first = asked[-request.turns] if len(asked) >= request.turns else 0
        places = places[first:] if request.turns else places[:0]
    return places


def _is_asked(record: Record, request: DigestRequest) -> bool:
    """Whether an entry is of the kind that a digest is made of."""
    message = message_of(record)
    if request.turns is not None:
        if kind_of(record) in DIGESTS:
            return True
        is_said = any(isinstance(block, Text) for block in blocks_of(record))  # and not only called
        return is_said and message.get("role") in ("user", "assistant")
    if request.tool is not None:
        return request.tool in tools_in(record)
    return bool(message) or kind_of(record) in DIGESTS


def _line(record: Record) -> tuple[str, int] | None:
    """What an entry says, in one line, and how much of it is left out; None if nothing."""
    summary = record.get("summary")
    texts = [block.text for block in blocks_of(record) if isinstance(block, Text)]
    calls = [block for block in blocks_of(record) if isinstance(block, Call)]
    said = " ".join(text.strip() for text in texts if text.strip())
    speaker = _speaker(record)
    if isinstance(summary, str):
        said = summary
    if not said and calls:
        speaker = "[call]"
        said = "; ".join(f"{call.name} {json.dumps(call.arguments)}" for call in calls)
    if not said.strip():
        return None
    shown = " ".join(said.split())
    cut = max(0, len(shown) - _LONGEST)
    end = f" … ({cut:,} characters more)" if cut else ""
    return f"{speaker} {safe_line(shown[:_LONGEST])}{end}", cut


def _speaker(record: Record) -> str:
    speaker = speaker_of(record)
    failed = message_of(record).get("is_error") is True or record.get("is_error") is True
    named = {"user": "User:", "assistant": "Assistant:"}
    return named.get(speaker, f"[{speaker}{' (failed)' if failed else ''}]")


def _newest(found: list[tuple[Source, Record]], most: int) -> list[tuple[Source, Record]]:
    """The last of them that fit, the oldest first."""
    size = 0
    for at in range(len(found) - 1, -1, -1):
        size += len(found[at][0].line) + 1
        if size > most:
            return found[at + 1 :]
    return found


def _metrics(records: Iterator[Record]) -> dict[str, dict[str, float]]:
    """The numbers that events bear: of each, the last, the sum and how many there are."""
    metrics: dict[str, dict[str, float]] = {}
    for record in records:
        told = event_of(record).get("metrics")
        for name, value in told.items() if isinstance(told, dict) else ():
            if isinstance(value, int | float) and not isinstance(value, bool):
                seen = metrics.setdefault(str(name), {"last": 0, "sum": 0, "count": 0})
                seen["last"] = value
                seen["sum"] += value
                seen["count"] += 1
    return metrics


def _asked(session: Session, request: DigestRequest) -> dict[str, Any]:
    """The request for a reader."""
    asked: dict[str, Any] = {"turns": request.turns, "tool": request.tool}
    asked["under"] = session.entry_id(request.under) if request.under is not None else None
    asked["at"] = session.entry_id(request.at) if request.at is not None else None
    asked |= {"min_signal": request.min_signal / 100 or None, "most": request.most}
    asked["with_digests"] = request.with_digests or None
    return {name: value for name, value in asked.items() if value is not None}
