"""What was found in which state of which session, kept so that looking again reads no session.

A cache and nothing more: one that cannot be read is made anew. It holds queries and titles, so
only its owner may read it; the texts of hits stay where they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from tau_browser.audit.recall import SessionAudit
from tau_browser.audit.states import State
from tau_browser.audit.tools import ToolTable

_VERSION = 5
"""Of the stored form and of the rules that lead to verdicts: a change of either is a new one."""

_TABLES = """
CREATE TABLE IF NOT EXISTS audits (
    key BLOB PRIMARY KEY, state TEXT NOT NULL, audit TEXT NOT NULL
) WITHOUT ROWID;
"""


class AuditCatalog:
    """Audits by the keys of their sessions (`states`). `folder` None keeps nothing."""

    def __init__(self, folder: Path | None, tools: ToolTable) -> None:
        spelled = repr((_VERSION, tools.tools, tools.folders))
        rules = hashlib.sha256(spelled.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.path = folder / "audit" / f"{rules}.db" if folder else None

    def known(self, prefix: str) -> dict[str, tuple[State, SessionAudit]]:
        """All that is kept under keys that begin so."""
        rows: list[tuple[bytes, str, str]] = []
        start = os.fsencode(prefix)
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as sql:
            asked = "SELECT key, state, audit FROM audits WHERE substr(key, 1, ?) = ?"
            rows = sql.execute(asked, (len(start), start)).fetchall()
        found = {}
        for key, state, audit in rows:
            with contextlib.suppress(ValueError, RecursionError):  # damaged: audited again
                kept = msgspec.convert(json.loads(audit), SessionAudit, str_keys=True)
                found[os.fsdecode(key)] = state, kept
        return found

    def keep(self, audits: Mapping[str, tuple[State, SessionAudit]], gone: Iterable[str]) -> None:
        """Remember audits, and forget sessions that are no longer there. A cache that cannot be
        written is no reason to stop."""
        rows = [(os.fsencode(key), state, _json(one)) for key, (state, one) in audits.items()]
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as sql, sql:
            sql.executemany("INSERT OR REPLACE INTO audits VALUES (?, ?, ?)", rows)
            forgotten = ((os.fsencode(key),) for key in gone)
            sql.executemany("DELETE FROM audits WHERE key = ?", forgotten)

    def _open(self) -> contextlib.closing[sqlite3.Connection]:
        """The database, for its owner alone. Raises sqlite3.Error and OSError."""
        if self.path is None:
            return contextlib.closing(sqlite3.connect(":memory:"))
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            return contextlib.closing(_connected(self.path))
        except sqlite3.DatabaseError:
            self.path.unlink()
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            return contextlib.closing(_connected(self.path))


def _json(audit: SessionAudit) -> str:
    # not msgspec's own: it refuses the lone surrogates that queries and titles may hold
    return json.dumps(msgspec.to_builtins(audit, str_keys=True))


def _connected(path: Path) -> sqlite3.Connection:
    sql = sqlite3.connect(path)
    sql.executescript(_TABLES)
    return sql
