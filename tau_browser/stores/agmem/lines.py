"""A repository in τ's lines: its history, what lies beside it, and what is wrong with both."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

from tau_browser.model.diagnostic import Severity
from tau_browser.model.payload import Record
from tau_browser.model.translation import findings_for_header
from tau_browser.stores.agmem.beside import Beside
from tau_browser.stores.agmem.beside_lines import lines_beside
from tau_browser.stores.agmem.changes import Changes
from tau_browser.stores.agmem.history import History
from tau_browser.stores.agmem.history_lines import HistoryLines
from tau_browser.stores.agmem.refs import session_id
from tau_browser.stores.agmem.writing import SHORT, STORE, Writer, line_of
from tau_browser.stores.translated import Translation

_CHUNK = 1024 * 1024
_PIECE = 1000  # lines


def translations(root: str, beside: Beside, history: History) -> Iterator[Translation]:
    """A repository in lines, the header first. Its findings are known only when all is written,
    so the lines wait in a file that nobody else can open."""
    writer, changes = Writer(), Changes(history)
    total = len(history.commits) + 1
    with tempfile.TemporaryFile() as waiting:
        piece: list[bytes] = []
        for data in _lines(writer, changes, beside):
            piece.append(data)
            if len(piece) == _PIECE:
                waiting.write(b"".join(piece))
                piece.clear()
                yield Translation(b"", min(changes.worked_out, total - 1), total)
        waiting.write(b"".join(piece))
        _tell_problems(writer, history, beside)
        header = header_of(root, history) | {"findings": findings_for_header(writer.findings)}
        yield Translation(line_of(header), total - 1, total)
        waiting.seek(0)
        while data := waiting.read(_CHUNK):
            yield Translation(data, total - 1, total)


def header_of(root: str, history: History) -> Record:
    """The header of a repository's session, without findings."""
    times = [commit.timestamp for commit in history.commits.values() if commit.timestamp]
    return {
        "type": "session",
        "version": 3,
        "id": session_id(root),
        "timestamp": min(times, default=""),
        "cwd": root,
        "session_name": f"{os.path.basename(root)} (agmem)",
        "store": STORE,
        "nested": True,
    }


def _lines(writer: Writer, changes: Changes, beside: Beside) -> Iterator[bytes]:
    history = changes.history
    lines = HistoryLines(writer, history, changes, beside.config())
    yield from lines.all()
    head = history.refs.head
    yield from lines_beside(writer, beside, changes.files(head) if head else {})
    yield from lines.blobs_elsewhere()


def _tell_problems(writer: Writer, history: History, beside: Beside) -> None:
    """What is wrong with what has no line of its own."""
    encryption = beside.config().get("encryption")
    if isinstance(encryption, dict) and encryption.get("enabled"):
        reason = "objects are encrypted: only agmem can read them, with its key"
        writer.find(reason, Severity.DAMAGE, "config.json")
    told = {line.lost for line in history.lines}
    for object_id, reason in history.problems.items():
        if object_id not in told:
            writer.find(reason, Severity.DAMAGE, f"object {object_id[:SHORT]}")
    for path, reason in (*history.refs.problems, *history.objects.problems):
        writer.find(reason, Severity.NOTE, os.path.relpath(path, beside.root))
    for problem in beside.problems:
        writer.find(problem.reason, Severity.DAMAGE, problem.path)
