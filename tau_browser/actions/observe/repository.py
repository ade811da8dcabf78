"""A repository of agmem's as it is written: objects, one branch, and the records beside it.

Nothing is staged, and no file of anybody else is taken along: a commit is the last one with the
files of its observations added (agmem commits whatever lies in `current/`, or drops what is not
staged).
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tau_browser.actions.disk import told
from tau_browser.actions.observe.disk import TEMPORARY, append, make_folder, put
from tau_browser.actions.observe.signing import Signer, has_public_key
from tau_browser.stores.agmem.beside import Beside
from tau_browser.stores.agmem.history import History
from tau_browser.stores.agmem.integrity import merkle_root
from tau_browser.stores.agmem.origin import Repository, is_repository
from tau_browser.stores.agmem.packs import Damaged
from tau_browser.stores.agmem.refs import refs_of
from tau_browser.stores.store import StoreError

_FOLDERS = ("episodic", "semantic", "procedural", "checkpoints", "session-summaries")
_NOTHING = "0" * 64


@dataclass(frozen=True, slots=True)
class Made:
    """A commit that is not in the history yet."""

    id: str
    content: bytes
    branch: str
    parent: str  # "" for the first
    time: str
    message: str


class Target:
    """The repository at a folder. Whatever the system complains of is a StoreError."""

    def __init__(self, root: Path, key: bytes | None = None) -> None:
        """key: the private one that commits are signed with, as PEM."""
        self.root = root
        self.mem = root / ".mem"
        self._key = key
        self._signer: Signer | None = None

    def prepare(self) -> None:
        """Make it if the folder is empty or not there; refuse what must not be written to."""
        if not self.require_usable():
            self._create()
            self.branch()
            self._take_key()

    def require_usable(self) -> bool:
        """Whether it is there already. Raises StoreError where it must not be written to, or
        cannot be made; touches nothing."""
        if not is_repository(str(self.root)):
            with told(self.root):
                if self.root.exists() and not self._is_unfinished():
                    raise StoreError(
                        f"{self.root}: no repository of agmem's and not empty: `agmem init` it, "
                        "or name a folder that is not there yet"
                    )
            return False
        beside = Beside(str(self.root))
        encryption = beside.config().get("encryption")
        if isinstance(encryption, dict) and encryption.get("enabled"):
            raise StoreError(f"{self.root}: its objects are encrypted: only agmem can write them")
        if beside.conflicts():
            raise StoreError(f"{self.root}: a merge is not finished: resolve and commit it first")
        self.branch()
        self._take_key()
        return True

    @property
    def lacks_key(self) -> bool:
        """Whether its commits should be signed, and cannot be."""
        return self._key is None and has_public_key(self.mem)

    def introduce_key(self) -> None:
        """Let agmem know the key that commits are signed with. For who holds the lock."""
        if self._signer is not None:
            self._signer.introduce()

    def clear(self) -> None:
        """Delete what kills left of files that were being written. For who holds the lock."""
        with told(self.root):
            for where, _, names in os.walk(self.root):
                for name in names:
                    if name.startswith(TEMPORARY):
                        os.unlink(os.path.join(where, name))

    def branch(self) -> tuple[str, str]:
        """The branch that HEAD names and its last commit, "" for none. Raises StoreError."""
        refs = refs_of(str(self.mem))
        if not refs.branch or refs.branch.startswith("/") or ".." in refs.branch.split("/"):
            raise StoreError(f"{self.root}: HEAD is on no branch: `agmem checkout` one first")
        return refs.branch, refs.branches.get(refs.branch, "")

    def history(self) -> History:
        """Its commits as they stand now."""
        return Repository(str(self.root)).history()

    def author(self) -> str:
        """Who commits, as its configuration says."""
        author = Beside(str(self.root)).config().get("author")
        told = author if isinstance(author, dict) else {}
        name, email = told.get("name", "Agent"), told.get("email", "agent@example.com")
        return f"{name} <{email}>"

    def store(self, kind: str, content: bytes) -> str:
        """Put an object in place, unless it is there; returns its id."""
        whole = b"%s %d\0" % (kind.encode(), len(content)) + content
        object_id = hashlib.sha256(whole).hexdigest()
        path = self.mem / "objects" / kind / object_id[:2] / object_id[2:]
        with told(path):
            if not path.exists():
                put(path, zlib.compress(whole))
        return object_id

    def keep(self, path: str, content: bytes) -> None:
        """Put a file into `current/`. Raises StoreError where a link would lead out of it."""
        full = self.root / "current" / path
        with told(full):
            for folder in full.parents:
                if folder == self.root:
                    break
                if folder.is_symlink():
                    raise StoreError(f"{folder}: a link: nothing is written through it")
            if not full.exists() or full.read_bytes() != content:
                put(full, content)

    def make(
        self, files: dict[str, bytes], message: str, metadata: dict[str, Any], time: str
    ) -> Made:
        """The next commit, its files and tree stored, itself not yet. Raises StoreError."""
        branch, parent = self.branch()
        blobs = {path: self.store("blob", content) for path, content in files.items()}
        tree = {**self._files(parent), **blobs}
        entries = [
            {
                "mode": "100644",
                "type": "blob",
                "hash": blob,
                "name": path.rpartition("/")[2],
                "path": path.rpartition("/")[0],
            }
            for path, blob in tree.items()
        ]
        content = _json({"type": "tree", "entries": entries})
        root = merkle_root(tree.values())
        metadata = {**metadata, "merkle_root": root}
        if self._signer is not None:
            metadata["signature"] = self._signer.sign(root)
        commit = {
            "type": "commit",
            "tree": self.store("tree", content),
            "parents": [parent] if parent else [],
            "author": self.author(),
            "timestamp": time,
            "message": message,
            "metadata": metadata,
        }
        made = _json(commit)
        digest = hashlib.sha256(b"commit %d\0" % len(made) + made).hexdigest()
        return Made(digest, made, branch, parent, time, message)

    def advance(self, made: Made) -> bool:
        """Put a commit on its branch; False if the branch went another way meanwhile. Doing it
        again changes nothing."""
        ref = self.mem / "refs" / "heads" / made.branch
        branches = refs_of(str(self.mem)).branches
        now = branches.get(made.branch, "")
        if now not in (made.parent, made.id):
            return False
        self.store("commit", made.content)
        with told(ref):
            if now != made.id:
                put(ref, f"{made.id}\n".encode())
        return True

    def record(self, made: Made, session: str, count: int) -> None:
        """Tell of a commit in the reflog and in the audit log, each once."""
        log = self.mem / "logs" / "HEAD"
        subject = made.message.partition("\n")[0]
        line = f"{made.id} {made.parent or _NOTHING} {made.time} commit: {subject}\n"
        if all(move.new != made.id for move in refs_of(str(self.mem)).reflog):
            with told(log):
                append(log, line.encode("utf-8", "replace"))
        self.audit("commit", {"commit": made.id, "message": made.message}, made.time)
        told_of = {"session_id": session, "commit_hash": made.id, "observations_count": count}
        self.audit("daemon_commit", told_of, made.time)

    def audit(self, operation: str, details: dict[str, Any], time: str) -> None:
        """Add an entry to the audit log, unless it is there."""
        log = self.mem / "audit" / "log"
        payload = {"details": details, "operation": operation, "timestamp": time}
        before = ""
        with told(log):
            lines = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
            for line in lines:
                hash_, tab, text = line.partition(b"\t")
                if not tab:
                    continue
                before = hash_.decode("ascii", "replace")
                if _says(text, payload):
                    return
            text = _json({**payload, "prev_hash": before})
            entry = hashlib.sha256(before.encode() + text).hexdigest()
            append(log, f"{entry}\t".encode() + text + b"\n")

    def _take_key(self) -> None:
        if self._key is not None:
            self._signer = Signer(self._key, self.mem)

    def _files(self, commit_id: str) -> dict[str, str]:
        if not commit_id:
            return {}
        history = self.history()
        commit = history.commit(commit_id)
        try:
            if commit is None:
                raise Damaged(history.problems.get(commit_id, "not there"))
            entries = history.tree(commit)
        except (KeyError, Damaged) as error:
            raise StoreError(
                f"{self.root}: commit {commit_id[:8]} cannot be built upon: {error}"
            ) from error
        return {f"{at.path}/{at.name}" if at.path else at.name: at.hash for at in entries}

    def _create(self) -> None:
        with told(self.root):
            for folder in _FOLDERS:
                make_folder(self.root / "current" / folder)
            for folder in ("objects", "staging", "refs/heads", "refs/tags", "refs/remotes"):
                make_folder(self.mem / folder)
            put(self.mem / "refs" / "heads" / "main", b"")
            put(self.mem / "HEAD", b"ref: refs/heads/main\n")
            put(self.mem / "config.json", json.dumps(_CONFIG, indent=2).encode())  # it is one now

    def _is_unfinished(self) -> bool:
        """Whether a folder holds nothing, or no more than a kill left of a repository."""
        if not self.root.is_dir():
            return False
        files = [
            os.path.relpath(os.path.join(where, name), self.root)
            for where, _, names in os.walk(self.root)
            for name in names
            if not name.startswith(TEMPORARY)
        ]
        return {name.name for name in self.root.iterdir()} <= {".mem", "current"} and (
            set(files) <= {".mem/HEAD", ".mem/refs/heads/main"}
        )


_CONFIG = {
    "author": {"name": "tau-browse", "email": "tau-browse@localhost"},
    "core": {"default_branch": "main", "compression": True, "gc_prune_days": 90},
    "memory": {
        "auto_summarize": True,
        "summarizer_model": "default",
        "max_episode_size": 1024 * 1024,
        "consolidation_threshold": 100,
    },
}


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _says(text: bytes, payload: dict[str, Any]) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and all(value.get(name) == payload[name] for name in payload)
