"""The queries, and which entries are right for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.eval.corpus import HERE, Entry

EXACT = ("identifier", "error", "cjk")
"""Classes of queries that quote: every entry that holds the query word for word is right too."""


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody asks for. `right` is empty where the docs no longer hold what it is about."""

    kind: str
    text: str
    right: frozenset[str]


def queries(entries: Sequence[Entry]) -> list[Query]:
    """All labelled queries. Raises ValueError for a label that names no entry."""
    ids = {entry.id for entry in entries}
    found = []
    for line in (HERE / "queries.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, label, text = line.split("\t")
        if label.startswith("~"):
            right = _holding(entries, label[1:])
        elif not set(label.split(",")) <= ids:
            raise ValueError(f"no entry {label}")
        else:
            right = set(label.split(","))
        if kind in EXACT and right:
            right |= _holding(entries, text)
        found.append(Query(kind, text, frozenset(right)))
    return found


def _holding(entries: Sequence[Entry], words: str) -> set[str]:
    """The entries that hold words, however their lines are broken and in any case."""
    sought = words.casefold()
    return {entry.id for entry in entries if sought in " ".join(entry.text.split()).casefold()}
