"""`tau-browse recalls [REF]`: what was recalled, and whether it was used.

JSON: {"recalls": [recall], "ghosts", "totals", "sessions", "projects", "documents", "coverage"}
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tau_browser import config
from tau_browser.audit.context import with_context
from tau_browser.audit.live import Live, in_words, live_of, server_documents
from tau_browser.audit.memory import Answer, Memory
from tau_browser.audit.recall import Hit, Judged, Recall, SessionAudit
from tau_browser.audit.records import (
    document_records,
    ghost_record,
    recall_record,
    replay_record,
    session_record,
    totals_record,
)
from tau_browser.audit.replay import Place, Replay
from tau_browser.audit.report import FORMATS, LEGEND, evidence_text, latency_text, settings_text
from tau_browser.audit.session_audit import audit_session, hits_of
from tau_browser.audit.store_audit import StoreAudit, whole_audit
from tau_browser.audit.tools import Action, ToolTable
from tau_browser.audit.totals import by_project, documents_of, totals_of
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json, shown_time
from tau_browser.cli.show import load
from tau_browser.model.text import counted
from tau_browser.stores.store import Store

_QUERY_LENGTH = 60


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the recalls of a session or of a store. Raises Failure, ConfigError, StoreError."""
    settings = config.settings()
    tools = ToolTable.extended(settings.memory_tools, settings.memory_folders)
    texts: Mapping[int, Sequence[Hit]] = {}
    target = None if args.ref is None else places.target(args, args.ref)
    if args.replay or args.live:
        if target is None or target.path is None:
            raise Failure("--replay and --live are about what one session asked: name a session")
        if args.format:
            raise Failure("--replay and --live stand in no report: leave out --format")
    if target is not None and target.path is not None:
        session = load(target)
        found = audit_session(target.path, session, tools)
        texts = hits_of(session, found.recalls, tools)
        audit = StoreAudit([with_context(session, found, texts)])
    else:
        store = places.store(args) if target is None else target.store
        audit = whole_audit(store, config.cache_folder(), tools)
    if args.format:
        print(FORMATS[args.format](audit.audits), end="")
        return _code(audit)
    today = _today(args, audit, target.store if target else None, texts)
    if args.json:
        print_json(_as_json(audit, today))
    else:
        _print(audit, printer, today, whole=target is not None and target.path is not None)
    return _code(audit)


def _code(audit: StoreAudit) -> int:
    return 0 if any(each.recalls for each in audit.audits) else 1


@dataclass(frozen=True)
class _Today:
    """What is known of recalls beyond their audit. texts: the hits of those of one session, by
    number · memory: what is asked the same again, if that is wanted · answers: what it says of
    the documents, by id."""

    texts: Mapping[int, Sequence[Hit]]
    memory: Memory | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)

    def hits(self, recall: Recall) -> Sequence[Hit]:
        return self.texts.get(recall.number, ())

    def lives(self, audit: SessionAudit, recall: Recall) -> dict[int, Live]:
        return live_of(audit, recall, self.hits(recall), self.answers)

    def again(self, recall: Recall) -> Replay | None:
        if self.memory is None or recall.action is not Action.SEARCH or recall.is_weak:
            return None
        from tau_browser.audit.replay import replay

        return replay(recall, self.hits(recall), self.memory)


def _today(
    args: argparse.Namespace,
    audit: StoreAudit,
    store: Store | None,
    texts: Mapping[int, Sequence[Hit]],
) -> _Today:
    """Raises ConfigError where a server is to be asked and none is named."""
    if not args.replay and not args.live:
        return _Today(texts)
    from tau_browser.audit.server import memory_of

    memory = memory_of(store, lambda: config.connection(os.environ))
    answers = memory.read(server_documents(audit.audits[0].recalls)) if args.live else {}
    return _Today(texts, memory if args.replay else None, answers)


def _as_json(audit: StoreAudit, today: _Today) -> dict[str, Any]:
    audits = audit.audits
    return {
        "recalls": _recalls(audits, today),
        "ghosts": [ghost_record(one, ghost) for one in audits for ghost in one.ghosts],
        "totals": totals_record(totals_of(audits)),
        "sessions": map(session_record, audits),
        "projects": [
            {"cwd": cwd or None} | totals_record(totals)
            for cwd, totals in by_project(audits).items()
        ],
        "documents": document_records(documents_of(audits)),
        "coverage": {
            "sessions": len(audits),
            "unreadable": [{"path": item.path, "reason": item.reason} for item in audit.unreadable],
        },
    }


def _recalls(audits: list[SessionAudit], today: _Today) -> Iterator[dict[str, Any]]:
    for audit in audits:
        for recall in audit.recalls:
            lives = today.lives(audit, recall)
            record = recall_record(audit, recall, today.hits(recall), lives)
            replayed = today.again(recall)
            yield record if replayed is None else record | {"replay": replay_record(replayed)}


def _print(audit: StoreAudit, printer: Printer, today: _Today, *, whole: bool) -> None:
    """whole: whether it is all of one session, and not of a store."""
    for one in audit.audits:
        if not one.recalls:
            continue
        if not whole:
            printer.line(f"{one.session[:8]}  {one.title or one.path}")
        for recall in one.recalls:
            _print_recall(one, recall, today.lives(one, recall), printer)
            if (replayed := today.again(recall)) is not None:
                _print_replay(replayed, printer)
        for ghost in one.ghosts:
            entry = one.entry_ids.get(ghost.place, "")
            printer.line(f"  entry {entry} cites doc {ghost.document}, which was never shown")
        printer.line()
    for item in audit.unreadable:
        printer.line(f"not audited: {item.path}: {item.reason}")
    totals = totals_of(audit.audits)
    parts = [counted(totals.recalls, "recall")]
    parts += [f"{totals.empty:,} empty", f"{totals.failed:,} failed"]
    parts.append(f"{totals.used:,} of {counted(totals.hits, 'hit')} used")
    parts.append(f"{totals.unused:,} unused (about {counted(totals.unused_tokens, 'token')})")
    parts += [f"{totals.unknown:,} unknown", f"{totals.stale:,} stale"]
    if not whole:
        parts.append(f"{totals.silent:,} of {counted(totals.sessions, 'session')} never recalled")
    if totals.weak:
        parts.append(f"{totals.weak:,} reads of files that may be a memory's")
    printer.line(", ".join(parts))
    printer.line(LEGEND)


def _print_recall(
    audit: SessionAudit, recall: Recall, lives: Mapping[int, Live], printer: Printer
) -> None:
    asked = recall.query or (f"doc {recall.document}" if recall.document else "")
    shown = asked if len(asked) <= _QUERY_LENGTH else f"{asked[: _QUERY_LENGTH - 1]}…"
    via = f" via {recall.via}" if recall.via else ""
    head = f"{recall.number + 1}. {recall.name}{via}: {shown}" if shown else recall.name + via
    entry = audit.entry_ids.get(recall.place, "")
    state = "" if recall.state == "path" else recall.state
    facts = [entry, shown_time(recall.time), state, settings_text(recall), latency_text(recall)]
    facts.append(recall.outcome.value)
    printer.line(f"{head}  ({', '.join(fact for fact in facts if fact)})")
    if recall.error:
        printer.line(f"     {recall.error}")
    rows = [_hit_cells(recall, hit, lives.get(hit.rank)) for hit in recall.hits]
    if rows:
        printer.table(rows, right=[1])
    for finding in recall.findings:
        printer.line(f"     {finding.trouble.value}: {finding.text}")


def _print_replay(replay: Replay, printer: Printer) -> None:
    """What is found now, always said to be of now."""
    printer.line(f"     now: {replay.verdict.value} ({'; '.join(replay.reasons)})")
    for each in replay.methods:
        ranks = ", ".join(_rank(place) for place in each.places)
        printer.line(f"     now, {each.method}: {each.problem or ranks or 'nothing'}")


def _rank(place: Place) -> str:
    then = f" (then {place.then})" if place.word == "moved" else ""
    how = "" if place.word in ("kept", "moved") else f" ({place.word})"
    return f"doc {place.document.id}{then}{how}"


def _hit_cells(recall: Recall, hit: Judged, live: Live | None) -> list[str]:
    score = "" if hit.score is None else f"{hit.score:.3f} {recall.scale}".rstrip()
    is_known = hit.in_context is not None and hit.in_context >= 0
    in_context = "already in context" if is_known else ""
    document = f"doc {hit.document}" if hit.document else ""
    return [
        "    ",
        f"{hit.rank}",
        hit.verdict.value,
        document,
        hit.title,
        score,
        evidence_text(hit)[:_QUERY_LENGTH],
        in_context,
        f"now: {in_words(live)}" if live else "",
    ]
