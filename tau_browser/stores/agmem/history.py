"""The commits of a repository as lines of history: which branch each belongs to, where lines part.

Each ref is followed along first parents until a commit is met that belongs to another already.
HEAD's line comes first, so the others part from it. What no ref leads to is found by the reflog,
by other parents of merges, and at last among the objects themselves: nothing is left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.agmem.objects import Objects, is_id
from tau_browser.stores.agmem.packs import Damaged
from tau_browser.stores.agmem.records import Commit, TreeEntry, read_commit, read_tag, read_tree
from tau_browser.stores.agmem.refs import Refs

SITTING_GAP = timedelta(minutes=30)
"""A pause between commits after which a new session begins."""

_SHORT = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One line of history. kind: "branch", "HEAD", "remote", "tag", "stash", "merged" or
    "unreachable" · commits: ids, the oldest first; none where the ref points into another line ·
    fork: the commit of another line from which it parts, or at which it stands; "" for none ·
    lost: a parent that is not there, or ""."""

    kind: str
    name: str
    commits: list[str]
    fork: str
    lost: str = ""


@dataclass
class History:
    """commits: all that can be read, by id · problems: (id, reason) of those that cannot ·
    altered: (id, reason) of objects that can be read though they are not what they say."""

    objects: Objects
    refs: Refs
    commits: dict[str, Commit] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    altered: dict[str, str] = field(default_factory=dict)

    def commit(self, commit_id: str) -> Commit | None:
        """A commit, or None: then `problems` says why."""
        if commit_id in self.commits:
            return self.commits[commit_id]
        if commit_id in self.problems or not is_id(commit_id):
            return None
        try:
            found = self.objects.read(commit_id, "commit")
            commit = self.commits[commit_id] = read_commit(found.content)
        except KeyError:
            self.problems[commit_id] = "the commit is not among the objects"
            return None
        except Damaged as error:
            self.problems[commit_id] = f"the commit cannot be read: {error}"
            return None
        if found.harm:
            self.altered[commit_id] = found.harm
        return commit

    def tree(self, commit: Commit) -> list[TreeEntry]:
        """The files of a commit. Raises KeyError, Damaged."""
        found = self.objects.read(commit.tree, "tree")
        if found.harm:
            self.altered[commit.tree] = found.harm
        return read_tree(found.content)


def history_of(objects: Objects, refs: Refs) -> History:
    """The history that refs, reflog and objects amount to."""
    history = History(objects, refs)
    claimed: set[str] = set()
    merged: deque[tuple[str, str]] = deque()

    def add(kind: str, name: str, tip: str, *, even_empty: bool = True) -> None:
        if not (line := _line(history, kind, name, tip, claimed)).commits and not even_empty:
            return
        history.lines.append(line)
        claimed.update(line.commits)
        for commit_id in line.commits:
            commit = history.commits[commit_id]
            source = commit.metadata.get("source_branch")
            label = source if isinstance(source, str) else f"into {commit_id[:_SHORT]}"
            merged.extend((other, label) for other in commit.parents[1:])

    for kind, name, tip in _tips(refs):
        add(kind, name, _commit_named(history, tip), even_empty=kind in ("branch", "HEAD"))
    for at, (stash, message) in enumerate(refs.stashes):
        add("stash", f"{at}: {message}", stash)
    while merged:
        other, label = merged.popleft()
        add("merged", label, other, even_empty=False)
    for move in reversed(refs.reflog):
        if move.new and move.new not in claimed:
            add("unreachable", f"in the reflog: {move.message}", move.new, even_empty=False)
    for tip in _unknown_tips(history, claimed):
        add("unreachable", f"{tip[:_SHORT]}, not even in the reflog", tip, even_empty=False)
    return history


def sittings(history: History, line: Line) -> Iterator[list[str]]:
    """The commits of a line in groups: one daemon's session, without a long pause."""
    group: list[str] = []
    for commit_id in line.commits:
        if group and not _goes_on(history.commits[group[-1]], history.commits[commit_id]):
            yield group
            group = []
        group.append(commit_id)
    if group:
        yield group


def _goes_on(before: Commit, after: Commit) -> bool:
    if before.session != after.session:
        return False
    times = [parse_time(commit.timestamp) for commit in (before, after)]
    if NO_TIME in times:
        return True
    return times[1] - times[0] <= SITTING_GAP / timedelta(milliseconds=1)


def _tips(refs: Refs) -> Iterator[tuple[str, str, str]]:
    """What refs point to, HEAD first."""
    if refs.detached:
        yield "HEAD", "detached", refs.detached
    if refs.branch:
        yield "branch", refs.branch, refs.branches.get(refs.branch, "")
    for name, tip in refs.branches.items():
        if name != refs.branch:
            yield "branch", name, tip
    for name, tip in refs.remotes.items():
        yield "remote", name, tip
    for name, tip in refs.tags.items():
        yield "tag", name, tip


def _commit_named(history: History, tip: str) -> str:
    """The commit behind a ref: some tags name an object that names it."""
    if history.objects.kind_of(tip) == "tag":
        try:
            return read_tag(history.objects.read(tip, "tag").content)
        except (KeyError, Damaged) as error:
            history.problems[tip] = f"the tag cannot be read: {error}"
    return tip


def _line(history: History, kind: str, name: str, tip: str, claimed: set[str]) -> Line:
    commits: list[str] = []
    seen: set[str] = set()
    at = tip
    while at and at not in claimed and at not in seen:
        commit = history.commit(at)
        if commit is None:
            return Line(kind, name, commits[::-1], "", at)
        seen.add(at)
        commits.append(at)
        at = commit.parents[0] if commit.parents else ""
    return Line(kind, name, commits[::-1], at if at in claimed else "")


def _unknown_tips(history: History, claimed: set[str]) -> Iterator[str]:
    """Commits among the objects that nothing leads to, those first that have no other above."""
    left = [id for id in history.objects.ids("commit") if id not in claimed]
    loose = {id: commit for id in left if (commit := history.commit(id)) is not None}
    parents = {parent for commit in loose.values() for parent in commit.parents}
    yield from (id for id in loose if id not in parents)
    yield from (id for id in loose if id in parents and id not in claimed)
