"""The capture itself: what is pending, what is committed, and how a kill is survived.

An observation is first a line of the crash buffer, on the disk before anything else is done with
it; then its files are in `current/`; then a commit holds it. Commits tell the ids of what they
hold. A commit is carried out by steps that may be done again: it is written down as planned before
the first of them, and what a kill left undone is done at the next start. What is pending is what
the buffer holds and no commit of the branches does, so nothing is lost and nothing doubled.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tau_browser import __version__
from tau_browser.actions.disk import told
from tau_browser.actions.observe.disk import append, put
from tau_browser.actions.observe.files import files_of
from tau_browser.actions.observe.lock import Lock
from tau_browser.actions.observe.repository import Made, Target
from tau_browser.stores.agmem.history import History
from tau_browser.stores.agmem.records import Observation, read_pending
from tau_browser.stores.store import StoreError

_LISTED = 10  # observations that a message names, as agmem's
_BY = "tau-browse"


@dataclass
class Counts:
    """captured: written to the buffer by this run · known: met again · recovered: found in the
    buffer at the start · commits: ids of those made."""

    captured: int
    known: int
    recovered: int
    commits: list[str]


class Capture:
    """Captures into one repository. Use it as a context: leaving it ends the session."""

    def __init__(self, root: Path, key: bytes | None = None) -> None:
        """key: the private one that commits are signed with, as PEM (`signing.private_key`)."""
        self._target = Target(root, key)
        self._lock = Lock(root / ".mem")
        self._buffer = root / ".mem" / "daemon_buffer.jsonl"
        self._session_file = root / ".mem" / "daemon_session.json"
        self._plan = root / ".mem" / "tau-browse-commit.json"
        self._session: dict[str, Any] = {}
        self._known: set[str] = set()
        self._pending: dict[str, Observation] = {}
        self.counts = Counts(0, 0, 0, [])

    @property
    def pending(self) -> int:
        """How many observations wait to be committed."""
        return len(self._pending)

    @property
    def session_id(self) -> str:
        """The id of the session that is captured into."""
        return str(self._session.get("session_id", ""))

    @property
    def lacks_key(self) -> bool:
        """Whether its commits should be signed, and cannot be."""
        return self._target.lacks_key

    @property
    def root(self) -> Path:
        """The folder of the repository."""
        return self._target.root

    def look(self) -> set[str] | None:
        """The ids of what the repository holds already; None where it has to be made. Raises
        StoreError where nothing can be captured into it; touches nothing."""
        if not self._target.require_usable():
            return None
        self._lock.require_free()
        self._refuse_foreign()
        return _committed(self._target.history()) | {each.id for each in self._buffered()}

    def start(self) -> None:
        """Take the repository and finish what a kill left undone. Raises StoreError."""
        self._target.prepare()
        self._lock.take()
        try:
            self._target.clear()
            self._refuse_foreign()
            self._target.introduce_key()
            self._begin_session()
            self._carry_out_plan()
            self._known = _committed(self._target.history())
            for observation in self._buffered():
                if observation.id not in self._known:
                    self._pending[observation.id] = observation
                    self._keep_files(observation)
            self._known |= self._pending.keys()
            self.counts.recovered = len(self._pending)
        except BaseException:
            self._lock.release()
            raise

    def add(self, observation: Observation) -> bool:
        """Capture an observation, unless it is known. Raises StoreError."""
        if observation.id in self._known:
            self.counts.known += 1
            return False
        line = json.dumps(_stored(observation), ensure_ascii=True).encode() + b"\n"
        with told(self._buffer):
            append(self._buffer, line)
        self._known.add(observation.id)
        self._pending[observation.id] = observation
        self._keep_files(observation)
        self.counts.captured += 1
        return True

    def commit(self) -> str:
        """Commit what is pending; the id of the commit, "" if there is nothing. Raises
        StoreError."""
        if not self._pending:
            return ""
        batch = list(self._pending.values())
        files = {path: data for each in batch for path, data in files_of(each).items()}
        metadata = {
            "auto_commit": True,
            "captured_by": f"{_BY} {__version__}",
            "daemon_session_id": self.session_id,
            "observation_count": len(batch),
            "observation_ids": [each.id for each in batch],
        }
        made = self._target.make(files, message_of(batch), metadata, _now())
        plan = {
            "id": made.id,
            "content": base64.b64encode(made.content).decode(),
            "branch": made.branch,
            "parent": made.parent,
            "time": made.time,
            "message": made.message,
            "count": len(batch),
        }
        with told(self._plan):
            put(self._plan, json.dumps(plan).encode())
        if not self._carry_out(made, len(batch)):
            return self.commit()  # the branch went on meanwhile: on top of that, then
        self.counts.commits.append(made.id)
        return made.id

    def end(self) -> None:
        """Commit what is pending, end the session and let go of the repository."""
        try:
            self.commit()
            self._session["ended_at"] = _stamp()
            self._save_session()
        finally:
            self._lock.release()

    def __enter__(self) -> Capture:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    # A commit, step by step

    def _carry_out(self, made: Made, count: int) -> bool:
        """Each of these may have been done before; False if the branch went another way."""
        if not self._target.advance(made):
            self._plan.unlink(missing_ok=True)
            return False
        self._target.record(made, self.session_id, count)
        held = _ids(json.loads(made.content)["metadata"])
        self._drop_from_buffer(held)
        for observation_id in held:
            self._pending.pop(observation_id, None)
        self._session["last_commit_at"] = _stamp()
        self._session["commit_count"] = int(self._session.get("commit_count") or 0) + 1
        self._save_session()
        self._plan.unlink(missing_ok=True)
        return True

    def _carry_out_plan(self) -> None:
        """Finish the commit that a kill interrupted; without its plan none was begun."""
        try:
            plan = json.loads(self._plan.read_bytes())
            made = Made(
                plan["id"],
                base64.b64decode(plan["content"]),
                plan["branch"],
                plan["parent"],
                plan["time"],
                plan["message"],
            )
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self._plan}: cannot be read ({error}); move it away") from error
        if self._carry_out(made, plan["count"]):
            self.counts.commits.append(made.id)

    def _drop_from_buffer(self, ids: set[str]) -> None:
        """Leave only the lines of others; the file goes when none is left, as agmem does it."""
        with told(self._buffer):
            if not self._buffer.exists():
                return
            lines = self._buffer.read_bytes().splitlines(keepends=True)
            left = [line for line in lines if _id_in(line) not in ids]
            if left:
                put(self._buffer, b"".join(left))
            else:
                self._buffer.unlink()

    # What is beside it

    def _keep_files(self, observation: Observation) -> None:
        for path, content in files_of(observation).items():
            self._target.keep(path, content)

    def _buffered(self) -> Iterable[Observation]:
        with told(self._buffer):
            if not self._buffer.exists():
                return []
            lines = self._buffer.read_bytes().split(b"\n")
        return [found for line in lines if (found := _read(line))]

    def _refuse_foreign(self) -> None:
        """agmem's own daemon would count what it left a second time, and so would we."""
        session = self._load_session()
        foreign = len(session.get("observations") or ())
        if self._buffer.exists():
            lines = self._buffer.read_bytes().split(b"\n")
            foreign += sum(_is_foreign(line) for line in lines)
        if foreign:
            raise StoreError(
                f"{self._target.root}: agmem's daemon left {foreign:,} observations uncommitted: "
                "let it commit them, or move .mem/daemon_session.json and daemon_buffer.jsonl away"
            )

    def _begin_session(self) -> None:
        """Go on with a session that a kill interrupted; otherwise a new one."""
        session = self._load_session()
        if not str(session.get("captured_by", "")).startswith(_BY) or session.get("ended_at"):
            session = {
                "session_id": str(uuid.uuid4()),
                "started_at": _stamp(),
                "observations": [],
                "last_commit_at": None,
                "commit_count": 0,
                "captured_by": f"{_BY} {__version__}",
            }
        self._session = session
        self._save_session()

    def _load_session(self) -> dict[str, Any]:
        try:
            value = json.loads(self._session_file.read_bytes())
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def _save_session(self) -> None:
        with told(self._session_file):
            put(self._session_file, json.dumps(self._session, indent=2).encode())


def message_of(batch: list[Observation]) -> str:
    """A commit's message by agmem's template."""
    tools = {each.tool for each in batch}
    if len(tools) == 1:
        subject = f"Auto-commit: {len(batch)} {' '.join(batch[0].tool.split())} observation(s)"
    else:
        subject = f"Auto-commit: {len(batch)} observations from {len(tools)} tools"
    lines = [f"- [{each.memory}] {each.summary or each.tool}" for each in batch[:_LISTED]]
    if len(batch) > _LISTED:
        lines.append(f"... and {len(batch) - _LISTED} more")
    return "\n".join([subject, "", "Captured observations:", *lines])


def _committed(history: History) -> set[str]:
    """The ids of all observations that a commit holds to which a ref leads."""
    return {
        observation_id
        for line in history.lines
        if line.kind != "unreachable"
        for commit_id in line.commits
        for observation_id in _ids(history.commits[commit_id].metadata)
    }


def _ids(metadata: dict[str, Any]) -> set[str]:
    ids = metadata.get("observation_ids")
    return {id for id in ids if isinstance(id, str)} if isinstance(ids, list) else set()


def _stored(observation: Observation) -> dict[str, Any]:
    """An observation as a line of agmem's buffer."""
    return {
        "id": observation.id,
        "timestamp": observation.time,
        "tool_name": observation.tool,
        "arguments": observation.arguments,
        "result": observation.result,
        "memory_type": observation.memory,
        "summary": observation.summary,
        "captured_by": _BY,
        "extra": observation.extra,
    }


def _read(line: bytes) -> Observation | None:
    """The observation that a line of ours holds; None for a line that a kill left torn."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    found = read_pending(value)
    if found is None or value.get("captured_by") != _BY:
        return None
    extra = value.get("extra")
    return Observation(
        found.id,
        found.time,
        found.tool,
        found.arguments,
        found.result,
        found.memory,
        found.summary,
        extra=extra if isinstance(extra, dict) else {},
    )


def _id_in(line: bytes) -> str | None:
    """The id that a line of the buffer tells; "" for what a kill left of one, which held nothing
    yet that was not captured again."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return str(value.get("id")) if isinstance(value, dict) else None


def _is_foreign(line: bytes) -> bool:
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and "id" in value and value.get("captured_by") != _BY


def _now() -> str:
    """The time as agmem's commits tell it."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat() + "Z"


def _stamp() -> str:
    """The time as agmem's sessions tell it."""
    return datetime.now(UTC).isoformat()
