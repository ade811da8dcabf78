"""What lies in a workspace: which version wrote it, which sessions it has, and their files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from tau_browser.stores.aethergraph import a1, a15_files, a15_sqlite, corpora, indices, parts
from tau_browser.stores.aethergraph.artifacts import LINES, TABLE
from tau_browser.stores.aethergraph.database import files_of, has_table, opened
from tau_browser.stores.aethergraph.lines import files_in
from tau_browser.stores.aethergraph.records import Damage, text_in
from tau_browser.stores.files import FileSource
from tau_browser.stores.store import StoreError

_LOOKED_AT = 200  # folders in a folder that is no workspace itself
_FIRST = 64 * 1024  # bytes of a file in which its first event is looked for
_SEPARATOR = "#"


class Kind(StrEnum):
    """What a session of ours is in its workspace."""

    RUN = "run"  # of the first alpha
    SESSION = "session"
    LOOSE = "loose"  # runs and events of no session
    TIMELINE = "timeline"  # one that sessions share
    CORPUS = "corpus"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a session is. name: its id in the workspace; of a corpus, its folder."""

    root: Path
    kind: Kind
    name: str

    @property
    def path(self) -> str:
        """The same as one string."""
        return f"{self.root}{_SEPARATOR}{self.kind}:{self.name}"

    @property
    def id(self) -> str:
        """The id of the session."""
        if self.kind is Kind.CORPUS:
            return f"corpus:{corpora.about_corpus(self.root, self.name).id}"
        return self.name or parts.NO_SESSION


def address_of(path: str) -> Address:
    """The address that a path stands for. Raises StoreError."""
    root, separator, rest = path.rpartition(_SEPARATOR)
    kind, colon, name = rest.partition(":")
    if separator and colon and kind in [*Kind]:
        return Address(Path(root), Kind(kind), name)
    raise StoreError(f"{path}: not a session of an aethergraph workspace")


def workspaces(path: str) -> list[Path]:
    """The workspaces at a path: the folder itself, or else the folders in it that are one."""
    root = Path(path)
    if is_workspace(root):
        return [root]
    try:
        with os.scandir(root) as items:
            below = sorted(item.path for item in islice(items, _LOOKED_AT) if item.is_dir())
    except (OSError, ValueError):
        return []
    return [each for each in map(Path, below) if is_workspace(each)]


def is_workspace(root: Path) -> bool:
    """Whether a folder surely is a workspace, told by an event, a run, or a corpus in it."""
    try:
        return any(
            told
            for told in (
                any(_holds_event(root, file) for file in _some_event_files(root)),
                _has_table(root, a15_sqlite.EVENTS, "event_tags"),
                _has_table(root, a15_sqlite.RUNS, "run_results"),
                any(_has_id(root, folder) for folder in corpora.corpus_folders(root)[:1]),
            )
        )
    except (OSError, ValueError):
        return False


def addresses(root: Path) -> tuple[list[Address], list[Damage]]:
    """All sessions of a workspace, and what keeps some from being found."""
    found = [Address(root, Kind.RUN, run) for run in a1.runs(root)]
    stored, damage = parts.a15_sessions(root)
    sessions = {text_in(each.value, "session_id") for each in stored}
    timelines: set[str] = set()
    for session, timeline in _pairs(root):
        sessions.add(session)
        if timeline and not parts.timeline_session(timeline):
            timelines.add(timeline)
    home = parts.sessions_of_runs(root)
    sessions |= {*home.values()}
    if "" not in sessions and parts.has_loose_rows(root, home):
        sessions.add("")
    found += [
        Address(root, Kind.SESSION if name else Kind.LOOSE, name) for name in sorted(sessions)
    ]
    found += [Address(root, Kind.TIMELINE, name) for name in sorted(timelines)]
    found += [Address(root, Kind.CORPUS, folder) for folder in corpora.corpus_folders(root)]
    return found, damage


def files_of_workspace(root: Path) -> Iterator[Path]:
    """The files and folders that tell which sessions there are."""
    for name in (a1.MEMORY, a1.STATES, *corpora.FOLDERS, a15_files.TIMELINES):
        yield root / name
    yield from files_of_session(Address(root, Kind.LOOSE, ""))


def files_of_session(address: Address) -> Iterator[Path]:
    """The files from which a session is read; what is written to them may change it."""
    root = address.root
    if address.kind is Kind.CORPUS:
        for name in corpora.FILES:
            yield root / address.name / name
        return
    if address.kind is Kind.RUN:
        run = address.name
        folders = (f"{a1.MEMORY}/{run}/summaries/rolling", f"{a1.STATES}/{run}")
        names = [*a1.event_files(root, run), *files_in(root, f"{a1.MEMORY}/{run}/episodes", "*/*")]
        names += [name for folder in folders for name in files_in(root, folder)]
        databases = [indices.FILE]
    else:
        names = [
            name
            for timeline in a15_files.timelines(root)
            if parts.timeline_session(timeline) in ("", address.name)
            for name in a15_files.event_files(root, timeline)
        ]
        names += [a15_files.LOG, a15_files.CHANGES, parts.LLM_CALLS]
        names += files_in(root, a15_files.STATES, "*/latest.json")
        names += [
            name for folder in ("runs", "sessions") for name in files_in(root, folder, "*.json")
        ]
        databases = [*a15_sqlite.FILES, TABLE]
    yield from (root / name for name in [*names, LINES])
    for database in databases:
        yield from files_of(root / database)


def event_files_of(address: Address) -> list[Path]:
    """Those of them to which events are added."""
    if address.kind is Kind.CORPUS:
        return [address.root / address.name / corpora.FILES[2]]
    if address.kind is Kind.RUN:
        names = a1.event_files(address.root, address.name)
    else:
        timelines = a15_files.timelines(address.root)
        names = [name for each in timelines for name in a15_files.event_files(address.root, each)]
    return [address.root / name for name in names]


def _pairs(root: Path) -> Iterator[tuple[str, str]]:
    """The sessions and timelines that events are kept under."""
    yield from a15_sqlite.session_and_timeline(root)
    for timeline in a15_files.timelines(root):
        if session := parts.timeline_session(timeline):
            yield session, timeline
        else:
            events, _ = a15_files.events(root, timeline)
            yield from {(event.session_id or "", timeline) for event in events}


def _some_event_files(root: Path) -> Iterator[str]:
    for pattern in (f"{a1.MEMORY}/*/events/*.jsonl", f"{a15_files.TIMELINES}/*/events/*.jsonl"):
        yield from islice((os.path.relpath(path, root) for path in root.glob(pattern)), 1)


def _holds_event(root: Path, file: str) -> bool:
    source = FileSource(str(root / file))
    head = source.read(0, _FIRST)
    source.close()
    return b'"event_id"' in head and b'"severity"' in head


def _has_id(root: Path, folder: str) -> bool:
    return bool(corpora.about_corpus(root, folder).about.get("corpus_id"))


def _has_table(root: Path, file: str, table: str) -> bool:
    if not (root / file).is_file():
        return False
    try:
        with opened(root / file) as connection:
            return has_table(connection, table)
    except StoreError:
        return False
