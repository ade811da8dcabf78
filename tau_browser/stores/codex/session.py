"""A rollout of Codex's; of a fork, with what it repeats marked as copied, or with a word on where
that stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tau_browser.model.columns import Flag
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.session import Session
from tau_browser.stores.codex.forks import (
    Source,
    lines_before,
    repeated_lines,
    rollout_of,
    source_of,
)
from tau_browser.stores.codex.format import CODEX
from tau_browser.stores.codex.names import name_of
from tau_browser.stores.files import FileSources
from tau_browser.stores.session_file import SessionFile
from tau_browser.stores.store import StoreError


class CodexSession(SessionFile):
    """An open rollout. What a fork repeats is looked up once, when it is loaded."""

    def __init__(self, path: str) -> None:
        super().__init__(path, CODEX)
        self._repeated = 0
        self._remark: Diagnostic | None = None

    def _begin(self) -> FileSources:
        self._repeated, self._remark = 0, None
        if source := source_of(self.path):
            self._look_up(source)
        return super()._begin()

    def _look_up(self, source: Source) -> None:
        problem = "is not here"
        if (path := rollout_of(source.id, self.path)) is not None:
            try:
                if source.end is None:
                    self._repeated = repeated_lines(self.path, path)
                    return
                line = lines_before(path, source.end)
            except StoreError as error:
                problem = f"cannot be read ({error})"
            else:
                reason = f"a fork of {source.id}: what was said before stands there, up to line"
                self._remark = Diagnostic(None, None, f"{reason} {line:,}", Severity.REMARK)
                return
        means = (
            "tokens that it repeats are counted again"
            if source.end is None
            else "what was said before cannot be shown"
        )
        reason = f"a fork of {source.id}, which {problem}: {means}"
        self._remark = Diagnostic(None, None, reason, Severity.NOTE)

    def _session(self, source: FileSources) -> Session:
        session = super()._session(source)
        session.columns.flags[session.columns.line <= self._repeated] |= np.uint16(Flag.COPIED)
        if name := name_of(session.id, self.path):
            session = replace(session, header=session.header | {"session_name": name})
        if self._remark is None:
            return session
        return replace(session, diagnostics=[*session.diagnostics, self._remark])
