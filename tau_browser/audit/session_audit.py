"""The audit of one session, from its entries to what is said of each recall and each hit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tau_browser.audit import hits as grammar
from tau_browser.audit.asked import document_of, latency_of, query_of, settings_of
from tau_browser.audit.calls import MemoryCall, memory_calls
from tau_browser.audit.following import Following
from tau_browser.audit.judging import judge, verdict_of
from tau_browser.audit.recall import (
    Evidence,
    Finding,
    Ghost,
    Hit,
    Judged,
    Outcome,
    Recall,
    SessionAudit,
    Trouble,
)
from tau_browser.audit.relations import OwnDocuments, ghosts, superseded
from tau_browser.audit.results import Result, result_of
from tau_browser.audit.shown import Shown
from tau_browser.audit.spoken import Spoken
from tau_browser.audit.tools import KNOWN_TOOLS, Action, ToolTable
from tau_browser.audit.transcript import transcript_of
from tau_browser.audit.words import words_of
from tau_browser.model.columns import Flag
from tau_browser.model.context import states
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import stamp_text, summary_of
from tau_browser.model.tree import NOWHERE

_NOT_FOUND = re.compile(r"\b404\b|not found|does not exist", re.IGNORECASE)
_HEADER = 40  # characters around the title in the line of a hit, about


@dataclass(frozen=True, slots=True)
class _Read:
    """A call with what came of it, and its hits as shown."""

    call: MemoryCall
    result: Result
    shown: list[Shown]

    @property
    def action(self) -> Action:
        return self.call.asked.tool.action


def audit_session(path: str, session: Session, tools: ToolTable = KNOWN_TOOLS) -> SessionAudit:
    """All that a session recalled, and what became of it."""
    transcript = transcript_of(session, tools)
    following = Following(session, transcript)
    spoken = Spoken(following)
    reads = [_read(at, call) for at, call in enumerate(memory_calls(session, transcript, tools))]
    shown = [hit for read in reads for hit in read.shown]
    evidence = judge(spoken, following, shown, _openings(reads)) if shown else []
    judged = _judged(session, following, reads, evidence)
    state = states(session, session.leaf)
    recalls: list[Recall] = []
    for read, hits in zip(reads, judged, strict=True):
        place = read.call.call
        word = State(int(state[place])).word if place != NOWHERE else ""
        recalls.append(_recall(session, following, read, hits, word, recalls))
    found_ghosts = tuple(ghosts(spoken, following, _known(reads)))
    summary = summary_of(session)
    places = _places_in(recalls, found_ghosts)
    return SessionAudit(
        path=path,
        session=session.id,
        title=summary.title,
        cwd=summary.cwd,
        modified=summary.modified,
        entries=len(session),
        recalls=tuple(recalls),
        ghosts=found_ghosts,
        entry_ids={place: session.entry_id(place) for place in places},
        starts={place: int(session.columns.start[place]) for place in places},
    )


def hits_of(
    session: Session, recalls: Iterable[Recall], tools: ToolTable = KNOWN_TOOLS
) -> dict[int, list[Hit]]:
    """The hits of some recalls with their texts, by number, read again from the results."""
    numbers = {(each.call, each.call_id, each.result, each.nested): each.number for each in recalls}
    found = {}
    for call in memory_calls(session, transcript_of(session, tools), tools):
        number = numbers.get((call.call, call.call_id, call.result, _nested_id(call)))
        if number is not None:
            found[number] = result_of(call).hits
    return found


def _read(number: int, call: MemoryCall) -> _Read:
    result = result_of(call)
    query = frozenset(words_of(query_of(call)))
    return _Read(
        call, result, [Shown(number, call.call, call.result, hit, query) for hit in result.hits]
    )


def _openings(reads: Sequence[_Read]) -> list[tuple[int, str]]:
    """Where a document was read: call entry and document."""
    return [
        (read.call.call, hit.document)
        for read in reads
        if read.action is Action.READ and read.result.outcome is Outcome.OK
        for hit in read.result.hits
        if hit.document
    ]


def _known(reads: Sequence[_Read]) -> list[tuple[int, str]]:
    """Where a document was shown, read or written: result entry and document. The children that
    a read lists were shown as well."""
    found = [(hit.result, hit.hit.document) for read in reads for hit in read.shown]
    found += [
        (read.call.result, read.result.document)
        for read in reads
        if read.action is not Action.SEARCH and read.result.document
    ]
    for read in reads:
        if read.action is Action.READ:
            listed = (grammar.listed(hit.text) for hit in read.result.hits)
            found += [(read.call.result, document) for some in listed for document in some]
    return found


def _judged(
    session: Session,
    following: Following,
    reads: Sequence[_Read],
    evidence: Sequence[Sequence[Evidence]],
) -> list[list[Judged]]:
    """The hits of each recall with what became of them."""
    written = {read.result.document: read.call.result for read in reads if _writes(read)}
    gone = _gone(reads)
    own = OwnDocuments(session, {read.call.result for read in reads}, written)
    proofs = iter(evidence)
    returned: dict[str, list[int]] = defaultdict(list)
    judged = []
    for read in reads:
        newer = superseded(read.shown)
        hits = []
        for each in read.shown:
            hit, proof = each.hit, next(proofs)
            mine = own.of(hit.document, each.call, following)
            before = returned[hit.document] if hit.document else []
            hits.append(
                Judged(
                    rank=hit.rank,
                    document=hit.document,
                    title=hit.title,
                    usetype=hit.usetype,
                    score=hit.score,
                    truncated=hit.truncated,
                    size=len(hit.text) + len(hit.title) + _HEADER,
                    verdict=verdict_of(following, each, proof),
                    evidence=tuple(proof),
                    entry=mine.entry if mine else NOWHERE,
                    echo=mine.echo if mine else None,
                    superseded_by=newer.get(hit.rank, 0),
                    gone=any(following.is_below(at, each.result) for at in gone[hit.document]),
                    returned_before=sum(following.is_below(each.call, at) for at in before),
                )
            )
        if read.action is Action.SEARCH:
            for each in read.shown:
                returned[each.hit.document].append(each.result)
        judged.append(hits)
    return judged


def _gone(reads: Sequence[_Read]) -> dict[str, list[int]]:
    """By document: the calls that wanted to read it and were told that it is not there."""
    found: dict[str, list[int]] = defaultdict(list)
    for read in reads:
        failed = read.action is Action.READ and read.result.outcome is Outcome.FAILED
        if failed and _NOT_FOUND.search(read.result.error):
            found[document_of(read.call)].append(read.call.call)
    return found


def _writes(read: _Read) -> bool:
    return read.action is Action.WRITE and bool(read.result.document)


def _recall(
    session: Session,
    following: Following,
    read: _Read,
    hits: Sequence[Judged],
    state: str,
    earlier: Sequence[Recall],
) -> Recall:
    call, result, tool = read.call, read.result, read.call.asked.tool
    settings = settings_of(call)
    query = query_of(call)
    repeat = _repeated(following, call, query, earlier) if tool.action is Action.SEARCH else -1
    latency, measured = latency_of(call)
    place = call.result if call.call == NOWHERE else call.call
    return Recall(
        number=len(earlier),
        call=call.call,
        result=call.result,
        call_id=call.call_id,
        time=stamp_text((call.question or call.answer).get("timestamp")),
        system=tool.system,
        name=call.asked.name,
        action=tool.action,
        is_weak=tool.is_weak,
        via=call.asked.via,
        nested=_nested_id(call),
        query=query,
        scope=settings["scope"],
        method=settings["method"],
        limit=settings["limit"],
        usetype=str(call.asked.arguments.get("usetype") or ""),
        document=result.document or document_of(call),
        latency=latency,
        measured=measured,
        outcome=result.outcome,
        error=result.error,
        recorded=result.recorded,
        state=state,
        hits=tuple(hits),
        findings=tuple(_findings(read, hits, repeat)),
        repeat_of=repeat,
        copied=session.has(place, Flag.COPIED),
    )


def _nested_id(call: MemoryCall) -> str:
    return str(call.nested.get("tool_call_id", ""))


def _repeated(following: Following, call: MemoryCall, query: str, earlier: Sequence[Recall]) -> int:
    """The number of the first recall above with the same words to the same tool, or -1."""
    wanted = words_of(query)
    for recall in earlier:
        same = recall.name == call.asked.name and words_of(recall.query) == wanted
        if wanted and same and following.is_below(call.call, recall.call):
            return recall.number
    return -1


def _findings(read: _Read, hits: Sequence[Judged], repeat: int) -> list[Finding]:
    found = list(read.result.findings)
    ranks: dict[tuple[Trouble, str], list[int]] = defaultdict(list)
    for each, hit in zip(read.shown, hits, strict=True):
        if grammar.imitates(each.hit.text) or grammar.imitates(each.hit.title):
            what = "what looks like hits: an earlier result, or a forgery"
            ranks[Trouble.IMITATION, what].append(hit.rank)
        if hit.echo is not None:
            ranks[Trouble.ECHO, hit.echo.value].append(hit.rank)
        if hit.superseded_by:
            what = f"older than hit {hit.superseded_by} on the same subject"
            ranks[Trouble.SUPERSEDED, what].append(hit.rank)
        if hit.gone:
            ranks[Trouble.GONE, "not there any more when it was to be read"].append(hit.rank)
    for (trouble, what), some in ranks.items():
        found.append(Finding(trouble, f"hit {', '.join(map(str, some))}: {what}"))
    if repeat >= 0:
        found.append(Finding(Trouble.REPEAT, f"asks the same as recall {repeat + 1}"))
    return found


def _places_in(recalls: Sequence[Recall], found: Sequence[Ghost]) -> list[int]:
    """All places that an audit speaks of."""
    places = {ghost.place for ghost in found}
    for recall in recalls:
        places |= {recall.call, recall.result}
        for hit in recall.hits:
            places.add(hit.entry)
            places.update(evidence.place for evidence in hit.evidence)
    return sorted(places - {NOWHERE})
