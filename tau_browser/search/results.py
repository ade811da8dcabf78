"""What a search answers: hits in their places, and what was searched."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tau_browser.model.state import State
from tau_browser.search.find import Snippet, Span
from tau_browser.search.fusion import Part, Ranking
from tau_browser.search.index.reader import Standing
from tau_browser.search.query import Query


class Method(StrEnum):
    """How a search looks."""

    HYBRID = "hybrid"
    BM25 = "bm25"
    VECTOR = "vector"
    SUBSTRING = "substring"  # the query as it is, character by character
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found, where it stands. `rank` from 1 · `parts`: what each ranker says,
    their contributions adding up to `score` · `spans`: in the entry's own text, what matched;
    none for what was found by its meaning alone · `also_in`: its copies elsewhere."""

    standing: Standing
    entry: str
    speaker: str
    time: str
    rank: int
    score: float
    parts: tuple[Part, ...]
    spans: list[Span]
    snippet: Snippet
    also_in: list[Standing]

    @property
    def state(self) -> State:
        """How it stands to the leaf of its session."""
        return self.standing.state


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was searched. `skipped`: (path, why) of sessions that could not be."""

    sessions: int = 0
    entries: int = 0
    indexed: int = 0
    embedded: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Results:
    """The answer to a query. `total`: all that match by their words · `similar`: what was found
    by its meaning alone · `hits`: the best of both · `rankings`: what each ranker named, so that
    it can be weighed anew · `remarks`: what the person should know, such as a word that was taken
    for another."""

    query: Query
    method: Method
    hits: list[Hit]
    total: int
    similar: int
    coverage: Coverage
    rankings: list[Ranking[int]]
    remarks: list[str] = field(default_factory=list)
