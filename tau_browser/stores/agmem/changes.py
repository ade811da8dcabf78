"""What each commit changed: files that are not as any of its parents has them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum

from tau_browser.stores.agmem.history import History
from tau_browser.stores.agmem.packs import Damaged

_KEPT = 4  # trees: a line of history needs the last one, a merge one more

Files = dict[str, str]
"""Ids of blobs by path below `current/`."""


class Way(StrEnum):
    """How a file differs from what a commit's parents hold."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Change:
    """One file. `blob`: its id, of the last parent's where it was deleted."""

    path: str
    blob: str
    way: Way


@dataclass
class Changes:
    """Works out what commits changed; `problems`: (commit id, reason) where that cannot be told."""

    history: History
    problems: dict[str, str] = field(default_factory=dict)
    worked_out: int = 0  # commits
    _files: OrderedDict[str, Files] = field(default_factory=OrderedDict)

    def of(self, commit_id: str) -> list[Change]:
        """The changes of a commit. What a merge took over from its other parents is no change."""
        self.worked_out += 1
        now = self.files(commit_id)
        commit = self.history.commits[commit_id]
        before = [self.files(parent) for parent in commit.parents]
        if not before:
            return [Change(path, blob, Way.ADDED) for path, blob in now.items()]
        changes = []
        first = before[0]
        for path, blob in now.items():
            if first.get(path) != blob:
                olds = [files.get(path) for files in before]
                if blob not in olds:
                    way = Way.CHANGED if any(olds) else Way.ADDED
                    changes.append(Change(path, blob, way))
        for path, blob in first.items():
            if path not in now and all(path in files for files in before):
                changes.append(Change(path, blob, Way.DELETED))
        return changes

    def files(self, commit_id: str) -> Files:
        """The files of a commit; {} where they cannot be read."""
        if commit_id in self._files:
            self._files.move_to_end(commit_id)
            return self._files[commit_id]
        files = self._files[commit_id] = self._read(commit_id)
        if len(self._files) > _KEPT:
            self._files.popitem(last=False)
        return files

    def _read(self, commit_id: str) -> Files:
        commit = self.history.commit(commit_id)
        if commit is None:
            return {}
        try:
            entries = self.history.tree(commit)
        except KeyError:
            self.problems[commit_id] = f"its tree {commit.tree[:8]} is not among the objects"
            return {}
        except Damaged as error:
            self.problems[commit_id] = f"its tree {commit.tree[:8]} cannot be read: {error}"
            return {}
        return {
            f"{entry.path}/{entry.name}" if entry.path else entry.name: entry.hash
            for entry in entries
        }
