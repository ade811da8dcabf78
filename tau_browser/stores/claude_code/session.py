"""A session of Claude Code, with what its sub-agents did."""

from __future__ import annotations

import os
from dataclasses import replace

from tau_browser.model.session import Session
from tau_browser.stores.claude_code.agents import agent_files
from tau_browser.stores.claude_code.format import CLAUDE_CODE
from tau_browser.stores.claude_code.titles import title_of
from tau_browser.stores.files import FileSources
from tau_browser.stores.session_file import SessionFile


class ClaudeCodeSession(SessionFile):
    """An open session. It is named after its file: lines may tell the id of one before it."""

    def __init__(self, path: str) -> None:
        super().__init__(path, CLAUDE_CODE, lambda: agent_files(path))

    def _session(self, source: FileSources) -> Session:
        return self.named(super()._session(source))

    def named(self, session: Session) -> Session:
        """The session with the id that its file tells, with its title, and with the directory that
        it was moved to, if it was."""
        own = {"id": os.path.basename(self.path).removesuffix(".jsonl")}
        if title := title_of(session, self.path):
            own["session_name"] = title
        for place in session.places_of_kind("relocated")[-1:]:
            if isinstance(cwd := session.record(place).get("relocatedCwd"), str) and cwd:
                own["cwd"] = cwd
        return replace(session, header=session.header | own)
