"""The plan of an export: which entries, in which form, without which secrets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tau_browser.actions.draft import session_in
from tau_browser.actions.export.log import Log, native_log
from tau_browser.actions.export.request import ExportRequest, Format
from tau_browser.actions.making import items, measure, unreadable
from tau_browser.actions.plan import Measure, Plan, Refusal, Refused, Verb, Way
from tau_browser.actions.programs.known import rules_of
from tau_browser.actions.programs.rules import TAU_RULES
from tau_browser.actions.redaction.findings import Finding, Redactor, findings_in
from tau_browser.actions.shape import header_of, log_of
from tau_browser.model.columns import Bools
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line


class Export:
    """Some entries of a session, ready to be written in any form."""

    def __init__(self, session: Session, request: ExportRequest) -> None:
        chosen = _chosen(session, request)
        if not chosen.any():
            raise Refused("nothing to export: the session has no such entries")
        self.source = session
        rules = rules_of(session)
        is_native = request.format is Format.JSONL and rules is not TAU_RULES
        record_of = rules.stored if is_native else Session.record
        self.findings = findings_in(_named_records(session, chosen, record_of))
        hidden = [at for at in self.findings if at.secret not in request.shown]
        redactor = Redactor(hidden if request.redacts else [])
        if is_native:
            self.log = native_log(session, chosen, request, redactor, rules)
        else:
            header = redactor.record(header_of(session))
            draft = log_of(session, chosen, header, redactor.record)
            opens = request.format is Format.JSONL and not session.is_nested
            made = session_in(draft)
            self.log = Log(chosen, draft, made, (TAU_RULES.reopens(made),) if opens else ())

    @property
    def session(self) -> Session:
        """The session that is exported: with the entries chosen, and the secrets hidden."""
        return self.log.session


class Text:
    """Bytes that are made when they are asked for first."""

    def __init__(self, export: Export, form: Format) -> None:
        self._export = export
        self._form = form

    @cached_property
    def data(self) -> bytes:
        """All of them."""
        return _written(self._export.session, self._form)

    @property
    def size(self) -> int:
        """How many."""
        return len(self.data)

    def pieces(self) -> Iterator[bytes]:
        """The bytes in one piece."""
        yield self.data


@dataclass(frozen=True, slots=True)
class Exporting:
    """The plan, and the secrets that were found."""

    plan: Plan
    findings: list[Finding]


def plan_export(session: Session, request: ExportRequest) -> Exporting:
    """The plan of an export to a file. Raises Refused where there is nothing to export."""
    export = Export(session, request)
    target = os.path.abspath(request.output or default_name(session, request.format))
    refusals = []
    if os.path.lexists(target):
        refusals.append(Refusal(f"{target} is there already: give another name"))
    kept = export.log.kept
    size = measure(export.session)
    content = export.log.draft if request.format is Format.JSONL else Text(export, request.format)
    plan = Plan(
        verb=Verb.EXPORT,
        store="tau",
        about=f"export {safe_line(session.id[:8])} as {request.format.name}",
        read=None,  # what is exported is what was read
        way=Way.NEW,
        target=target,
        content=content,
        before=measure(session),
        after=Measure(int(kept.sum()), size.context, size.tokens),
        leaving=items(session, np.flatnonzero(~kept).tolist()),
        refusals=tuple(refusals),
        remarks=tuple(_remarks(session, request, export)),
    )
    return Exporting(plan, export.findings)


def _chosen(session: Session, request: ExportRequest) -> Bools:
    """Which entries are exported, by place."""
    kept = np.zeros(len(session), np.bool_)
    tree = session.tree
    if request.at is not None:
        kept[tree.path(request.at)] = True
    elif request.subtree is not None:
        start = int(tree.position[request.subtree])
        kept[tree.order[start : start + int(tree.size[request.subtree])]] = True
    elif request.only:
        kept[list(request.only)] = True
    else:
        kept[:] = True
    return kept


def default_name(session: Session, form: Format) -> str:
    """A name for the file, out of the session's id."""
    if form is Format.JSONL and (name := rules_of(session).file_name(session)):
        return name
    word = "".join(char for char in session.id if char.isascii() and char.isalnum())
    return f"session-{word[:12] or 'export'}.{form.value}"


def _written(session: Session, form: Format) -> bytes:
    if form is Format.MARKDOWN:
        from tau_browser.actions.export.markdown import markdown_of

        text = markdown_of(session)
    elif form is Format.HTML:
        from tau_browser.actions.export.page import page_of

        text = page_of(session)
    else:
        from tau_browser.actions.export.document import document_of

        text = document_of(session)
    return text.encode("utf-8", "replace")


def _named_records(
    session: Session, kept: Bools, record_of: Callable[[Session, int], Record]
) -> Iterator[tuple[str, Record]]:
    if session.header:
        yield "header", session.header
    for place in np.flatnonzero(kept).tolist():
        yield session.entry_id(place), record_of(session, place)


def _remarks(session: Session, request: ExportRequest, export: Export) -> Iterator[str]:
    if export.findings:
        secrets = counted(len(export.findings), "secret")
        hidden = sum(at.secret not in request.shown for at in export.findings)
        if request.redacts:
            yield f"{secrets} found, {hidden:,} of them hidden; no scanner finds all: look it over"
        else:
            yield f"{secrets} found, and written as they are"
    if bad := unreadable(session):
        yield f"{counted(len(bad), 'unreadable stretch')} of the source not exported"
    yield from export.log.remarks
