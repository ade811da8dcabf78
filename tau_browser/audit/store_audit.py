"""The audit of a store: each session once per state of its file, and what they add up to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tau_browser.audit.catalog import AuditCatalog, Identity
from tau_browser.audit.recall import SessionAudit
from tau_browser.audit.session_audit import audit_session
from tau_browser.audit.sweep import may_recall
from tau_browser.audit.tools import KNOWN_TOOLS, ToolTable
from tau_browser.model.session import Session
from tau_browser.stores.files import header_of, identity_of, words_of
from tau_browser.stores.store import Listed, Store, StoreError, Unreadable

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
    catalog = AuditCatalog(cache_folder, tools)
    known = catalog.known()
    states = {listed.path: _state_of(listed) for listed in sessions}
    audits = {
        path: known[path][1]
        for path, state in states.items()
        if state is not None and path in known and known[path][0] == state
    }
    new = [listed for listed in sessions if listed.path not in audits]
    gone = known.keys() - states.keys()

    def progress(read: int, *, shown: bool) -> Progress:
        left = len(new) - read
        audit = None
        if shown:
            listed = [one for one in sessions if one.path in audits]
            titled = [_titled(audits[one.path], one) for one in listed]
            audit = StoreAudit(titled, list(unreadable), left)
        return Progress(len(sessions) - left, len(sessions), read, audit)

    yield progress(0, shown=True)
    wanted = may_recall([one.path for one in new if _is_log(one.path)], tools)
    fresh: list[tuple[Identity, SessionAudit]] = []
    for read, listed in enumerate(new, 1):
        if cancelled():
            break
        try:
            audits[listed.path] = _audit(store, listed, wanted, tools)
            if (state := states[listed.path]) is not None:
                fresh.append((state, audits[listed.path]))
        except (StoreError, OSError) as error:
            said = words_of(error) if isinstance(error, OSError) else str(error)
            unreadable.append(Unreadable(listed.path, said.removeprefix(f"{listed.path}: ")))
        is_due = read % _KEEP_EVERY == 0
        if is_due:
            catalog.keep(fresh, ())
            fresh = []
        if read < len(new):
            yield progress(read, shown=is_due)
    if fresh or gone:
        catalog.keep(fresh, gone)
    if new and not cancelled():
        yield progress(len(new), shown=True)


def whole_audit(
    store: Store, cache_folder: Path | None, tools: ToolTable = KNOWN_TOOLS
) -> StoreAudit:
    """The audit of a store, all of it."""
    audit = None
    for progress in audit_store(store, cache_folder, tools):
        audit = progress.audit
    assert audit is not None  # the last progress carries the whole
    return audit


def load(store: Store, path: str) -> Session:
    """A session of a store, read to its end. Raises StoreError."""
    opened = store.open(path)
    session = None
    for progress in opened.load():
        session = progress.session
    opened.close()
    assert session is not None  # the last progress carries the whole session
    return session


def _audit(store: Store, listed: Listed, wanted: set[str], tools: ToolTable) -> SessionAudit:
    if listed.path in wanted or not _is_log(listed.path):
        return audit_session(listed.path, load(store, listed.path), tools)
    header = header_of(listed.path)
    named = {name: header.get(name) for name in ("id", "cwd")}
    session, cwd = (value if isinstance(value, str) else "" for value in named.values())
    return SessionAudit(listed.path, session, "", cwd, "", 0)


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


def _state_of(listed: Listed) -> Identity | None:
    """The state of a session's file; None where it is not in one, and nothing tells of changes."""
    if not os.path.isfile(listed.path):
        return None
    identity = identity_of(os.stat(listed.path))
    return identity.device, identity.inode, identity.size, identity.mtime_ns
