"""The history of a repository in τ's lines: branch -> session -> commit -> memory type -> file.

A line of history that parts from another stands under the commit at which it parts; what a merge
took over stands in its own branch, and the merge names the commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tau_browser.model.diagnostic import Severity
from tau_browser.model.payload import Record
from tau_browser.model.text import counted
from tau_browser.stores.agmem.changes import Change, Changes, Way
from tau_browser.stores.agmem.findings import of_commit, of_daemon
from tau_browser.stores.agmem.history import History, Line, sittings
from tau_browser.stores.agmem.packs import Damaged
from tau_browser.stores.agmem.records import Commit, MemoryFile, Observation, read_memory
from tau_browser.stores.agmem.writing import SHORT, STORE, Item, Writer, whole_path

_TOLD = {
    "branch": "branch",
    "HEAD": "HEAD",
    "remote": "remote branch",
    "tag": "tag",
    "stash": "stash",
    "merged": "merged branch",
    "unreachable": "unreachable",
}


class HistoryLines:
    """Puts a history into lines."""

    def __init__(self, writer: Writer, history: History, changes: Changes, config: Record) -> None:
        """config: the configuration of the repository, which the first line of history tells."""
        self._writer = writer
        self._history = history
        self._changes = changes
        self._config = config
        self._refs = _refs_by_commit(history)

    def all(self) -> Iterator[bytes]:
        """All lines of history, HEAD's first: what is committed next goes to its end."""
        for line in self._history.lines:
            yield from self._line(line)
        commits = self._history.commits.values()
        if any(each.session and "captured_by" not in each.metadata for each in commits):
            self._writer.find(of_daemon(), Severity.NOTE, "sessions")

    def _line(self, line: Line) -> Iterator[bytes]:
        says = [line.name]
        if line.kind == "branch" and line.name == self._history.refs.branch:
            says.append("HEAD")
        says.append(counted(len(line.commits), "commit") if line.commits else _empty(line))
        first = self._history.commits[line.commits[0]].timestamp if line.commits else ""
        top, data = self._writer.add(
            f"{line.kind}/{line.name}",
            line.fork or None,
            "branch",
            _TOLD[line.kind],
            " · ".join(says),
            time=first,
            name=line.name,
            config=self._config if line is self._history.lines[0] else None,
        )
        yield data
        if line.lost:
            reason = self._history.problems.get(line.lost, "the commit is not there")
            source = f"commit {line.lost[:SHORT]}"
            self._writer.find(reason, Severity.DAMAGE, source, self._writer.number)
        for group in sittings(self._history, line):
            yield from self._sitting(group, top)

    def _sitting(self, group: list[str], over: str) -> Iterator[bytes]:
        first = self._history.commits[group[0]]
        title = f"{first.session[:SHORT]}" if first.session else "by hand"
        entry, data = self._writer.add(
            f"session/{group[0][:12]}",
            over,
            "sitting",
            "session",
            f"{title} · {counted(len(group), 'commit')}",
            time=first.timestamp,
            session=first.session or None,
        )
        yield data
        for commit_id in group:
            yield from self._commit(commit_id, entry)

    def _commit(self, commit_id: str, over: str) -> Iterator[bytes]:
        commit = self._history.commits[commit_id]
        items = [self._read(change) for change in self._changes.of(commit_id)]
        wholes = _whole_results(items)
        items = [item for item in items if item.change.path not in wholes]
        refs = self._refs.get(commit_id, [])
        title = " ".join([commit_id[:SHORT], commit.subject, *(f"[{ref}]" for ref in refs)])
        entry, data = self._writer.add(
            commit_id,
            over,
            "commit",
            "commit",
            commit.message or "(no message)",
            time=commit.timestamp,
            title=title,
            author=commit.author,
            parents=commit.parents,
            refs=refs or None,
            metadata=commit.metadata or None,
            origin={"store": STORE, "object": commit_id, "path": f"tree {commit.tree}"},
        )
        yield data
        self._tell(commit_id, commit, items)
        for parent in commit.parents[1:]:
            yield self._link(parent, entry, commit)
        yield from self._writer.items(items, entry, commit_id[:12], commit.timestamp, wholes)

    def _tell(self, commit_id: str, commit: Commit, items: Sequence[Item]) -> None:
        """What is wrong with a commit, told at its line."""
        writer, name = self._writer, f"commit {commit_id[:SHORT]}"
        observations = [item.memory for item in items if isinstance(item.memory, Observation)]
        gone = sum(item.change.way is Way.DELETED for item in items)
        for reason in of_commit(commit, observations, gone, _emptied(commit, items)):
            writer.find(reason, Severity.NOTE, name, writer.number)
        altered = self._history.altered
        harms = {
            name: altered.get(commit_id) or self._changes.problems.get(commit_id),
            f"tree {commit.tree[:SHORT]}": altered.get(commit.tree),
        }
        for source, harm in harms.items():
            if harm:
                writer.find(harm, Severity.DAMAGE, source, writer.number)

    def _link(self, parent: str, over: str, commit: Commit) -> bytes:
        """Where the other side of a merge stands in the tree."""
        other = self._history.commit(parent)
        source = commit.metadata.get("source_branch")
        name = f"{source}, " if isinstance(source, str) else ""
        says = other.subject if other else self._history.problems.get(parent, "not there")
        return self._writer.add(
            f"merge/{parent[:12]}",
            over,
            "link",
            "merges",
            f"{name}{parent[:SHORT]}: {says}",
            time=commit.timestamp,
            target=parent,
        )[1]

    def blobs_elsewhere(self) -> Iterator[bytes]:
        """Blobs that stand nowhere in the lines so far: what was staged and never committed, or is
        left of something that is gone."""
        left = [id for id in self._history.objects.ids("blob") if id not in self._writer.blobs]
        if not left:
            return
        title = f"{counted(len(left), 'blob')} in no commit"
        top, data = self._writer.add("blobs", None, "branch", "unreachable", title)
        yield data
        items = [self._read(Change(blob[:SHORT], blob, Way.ADDED)) for blob in left]
        yield from self._writer.items(items, top, "blobs", "", {})

    def _read(self, change: Change) -> Item:
        self._writer.blobs.add(change.blob)
        if change.way is Way.DELETED:
            return Item(change)
        try:
            found = self._history.objects.read(change.blob, "blob")
        except KeyError:
            return Item(change, None, "the blob is not among the objects")
        except Damaged as error:
            return Item(change, None, f"the blob cannot be read: {error}")
        return Item(change, read_memory(change.path, found.content), found.harm)


def _empty(line: Line) -> str:
    if line.lost:
        return f"its commit {line.lost[:SHORT]} cannot be read"
    return f"at {line.fork[:SHORT]}" if line.fork else "no commit yet"


def _refs_by_commit(history: History) -> dict[str, list[str]]:
    """What points to each commit, in words."""
    refs = history.refs
    named: dict[str, list[str]] = {}
    if refs.detached:
        named[refs.detached] = ["HEAD"]
    for name, tip in (*refs.branches.items(), *refs.remotes.items()):
        named.setdefault(tip, []).append(name)
    for name, tip in refs.tags.items():
        named.setdefault(tip, []).append(f"tag {name}")
    return named


def _emptied(commit: Commit, items: Sequence[Item]) -> int:
    """How many files a merge left empty."""
    if len(commit.parents) < 2:
        return 0
    files = (item.memory for item in items if isinstance(item.memory, MemoryFile))
    return sum(not file.text for file in files)


def _whole_results(items: Sequence[Item]) -> dict[str, str]:
    """The whole results that observations of a commit name, by the paths of their files."""
    named = {whole_path(item.memory) for item in items if isinstance(item.memory, Observation)}
    return {
        item.change.path: item.memory.text
        for item in items
        if item.change.path in named and isinstance(item.memory, MemoryFile)
    }
