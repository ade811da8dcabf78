"""The audit of a store: each session once per state of it, and what they add up to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from tau_browser.audit.catalog import AuditCatalog
from tau_browser.audit.recall import SessionAudit
from tau_browser.audit.session_audit import audit_session
from tau_browser.audit.states import State, States, states_of
from tau_browser.audit.sweep import may_recall
from tau_browser.audit.tools import KNOWN_TOOLS, ToolTable
from tau_browser.stores.files import header_of, words_of
from tau_browser.stores.store import Listed, Store, StoreError, Unreadable

T = TypeVar("T")
_KEEP_EVERY = 200  # sessions


@dataclass(frozen=True, slots=True)
class StoreAudit:
    """What is known of a store. audits: one per session, those changed last first · unreadable:
    what could not be audited, and why · unread: sessions not looked into yet."""

    audits: list[SessionAudit]
    unreadable: list[Unreadable] = field(default_factory=list)
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an audit has come, in sessions. read: how many were read, not remembered · audit:
    what there is so far, now and then."""

    done: int
    total: int
    read: int
    audit: StoreAudit | None = None


def audit_store(
    store: Store,
    cache_folder: Path | None,
    tools: ToolTable = KNOWN_TOOLS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Progress]:
    """Audit all sessions of a store. The first progress carries what was remembered, the last the
    whole. Ends early if cancelled; what was found until then is kept."""
    found = list(store.scan())
    sessions = [item for item in found if isinstance(item, Listed)]
    unreadable = [item for item in found if isinstance(item, Unreadable)]
    states = states_of(store)
    catalog = AuditCatalog(cache_folder, tools)
    known = catalog.known(states.prefix)
    audits: dict[str, SessionAudit] = {}
    failed = 0

    def progress(read: int, *, shown: bool) -> Progress:
        done = len(audits) + failed
        audit = None
        if shown:
            listed = [one for one in sessions if one.path in audits]
            titled = [_titled(audits[one.path], one) for one in listed]
            audit = StoreAudit(titled, list(unreadable), len(sessions) - done)
        return Progress(done, len(sessions), read, audit)

    kept = [(one.path, *known[key]) for one in sessions if (key := states.key(one.path)) in known]
    for some in _batches(kept, states.at_once):
        if audits:
            yield progress(0, shown=False)
        if cancelled():
            break
        still = states.unchanged({path: state for path, state, _ in some})
        audits |= {path: audit for path, _, audit in some if path in still}
    new = [listed for listed in sessions if listed.path not in audits]
    listed_keys = {states.key(listed.path) for listed in sessions}
    gone = {key for key in known.keys() - listed_keys if states.is_gone(key)}
    yield progress(0, shown=True)
    wanted = _wanted(store, new, tools)
    fresh: dict[str, tuple[State, SessionAudit]] = {}
    for read, listed in enumerate(new, 1):
        if cancelled():
            break
        try:
            state, audits[listed.path] = _audit(states, listed, wanted, tools)
            if state:
                fresh[states.key(listed.path)] = state, audits[listed.path]
        except (StoreError, OSError) as error:
            failed += 1
            said = words_of(error) if isinstance(error, OSError) else str(error)
            unreadable.append(Unreadable(listed.path, said.removeprefix(f"{listed.path}: ")))
        is_due = read % _KEEP_EVERY == 0
        if is_due:
            catalog.keep(fresh, ())
            fresh = {}
        if read < len(new):
            yield progress(read, shown=is_due)
    if fresh or gone:
        catalog.keep(fresh, gone)
    if new and not cancelled():
        yield progress(len(new), shown=True)


def last_audits(
    store: Store, cache_folder: Path | None, tools: ToolTable = KNOWN_TOOLS
) -> list[SessionAudit]:
    """What the sessions of a store came to when they were last audited; nothing of them is read
    or asked for now."""
    known = AuditCatalog(cache_folder, tools).known(states_of(store).prefix)
    return [audit for _, audit in known.values()]


def whole_audit(
    store: Store, cache_folder: Path | None, tools: ToolTable = KNOWN_TOOLS
) -> StoreAudit:
    """The audit of a store, all of it."""
    audit = None
    for progress in audit_store(store, cache_folder, tools):
        audit = progress.audit
    assert audit is not None  # the last progress carries the whole
    return audit


def _wanted(store: Store, new: Sequence[Listed], tools: ToolTable) -> set[str]:
    """Those of some sessions that must be read: all but files without a sign of a memory's tool,
    in them and in what belongs to them."""
    files = {one.path: _files(store, one.path) for one in new if _is_log(one.path)}
    found = may_recall([file for some in files.values() for file in some], tools)
    plain = {path for path, some in files.items() if found.isdisjoint(some)}
    return {one.path for one in new} - plain


def _files(store: Store, path: str) -> tuple[str, ...]:
    try:
        return store.open(path).log().files
    except StoreError:
        return (path,)


def _audit(
    states: States, listed: Listed, wanted: set[str], tools: ToolTable
) -> tuple[State, SessionAudit]:
    if listed.path in wanted:
        session, state = states.load(listed.path)
        return state, audit_session(listed.path, session, tools)
    state, header = states.state(listed.path), header_of(listed.path)
    named = {name: header.get(name) for name in ("id", "cwd")}
    session_id, cwd = (value if isinstance(value, str) else "" for value in named.values())
    return state, SessionAudit(listed.path, session_id, "", cwd, "", 0)


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[at : at + size] for at in range(0, len(items), size))


def _titled(audit: SessionAudit, listed: Listed) -> SessionAudit:
    """An audit with what the list knows of a session that was not read for it."""
    summary = listed.summary
    if audit.entries or summary is None:
        return audit
    return replace(
        audit,
        session=summary.id,
        title=summary.title,
        cwd=summary.cwd,
        modified=summary.modified,
        entries=summary.entries,
    )


def _is_log(path: str) -> bool:
    """Whether a session is a file whose lines spell it as it is."""
    return path.endswith(".jsonl") and os.path.isfile(path)
