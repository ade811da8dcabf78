"""The integrity of a repository, worked out anew: ids, trees, parents, roots, signatures, log.

agmem's own `verify` and `fsck` pass when bytes, names, parents or messages were changed in place:
they never work out an id again (memory-systems A10).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from tau_browser.model.text import counted
from tau_browser.stores.agmem.audit_log import check_audit_log
from tau_browser.stores.agmem.changes import Changes, Way
from tau_browser.stores.agmem.history import History
from tau_browser.stores.agmem.packs import KINDS, Damaged
from tau_browser.stores.agmem.records import Commit, Observation, TreeEntry, read_memory
from tau_browser.stores.agmem.signatures import Keys, keys_of
from tau_browser.stores.verdict import Check, Report, Verdict

_SHORT = 8
_COVERS = (
    "a signature covers the contents of a commit's files, not their names, nor author, time, "
    "message and parents: those hang by the commit's id alone"
)


@dataclass
class _Audit:
    """The audit of one repository's objects."""

    history: History
    keys: Keys
    harms: dict[tuple[str, str], str] = field(default_factory=dict)  # by kind and id; "" if sound

    def harm(self, object_id: str, kind: str) -> str:
        """What is wrong with an object; "" if nothing is."""
        key = kind, object_id
        if key not in self.harms:
            try:
                self.harms[key] = self.history.objects.read(object_id, kind).harm
            except KeyError:
                self.harms[key] = "it is not there"
            except Damaged as error:
                self.harms[key] = f"it cannot be read: {error}"
        return self.harms[key]

    def commit(self, commit_id: str) -> Check:
        """The verdict on a commit."""
        commit = self.history.commits[commit_id]
        name = f"commit {commit_id[:_SHORT]} {commit.subject}".rstrip()
        if broken := list(self._faults(commit_id, commit)):
            return Check(name, Verdict.BROKEN, tuple(broken), commit_id)
        signature = commit.metadata.get("signature")
        if not signature:
            return Check(name, Verdict.UNSIGNED, (), commit_id)
        verdict, reason = self.keys.judge(str(commit.metadata.get("merkle_root")), str(signature))
        return Check(name, verdict, (reason,) if reason else (), commit_id)

    def _faults(self, commit_id: str, commit: Commit) -> Iterator[str]:
        if harm := self.harm(commit_id, "commit"):
            yield f"its own object: {harm}"
        for parent in commit.parents:
            if self.history.commit(parent) is None:
                yield f"parent {parent[:_SHORT]}: {self.history.problems.get(parent, 'not there')}"
        if harm := self.harm(commit.tree, "tree"):
            yield f"tree {commit.tree[:_SHORT]}: {harm}"
        try:
            entries = self.history.tree(commit)
        except (KeyError, Damaged):
            return
        yield from _bad_names(entries)
        for entry in entries:
            if harm := self.harm(entry.hash, "blob"):
                yield f"blob {entry.hash[:_SHORT]} of {_path(entry)}: {harm}"
        root = commit.metadata.get("merkle_root")
        if root is not None and root != merkle_root(entry.hash for entry in entries):
            yield "merkle root: it is not that of the files in the tree"
        if root is None and commit.metadata.get("signature"):
            yield "signature: there is no merkle root that it could be of"

    def others(self) -> Iterator[Check]:
        """Refs that lead nowhere, and objects that no commit led to."""
        for line in self.history.lines:
            if line.lost and not line.commits:
                reason = self.history.problems.get(line.lost, "not there")
                yield Check(f"{line.kind} {line.name}", Verdict.BROKEN, (reason,))
        objects = self.history.objects
        ids = [(id, kind) for kind in KINDS for id in objects.ids(kind)]
        seen = set(self.harms)
        bad = [
            f"{kind} {object_id[:_SHORT]}: {harm}"
            for object_id, kind in ids
            if (kind, object_id) not in seen and (harm := self.harm(object_id, kind))
        ]
        left = sum((kind, object_id) not in seen for object_id, kind in ids)
        if bad:
            yield Check("objects in no commit", Verdict.BROKEN, tuple(bad))
        elif left:
            yield Check("objects in no commit", Verdict.UNSIGNED, (f"{left:,} of them",))


def audit(root: str, history: History, anchor: str = "") -> Report:
    """The audit of the repository at a folder. anchor: the hash of an entry that its audit log
    must still hold, or ""."""
    checked = _Audit(history, keys_of(f"{root}/.mem"))
    commits = [id for line in history.lines for id in line.commits]
    checks = [checked.commit(commit_id) for commit_id in commits]
    for commit_id, reason in history.problems.items():
        checks.append(Check(f"object {commit_id[:_SHORT]}", Verdict.BROKEN, (reason,)))
    checks += checked.others()
    log, last = check_audit_log(f"{root}/.mem/audit/log", history, anchor)
    checks.append(log)
    remarks = list(_counts(history))
    if any(commit.metadata.get("signature") for commit in history.commits.values()):
        remarks.append(_COVERS)
    for path, reason in (*history.refs.problems, *history.objects.problems):
        remarks.append(f"{path}: {reason}")
    return Report(root, checks, remarks, last)


def merkle_root(blob_ids: Iterable[str]) -> str:
    """The root over the ids of some blobs, sorted; of an odd number the last is its own pair."""
    layer = [_leaf(blob_id) for blob_id in sorted(blob_ids)]
    if not layer:
        return _sha256("empty")
    while len(layer) > 1:
        if len(layer) % 2:
            layer.append(layer[-1])
        layer = [_sha256(layer[at] + layer[at + 1]) for at in range(0, len(layer), 2)]
    return layer[0]


@lru_cache(maxsize=1 << 18)
def _leaf(blob_id: str) -> str:
    return _sha256(blob_id)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _bad_names(entries: list[TreeEntry]) -> Iterator[str]:
    seen: set[str] = set()
    for entry in entries:
        path = _path(entry)
        parts = path.split("/")
        if not entry.name or "/" in entry.name or not {"", ".", ".."}.isdisjoint(parts):
            yield f"tree name {json.dumps(path)}: no file below current/ can be called so"
        if path in seen:
            yield f"tree name {json.dumps(path)}: it stands there twice"
        if entry.type != "blob":
            yield f"tree name {json.dumps(path)}: a {entry.type}, where only files are expected"
        seen.add(path)


def _path(entry: TreeEntry) -> str:
    return f"{entry.path}/{entry.name}" if entry.path else entry.name


def _counts(history: History) -> Iterator[str]:
    """Observation counts against what is there."""
    changes = Changes(history)
    for commit_id, commit in history.commits.items():
        if commit.counted is None:
            continue
        found = 0
        for change in changes.of(commit_id):
            if change.way is not Way.DELETED:
                try:
                    content = history.objects.read(change.blob, "blob").content
                except (KeyError, Damaged):
                    continue
                found += isinstance(read_memory(change.path, content), Observation)
        if found != commit.counted:
            said = counted(commit.counted, "observation")
            yield f"commit {commit_id[:_SHORT]} counts {said}, {found:,} here"
