"""What the audit says, as plain data: recalls, their hits, what became of each, and what is odd.

Places are those of the session as it was when it was audited (`model.session`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tau_browser.audit.tools import Action


class Verdict(StrEnum):
    """Whether a hit was used, the strongest first. Evidence, never proof."""

    CITED = "cited"  # its id or its title stands in what the model said later
    OPENED = "opened"  # it was read later
    QUOTED = "quoted"  # a long run of its words, from nowhere else, was said later
    OVERLAPPING = "overlapping"  # rare words of it were said in the answer
    UNUSED = "unused"  # the model went on and nothing of it is found
    UNKNOWN = "unknown"  # nothing follows, or it was folded before the model answered

    @property
    def is_used(self) -> bool:
        """Whether there is more than shared words to say that it was used."""
        return self in (Verdict.CITED, Verdict.OPENED, Verdict.QUOTED)


class Outcome(StrEnum):
    """What became of a recall."""

    OK = "ok"
    EMPTY = "empty"  # it found nothing
    FAILED = "failed"
    BLOCKED = "blocked"  # somebody kept the tool from running
    MISSING = "no result"  # the process ended before there was one


class Trouble(StrEnum):
    """What can be odd about a recall."""

    MISMATCH = "hit count"
    TITLE = "line breaks in a title"
    AMBIGUOUS = "ambiguous"
    GRAMMAR = "grammar"
    IMITATION = "imitates hits"
    ECHO = "self-echo"
    SUPERSEDED = "superseded"
    REPEAT = "repeat"
    GONE = "gone"


class Echo(StrEnum):
    """How a hit comes from the session that recalled it."""

    ENTRY = "this session's own entry"
    RECALL = "an earlier recall's result"
    WRITTEN = "a document that this session wrote"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know, in a sentence."""

    trouble: Trouble
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit as the tool printed it. rank: from 1 · document: its id, "" where it has none ·
    score: as printed, on the scale of the recall's method · text: what the model saw of it."""

    rank: int
    document: str
    title: str
    usetype: str
    score: float | None
    truncated: bool
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for a verdict: the entry that speaks for it, and where in it.

    part: "text", "thinking" or "arguments" · shared: the words that both places hold, or what
    stands there for the hit.
    """

    verdict: Verdict
    place: int
    part: str
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A hit and what became of it. Its text stays in the session (`session_audit.hits_of`).

    size: characters of its lines in the result · entry: the entry of this session that it is, or
    -1 · echo: how it comes from this session · superseded_by: rank of a newer hit on the same
    subject, or 0 · gone: a later read did not find it · returned_before: how often earlier
    recalls on the path had returned it · in_context: the entry that already showed its text to
    the model, -1 for none, None where nobody looked.
    """

    rank: int
    document: str
    title: str
    usetype: str
    score: float | None
    truncated: bool
    size: int
    verdict: Verdict
    evidence: tuple[Evidence, ...] = ()
    entry: int = -1
    echo: Echo | None = None
    superseded_by: int = 0
    gone: bool = False
    returned_before: int = 0
    in_context: int | None = None

    @property
    def is_stale(self) -> bool:
        """Whether it was out of date: a newer one says otherwise, or it was gone."""
        return bool(self.superseded_by) or self.gone


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that was in force. assumed: the call left it out, and this is the default."""

    value: str | int | None
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What the model saw when it made a recall: how many entries, about how many tokens, and the
    entry of the last fold before it (-1: nothing was folded)."""

    entries: int
    tokens: int
    anchor: int


@dataclass(frozen=True, slots=True)
class Recall:
    """One call of a memory's tool.

    call, result: places, -1 where there is no result · call_id: of the block · via, nested: the
    tool that passed it on and its number there, "" for a call of the model itself · document: the
    one asked for by a read, made by a write, or the top of a search · latency: milliseconds ·
    measured: latency is that of the tool; else it is the time between two entries, an upper bound
    · recorded: hits as counted by the tool · state: word of the call's state as seen from the leaf
    · repeat_of: number of an earlier recall with the same query, or -1 · copied: its entry was
    copied from another branch.
    """

    number: int
    call: int
    result: int
    call_id: str
    time: str
    system: str
    name: str
    action: Action
    is_weak: bool
    via: str
    nested: str
    query: str
    scope: Setting
    method: Setting
    limit: Setting
    usetype: str
    document: str
    latency: float | None
    measured: bool
    outcome: Outcome
    error: str
    recorded: int | None
    state: str
    hits: tuple[Judged, ...] = ()
    findings: tuple[Finding, ...] = ()
    repeat_of: int = -1
    copied: bool = False
    context: Context | None = None

    @property
    def place(self) -> int:
        """The entry where it stands: that of the call, or of the result where that is unknown."""
        return self.result if self.call < 0 else self.call

    @property
    def scale(self) -> str:
        """The scale of its scores, in a word; "" if unknown."""
        return _SCALES.get(str(self.method.value), "") if self.system == "jmfts" else ""


@dataclass(frozen=True, slots=True)
class Ghost:
    """A document that was cited and that no recall on the path had returned."""

    place: int
    document: str


@dataclass(frozen=True, slots=True)
class SessionAudit:
    """All recalls of a session, in file order. entry_ids: by place, of the entries spoken of ·
    starts: by place, the first byte of these entries."""

    path: str
    session: str
    title: str
    cwd: str
    modified: str
    entries: int
    recalls: tuple[Recall, ...] = ()
    ghosts: tuple[Ghost, ...] = ()
    entry_ids: dict[int, str] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)


_SCALES = {
    "hybrid": "rank-fused",
    "vector": "cosine",
    "bm25": "bm25",
    "fulltext": "ts_rank",
    "maxsim": "maxsim",
}
