"""The hands of the file stores of other programs: only new sessions are written there."""

from __future__ import annotations

import os
from dataclasses import replace

from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.journal import Journal
from tau_browser.actions.reading import Reading, read_log
from tau_browser.model.payload import Record
from tau_browser.stores.claude_code.session import ClaudeCodeSession
from tau_browser.stores.claude_code.store import ClaudeCodeStore
from tau_browser.stores.pi.format import PI
from tau_browser.stores.pi.store import PiStore
from tau_browser.stores.session_log import SessionLog


class PiWriter(FileWriter):
    """pi names folders and files as τ does."""

    store = PiStore.name

    def read(self, path: str, journal: Journal) -> Reading:
        return read_log(SessionLog(path, (path,), PI), journal)


class ClaudeCodeWriter(FileWriter):
    """A new session lies in the folder of its project, beside the one that it is made of."""

    store = ClaudeCodeStore.name

    @classmethod
    def beside(cls, path: str) -> ClaudeCodeWriter:
        return cls(os.path.dirname(os.path.abspath(path)), dashed=False)

    def read(self, path: str, journal: Journal) -> Reading:
        opened = ClaudeCodeSession(path)
        reading = read_log(opened.log(), journal)
        return replace(reading, session=opened.named(reading.session))

    def place_for(self, header: Record) -> str:
        return os.path.join(self._folder, f"{header['id']}.jsonl")
