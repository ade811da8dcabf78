"""One session of a workspace as it is read: its runs, events and all that lies beside them.

What a session is differs: the first alpha has only runs, so each is one; the fifteenth has
sessions, timelines that several sessions share, and runs of no session.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tau_browser.stores.aethergraph import a1, a15_files, a15_sqlite
from tau_browser.stores.aethergraph.artifacts import Artifacts
from tau_browser.stores.aethergraph.corpora import Promotions
from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.indices import indices_of
from tau_browser.stores.aethergraph.lines import read_lines
from tau_browser.stores.aethergraph.records import Damage, Json, Read, Stored, dict_in, text_in

NO_SESSION = "no-session"
"""The id of what stands for all that belongs to no session."""
LLM_CALLS = "events/llm/llm_calls.jsonl"


@dataclass(slots=True)
class Parts:
    """All of one session. about: what is kept of the session itself · runs, results, states: by
    run · changes: of the states of graphs · log: spans, agent events, log lines, meters, calls of
    models · summaries: digests in files of their own (first alpha) · indices: see `indices`."""

    root: Path
    id: str
    title: str = ""
    about: Json = field(default_factory=dict)
    runs: dict[str, Stored] = field(default_factory=dict)
    results: dict[str, Stored] = field(default_factory=dict)
    states: dict[str, Stored] = field(default_factory=dict)
    changes: list[Stored] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    log: list[Stored] = field(default_factory=list)
    summaries: list[Stored] = field(default_factory=list)
    indices: list[Stored] = field(default_factory=list)
    artifacts: list[Stored] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    def take(self, read: Read) -> list[Stored]:
        """What was read, its damage noted."""
        self.damage += read.damage
        return read.values

    def add_events(self, read: tuple[list[Event], list[Damage]]) -> None:
        """Take over events, and the damage of their files."""
        self.events += read[0]
        self.damage += read[1]

    @property
    def files(self) -> Artifacts:
        """The artifacts of the workspace."""
        return Artifacts(self.root)

    @property
    def promotions(self) -> Promotions:
        """Which events of the workspace became documents."""
        return Promotions(self.root)


def run_parts(root: Path, run: str) -> Parts:
    """A run of the first alpha."""
    parts = Parts(root, run)
    parts.add_events(a1.events(root, run))
    parts.summaries = parts.take(a1.summaries(root, run))
    parts.states = _by_run(parts.take(a1.states(root, run)))
    parts.changes = parts.take(a1.changes(root, run))
    parts.indices = parts.take(indices_of(root, run))
    parts.artifacts = _of_runs(parts.take(parts.files.index()), {run})
    return parts


def session_parts(root: Path, session: str) -> Parts:
    """A session of the fifteenth alpha; "" stands for what belongs to none."""
    parts = _shared(root, session or NO_SESSION)
    parts.title = "" if session else "of no session"
    about = {text_in(each.value, "session_id"): each for each in parts.take(_sessions(root))}
    if session in about:
        parts.about = about[session].value
        parts.title = text_in(parts.about, "title")
    home = {run: session_of_run(stored.value) for run, stored in parts.runs.items()}

    parts.add_events(a15_sqlite.read_events(root, session or None))
    for timeline in a15_files.timelines(root):
        if timeline_session(timeline) in ("", session):
            parts.add_events(a15_files.events(root, timeline))
    parts.events = [
        event for event in parts.events if (event.session_id or home.get(event.run, "")) == session
    ]
    mine = {run for run, owner in home.items() if owner == session}
    _keep_runs(parts, mine | {event.run for event in parts.events if event.run not in home})
    parts.log = [row for row in parts.log if session_of_row(row.value, home) == session]
    return parts


def timeline_parts(root: Path, timeline: str) -> Parts:
    """A timeline of the fifteenth alpha, whatever sessions its events are of."""
    parts = _shared(root, timeline)
    parts.title = f"timeline {timeline}"
    parts.add_events(a15_sqlite.read_events(root))
    if timeline in a15_files.timelines(root):
        parts.add_events(a15_files.events(root, timeline))
    parts.events = [event for event in parts.events if event.timeline == timeline]
    _keep_runs(parts, {event.run for event in parts.events})
    parts.log = []
    return parts


def timeline_session(timeline: str) -> str:
    """The session that a timeline is the own one of; "" for those that may be shared."""
    scope = timeline.rpartition("|")[2]
    return scope.removeprefix("session:") if scope.startswith("session:") else ""


def session_of_run(run: Json) -> str:
    """The session of a run; "" for none."""
    return text_in(run, "session_id") or text_in(dict_in(run, "meta"), "session_id")


def run_of_row(row: Json) -> str:
    """The run that a row of the log is about; "" for none."""
    payload = dict_in(row, "payload")
    scope = dict_in(payload, "scope")
    found = (text_in(value, "run_id") for value in (row, payload, scope))
    return next((run for run in found if run not in ("", "-")), "")


def session_of_row(row: Json, home: dict[str, str]) -> str:
    """The session that a row of the log is about, or its run is of; "" for none."""
    payload = dict_in(row, "payload")
    scope = dict_in(payload, "scope")
    found = (text_in(value, "session_id") for value in (row, payload, scope))
    named = next((session for session in found if session not in ("", "-")), "")
    return named or home.get(run_of_row(row), "")


def a15_sessions(root: Path) -> tuple[list[Stored], list[Damage]]:
    """What is kept of the sessions themselves."""
    read = _sessions(root)
    return read.values, read.damage


def sessions_of_runs(root: Path) -> dict[str, str]:
    """The session of each run, "" where it has none."""
    stored = [*a15_sqlite.runs(root).values, *a15_files.runs(root).values]
    return {run: session_of_run(each.value) for run, each in _by_run(stored).items()}


def has_loose_rows(root: Path, home: dict[str, str]) -> bool:
    """Whether the log speaks of what is of no session."""
    rows = (row for source in (a15_sqlite, a15_files) for row in source.log(root).values)
    return any(not session_of_row(row.value, home) for row in rows)


def _sessions(root: Path) -> Read:
    read = a15_sqlite.sessions(root)
    read.add(a15_files.sessions(root))
    return read


def _shared(root: Path, name: str) -> Parts:
    """The parts of a session before they are narrowed to it."""
    parts = Parts(root, name)
    for source in (a15_sqlite, a15_files):
        parts.runs |= _by_run(parts.take(source.runs(root)))
        parts.results |= _by_run(parts.take(source.results(root)))
        parts.states |= _by_run(parts.take(source.states(root)))
        parts.changes += parts.take(source.changes(root))
        parts.log += parts.take(source.log(root))
    parts.log += parts.take(read_lines(root, LLM_CALLS))
    parts.artifacts = parts.take(parts.files.index())
    return parts


def _keep_runs(parts: Parts, runs: set[str]) -> None:
    """Leave only what is about some runs."""
    for name in ("runs", "results", "states"):
        kept = {run: stored for run, stored in getattr(parts, name).items() if run in runs}
        setattr(parts, name, kept)
    parts.changes = _of_runs(parts.changes, runs)
    parts.artifacts = _of_runs(parts.artifacts, runs)


def _of_runs(stored: Iterable[Stored], runs: set[str]) -> list[Stored]:
    return [each for each in stored if text_in(each.value, "run_id") in runs]


def _by_run(stored: Iterable[Stored]) -> dict[str, Stored]:
    return {run: each for each in stored if (run := text_in(each.value, "run_id"))}
