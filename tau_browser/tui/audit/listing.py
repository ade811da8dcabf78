"""Which recalls are listed, in which order: plain functions over audits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tau_browser.audit.recall import Recall, SessionAudit, Verdict
from tau_browser.audit.totals import found_by


class Scope(StrEnum):
    """Whose recalls are listed."""

    SESSION = "this session"
    PROJECT = "this project"
    STORE = "all sessions"


class Order(StrEnum):
    """By what they are sorted."""

    TREE = "as they were made"
    NEWEST = "newest first"
    UNUSED = "most unused hits first"
    SLOWEST = "slowest first"
    HITS = "most hits first"


@dataclass(frozen=True, slots=True)
class Row:
    """A recall in the list, or the head of a session with `recall` None."""

    audit: SessionAudit
    recall: Recall | None

    @property
    def key(self) -> tuple[str, int]:
        """What stays the same of the row when the list is made anew."""
        return self.audit.path, -1 if self.recall is None else self.recall.number


def rows_of(audits: Sequence[SessionAudit], order: Order, wanted: str) -> list[Row]:
    """The rows of some audits: sorted over all sessions, or under a head for each."""
    words = wanted.casefold().split()
    found = [
        Row(audit, recall)
        for audit in audits
        for recall in audit.recalls
        if all(word in _searched(audit, recall) for word in words)
    ]
    if order is not Order.TREE:
        return sorted(found, key=lambda row: _KEYS[order](_recall(row)))
    if len({row.audit.path for row in found}) < 2:
        return found
    rows: list[Row] = []
    for row in found:
        if not rows or rows[-1].audit is not row.audit:
            rows.append(Row(row.audit, None))
        rows.append(row)
    return rows


def _recall(row: Row) -> Recall:
    assert row.recall is not None
    return row.recall


def _unused(recall: Recall) -> int:
    return sum(hit.verdict is Verdict.UNUSED for hit in found_by(recall))


class _Backwards:
    """Turns the order of texts around."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __lt__(self, other: _Backwards) -> bool:
        return self._text > other._text


_KEYS: dict[Order, Callable[[Recall], Any]] = {
    Order.NEWEST: lambda recall: _Backwards(recall.time),
    Order.UNUSED: lambda recall: -_unused(recall),
    Order.SLOWEST: lambda recall: -(recall.latency or 0),
    Order.HITS: lambda recall: -len(recall.hits),
}


def _searched(audit: SessionAudit, recall: Recall) -> str:
    """All by which a recall is found: its words, its tool, what became of it and of its hits."""
    parts = [recall.name, recall.query, recall.outcome.value, recall.error, recall.state]
    parts += [audit.title, audit.cwd, recall.system, str(recall.method.value or "")]
    parts += [f"{hit.verdict.value} {hit.title} doc {hit.document}" for hit in recall.hits]
    parts += [finding.trouble.value for finding in recall.findings]
    return "\n".join(parts).casefold()
