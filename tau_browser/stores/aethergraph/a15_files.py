"""The fifteenth alpha set up to keep files: lines of JSON by timeline and day, an object a run."""

from __future__ import annotations

from pathlib import Path

from tau_browser.stores.aethergraph.events import Event, read_events
from tau_browser.stores.aethergraph.lines import files_in, folders_in, read_lines, read_objects
from tau_browser.stores.aethergraph.records import Damage, Read

TIMELINES = "mem"
LOG = "events/events.jsonl"
SESSIONS = "sessions"
RUNS = "runs"
STATES = "graph_state/docs/graph_state"
CHANGES = "graph_state/events/events.jsonl"


def timelines(root: Path) -> list[str]:
    """The timelines there are events of, by the names of their folders."""
    return folders_in(root, TIMELINES)


def event_files(root: Path, timeline: str) -> list[str]:
    """The files of a timeline, by day."""
    return [*files_in(root, f"{TIMELINES}/{timeline}/events", "*.jsonl")]


def events(root: Path, timeline: str) -> tuple[list[Event], list[Damage]]:
    """The events of a timeline, in the order in which they were written."""
    return read_events(root, event_files(root, timeline), timeline)


def sessions(root: Path) -> Read:
    """The sessions."""
    return read_objects(root, files_in(root, SESSIONS, "session-*.json"))


def runs(root: Path) -> Read:
    """The records of the runs."""
    files = (file for file in files_in(root, RUNS, "run-*.json") if not _is_result(file))
    return read_objects(root, files)


def results(root: Path) -> Read:
    """What the runs gave, of those that gave anything."""
    return read_objects(root, files_in(root, RUNS, "run-result-*.json"))


def states(root: Path) -> Read:
    """The last state of each run's graph."""
    return read_objects(root, files_in(root, STATES, "*/latest.json"))


def changes(root: Path) -> Read:
    """How the states of graphs changed, in order."""
    return read_lines(root, CHANGES)


def log(root: Path) -> Read:
    """Spans, agent events, log lines and meters, in order."""
    return read_lines(root, LOG)


def _is_result(file: str) -> bool:
    return file.startswith(f"{RUNS}/run-result-")
