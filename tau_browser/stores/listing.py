"""A list of sessions in the order in which a person reads it: by project, forks under sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.store import Listed


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the list. depth: how many sources stand above a fork."""

    listed: Listed
    depth: int
    orphan: bool  # a fork whose source is not in the list


@dataclass(frozen=True, slots=True)
class Project:
    """The sessions of one working directory; those of its forks elsewhere hang with them."""

    cwd: str
    lines: list[Line]


def modified_ms(listed: Listed) -> int:
    """When a session last changed: by its own last entry where that is known, else by its file."""
    written = parse_time(listed.summary.modified) if listed.summary else NO_TIME
    return int(listed.modified * 1000) if written == NO_TIME else written


def newest_first(sessions: Sequence[Listed]) -> list[Listed]:
    """Sessions by their last change, the path deciding ties."""
    return sorted(sessions, key=lambda listed: (-modified_ms(listed), listed.path))


def by_project(sessions: Sequence[Listed]) -> list[Project]:
    """Projects and their sessions, newest first; each fork below its source."""
    ordered = newest_first(sessions)
    source_of = _sources(ordered)
    forks: dict[int, list[int]] = defaultdict(list)
    tops = []
    for at in range(len(ordered)):
        if (source := source_of.get(at)) is None:
            tops.append(at)
        else:
            forks[source].append(at)

    projects: dict[str, Project] = {}
    for top in tops:
        summary = ordered[top].summary
        cwd = summary.cwd if summary else ""
        lines = projects.setdefault(cwd, Project(cwd, [])).lines
        stack = [(top, 0)]
        while stack:
            at, depth = stack.pop()
            parent = (found := ordered[at].summary) and found.parent
            lines.append(Line(ordered[at], depth, bool(parent) and depth == 0))
            stack += [(fork, depth + 1) for fork in reversed(forks[at])]
    return list(projects.values())


def _sources(ordered: Sequence[Listed]) -> dict[int, int]:
    """Which session each fork came from. Sources that lead back to the fork do not count."""
    by_name: dict[str, int] = {}
    for at, listed in enumerate(ordered):
        by_name[listed.path] = at
        if listed.summary and listed.summary.id:
            by_name.setdefault(listed.summary.id, at)
    claimed = {
        at: by_name[listed.summary.parent]
        for at, listed in enumerate(ordered)
        if listed.summary and listed.summary.parent in by_name
    }
    sound: dict[int, int] = {}
    for fork, source in claimed.items():
        above: int | None = source
        while above is not None and above != fork:
            above = sound.get(above)
        if above is None:
            sound[fork] = source
    return sound
