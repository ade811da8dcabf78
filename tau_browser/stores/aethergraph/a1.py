"""The first alpha: a folder per run with lines of JSON by day, and files beside them."""

from __future__ import annotations

from pathlib import Path

from tau_browser.stores.aethergraph.events import Event, read_events
from tau_browser.stores.aethergraph.lines import files_in, folders_in, read_lines, read_objects
from tau_browser.stores.aethergraph.records import Damage, Read

MEMORY = "memory/mem"
STATES = "graph_states"


def runs(root: Path) -> list[str]:
    """The runs there is anything of."""
    return sorted({*folders_in(root, MEMORY), *folders_in(root, STATES)})


def event_files(root: Path, run: str) -> list[str]:
    """The event files of a run, by the day of writing."""
    return [*files_in(root, f"{MEMORY}/{run}/events", "*.jsonl")]


def events(root: Path, run: str) -> tuple[list[Event], list[Damage]]:
    """The events of a run, in the order in which they were written."""
    return read_events(root, event_files(root, run))


def summaries(root: Path, run: str) -> Read:
    """The digests that were written of a run: rolling ones, then episodes."""
    read = read_objects(root, files_in(root, f"{MEMORY}/{run}/summaries/rolling", "*.json"))
    read.add(read_objects(root, files_in(root, f"{MEMORY}/{run}/episodes", "*/*.json")))
    return read


def states(root: Path, run: str) -> Read:
    """The last snapshot of a run's graph; its revision stands first in its name."""
    snapshots = [*files_in(root, f"{STATES}/{run}", "snapshot_*.json")]
    return read_objects(root, iter(snapshots[-1:]))


def changes(root: Path, run: str) -> Read:
    """How the state of a run's graph changed, in order."""
    return read_lines(root, f"{STATES}/{run}/events.jsonl")
