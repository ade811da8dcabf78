"""What audits add up to: per session, project and store, and by document.

What merely reads files that may be a memory's is counted apart, and its results not at all. A
recall that a branch or a fork copied was made once and counts once, with the best that became of
each hit in any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tau_browser.audit.recall import Judged, Outcome, Recall, SessionAudit, Trouble, Verdict
from tau_browser.audit.tools import Action
from tau_browser.model.usage import estimate_tokens


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers of things. recalls: searches and reads · silent: sessions that recalled nothing ·
    weak: reads of files that may be a memory's, not among the recalls · hits: of searches, parted
    into the verdicts · unused_tokens: about how many the unused hits took of the context · failed:
    those without a result too · ghosts, repeats, echoes, stale: see `recall`."""

    sessions: int
    silent: int
    recalls: int
    writes: int
    weak: int
    empty: int
    failed: int
    hits: int
    cited: int
    opened: int
    quoted: int
    overlapping: int
    unused: int
    unknown: int
    unused_tokens: int
    stale: int
    echoes: int
    repeats: int
    ghosts: int

    @property
    def used(self) -> int:
        """Hits that were cited, opened or quoted."""
        return self.cited + self.opened + self.quoted


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """A document in all that recalled it. sessions: how many · recalled, used: hits."""

    system: str
    document: str
    title: str
    usetype: str
    sessions: int
    recalled: int
    used: int


def totals_of(audits: Sequence[SessionAudit]) -> Totals:
    """The sums over some sessions."""
    made = [recall for _, recall in distinct(audits)]
    strong = [recall for recall in made if not recall.is_weak]
    asked = [recall for recall in strong if recall.action is not Action.WRITE]
    hits = [hit for recall in asked for hit in found_by(recall)]
    verdicts = [hit.verdict for hit in hits]
    outcomes = [recall.outcome for recall in asked]
    unused = [hit.size for hit in hits if hit.verdict is Verdict.UNUSED]
    troubles = [finding.trouble for recall in asked for finding in recall.findings]
    return Totals(
        sessions=len(audits),
        silent=sum(not recalled(audit) for audit in audits),
        recalls=len(asked),
        writes=len(strong) - len(asked),
        weak=len(made) - len(strong),
        empty=outcomes.count(Outcome.EMPTY),
        failed=len(outcomes) - outcomes.count(Outcome.EMPTY) - outcomes.count(Outcome.OK),
        hits=len(hits),
        cited=verdicts.count(Verdict.CITED),
        opened=verdicts.count(Verdict.OPENED),
        quoted=verdicts.count(Verdict.QUOTED),
        overlapping=verdicts.count(Verdict.OVERLAPPING),
        unused=verdicts.count(Verdict.UNUSED),
        unknown=verdicts.count(Verdict.UNKNOWN),
        unused_tokens=sum(map(estimate_tokens, unused)),
        stale=sum(hit.is_stale for hit in hits),
        echoes=sum(hit.echo is not None for hit in hits),
        repeats=troubles.count(Trouble.REPEAT),
        ghosts=sum(len(audit.ghosts) for audit in audits),
    )


def by_project(audits: Iterable[SessionAudit]) -> dict[str, Totals]:
    """The sums per working directory, those with most recalls first."""
    projects: dict[str, list[SessionAudit]] = {}
    for audit in audits:
        projects.setdefault(audit.cwd, []).append(audit)
    totals = {cwd: totals_of(some) for cwd, some in projects.items()}
    return dict(sorted(totals.items(), key=lambda item: (-item[1].recalls, item[0])))


def documents_of(audits: Iterable[SessionAudit]) -> list[DocumentUse]:
    """Every document that a search found, those recalled most first, and of them those used
    least."""
    seen: dict[tuple[str, str], list[tuple[str, Judged]]] = {}
    for audit, recall in distinct(audits):
        for hit in found_by(recall):
            if hit.document and not recall.is_weak:
                key = recall.system, hit.document
                seen.setdefault(key, []).append((audit.path, hit))
    found = [
        DocumentUse(
            system=system,
            document=document,
            title=uses[-1][1].title,
            usetype=uses[-1][1].usetype,
            sessions=len({path for path, _ in uses}),
            recalled=len(uses),
            used=sum(hit.verdict.is_used for _, hit in uses),
        )
        for (system, document), uses in seen.items()
    ]
    return sorted(found, key=lambda use: (-use.recalled, use.used, use.system, use.document))


def distinct(audits: Iterable[SessionAudit]) -> list[tuple[SessionAudit, Recall]]:
    """Every recall once, with the session in which it was met first."""
    found: dict[tuple[object, ...], tuple[SessionAudit, Recall]] = {}
    for audit in audits:
        for recall in audit.recalls:
            if recall.copied:
                continue
            entry = audit.entry_ids.get(recall.place)
            same = (recall.call_id, recall.nested, recall.name, recall.query)
            key = entry, recall.time, *same
            if key in found:
                first, known = found[key]
                found[key] = first, replace(known, hits=_best(known.hits, recall.hits))
            else:
                found[key] = audit, recall
    return list(found.values())


def _best(one: tuple[Judged, ...], other: tuple[Judged, ...]) -> tuple[Judged, ...]:
    """Of each hit, that with the stronger verdict."""
    if len(one) != len(other):
        return one
    order = list(Verdict)
    pairs = zip(one, other, strict=True)
    return tuple(min(pair, key=lambda hit: order.index(hit.verdict)) for pair in pairs)


def found_by(recall: Recall) -> tuple[Judged, ...]:
    """What a search found. What a read shows was found before."""
    return recall.hits if recall.action is Action.SEARCH else ()


def recalled(audit: SessionAudit) -> bool:
    """Whether a session asked its memory for anything."""
    return any(not one.is_weak and one.action is not Action.WRITE for one in audit.recalls)
