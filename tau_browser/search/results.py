"""What a search is asked, and what it answers: hits in their places, and what was searched."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tau_browser.model.payload import Record
from tau_browser.model.state import State
from tau_browser.search import fusion
from tau_browser.search.clauses import Widened
from tau_browser.search.find import Snippet, Span
from tau_browser.search.fusion import Part, Ranking
from tau_browser.search.index.reader import Standing
from tau_browser.search.query import Query

NEWEST = "newest"
"""The ranker of queries without words: it scores nothing, and puts what was written last first."""


class Method(StrEnum):
    """How a search looks."""

    HYBRID = "hybrid"
    BM25 = "bm25"
    VECTOR = "vector"
    FULLTEXT = "fulltext"  # of a server only
    MAXSIM = "maxsim"
    SUBSTRING = "substring"  # the query as it is, character by character
    REGEX = "regex"


class Reach(StrEnum):
    """How far a search goes from the paths that it is given. All but BELOW are of servers, whose
    paths may be numbers of any documents."""

    BELOW = "below"  # what hangs below them
    BRANCH = "branch"  # them, what hangs below them, and what stands above
    ALL = "all"  # without paths: what belongs to no session, too


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked, and how. `limit`: hits that are wanted · `paths`: of the sessions to search,
    or None for all · `weights`, `fused_by`: how rankings become one"""

    query: Query
    method: Method = Method.HYBRID
    limit: int = 50
    paths: Collection[str] | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: fusion.DEFAULT_WEIGHTS)
    fused_by: fusion.Method = fusion.Method.CONVEX
    reach: Reach = Reach.BELOW


@dataclass(frozen=True, slots=True)
class Turn:
    """The message with which a person began a turn: its id, and what it says in one safe line."""

    entry: str
    text: str


@dataclass(frozen=True, slots=True)
class Likely:
    """A word of an entry that late interaction probably matched: the word of the query that it is
    near to, how near from 0 to 1, and where it stands in the entry's own text."""

    word: str
    sought: str
    nearness: float
    spans: list[Span]

    @property
    def told(self) -> str:
        """It in words."""
        return f"{self.word} (for {self.sought} {self.nearness:.2f})"


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found, where it stands. `rank` from 1 · `parts`: what each ranker says;
    none for what a scan found, which is not ranked ·
    `spans`: in the entry's own text, what matched; none for what was found by its meaning alone ·
    `terms`: of the query, those that matched · `tools`: that it calls or answers, as their names
    are written · `also_in`: its copies elsewhere · `turn`: that it stands in, and `is_subagent`:
    whether in a branch that looks like a sub-agent's; both are told by `Engine.placed` alone ·
    `document`: on a server, the record of what belongs to no session ·
    `likely`: told by `Engine.explained` alone."""

    store: str
    standing: Standing
    entry: str
    speaker: str
    time: str
    rank: int
    parts: tuple[Part, ...]
    spans: list[Span]
    terms: list[str]
    snippet: Snippet
    tools: tuple[str, ...]
    also_in: list[Standing]
    turn: Turn | None = None
    is_subagent: bool = False
    document: Record | None = None
    likely: tuple[Likely, ...] = ()

    @property
    def is_by_time(self) -> bool:
        """Whether nothing but its time put it where it stands."""
        return any(part.ranker == NEWEST for part in self.parts)

    @property
    def score(self) -> float | None:
        """What the parts contribute, added up; None for what is not ranked, or by time alone."""
        if not self.parts or self.is_by_time:
            return None
        return math.fsum(part.contribution for part in self.parts)

    @property
    def state(self) -> State | None:
        """How it stands to the leaf of its session; None where that is not told (yet)."""
        return self.standing.state

    @property
    def state_word(self) -> str:
        """The same in a word; "" where it is not told."""
        return "" if self.state is None else self.state.word


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was searched. `skipped`: (path, why) of sessions that could not be · `scanned`: of the
    sessions, those that the index does not hold as they are now, and that were scanned ·
    `unindexed`: on a server, documents that its index of words lacks, or None if that cannot be
    told; those without text count, too · `what`: is counted as indexed and embedded."""

    sessions: int = 0
    entries: int = 0
    indexed: int = 0
    embedded: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    scanned: int = 0
    unindexed: int | None = 0
    what: str = "entry"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a scan found an entry: bytes start to stop of a file."""

    path: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Found:
    """What the rankers and scans named, so that it can be weighed anew and added to.

    total: all that the index holds and that match by their words · widened: what was sought
    instead of a word that is nowhere · groups: in which the hits must stand, or None for all ·
    moment: of the entries in memory, whose keys (below zero) count at that moment alone ·
    scanned: what only a scan found
    """

    rankings: tuple[Ranking[int], ...] = ()
    total: int = 0
    widened: Mapping[str, Widened] = field(default_factory=dict)
    groups: Collection[int] | None = None
    moment: int = 0
    scanned: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """The answer to what was asked. `total`: all that match by their words · `similar`: what was
    found by its meaning alone · `hits`: the best of both · `reranked`: whether the model of the
    extra had its say · `remarks`: what the person should know, such as a word that was taken for
    another · `missing`: on a server, which methods had no say, and what no method sees."""

    asking: Asking
    found: Found
    hits: list[Hit]
    total: int
    similar: int
    coverage: Coverage
    reranked: bool = False
    remarks: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def query(self) -> Query:
        """What was sought."""
        return self.asking.query

    @property
    def method(self) -> Method:
        """How it was looked for."""
        return self.asking.method

    @property
    def has_more(self) -> bool:
        """Whether more hits may come if more are asked for."""
        return len(self.hits) >= self.asking.limit
