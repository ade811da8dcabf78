"""What a repository holds beside its history: what was not committed, conflicts, the archive."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tau_browser.stores.agmem.objects import bytes_at
from tau_browser.stores.agmem.packs import Damaged
from tau_browser.stores.agmem.records import Observation, read_pending
from tau_browser.stores.files import words_of

_RECORDS = (
    *("agents", "contributions", "confidence_scores", "sources", "privacy"),
    *("privacy_budget", "alerts", "search_acl", "merkle_root", "encryption", "trust"),
)
"""Files of `.mem` that agmem keeps for itself and that hold no key."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of the repository that is wrong: the path of it, and what."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Pending:
    """Observations that were captured and not committed, each once, the buffer's first.

    in_session, in_buffer: how many each holds · session: id of the daemon's session, "" if unknown.
    """

    observations: list[Observation] = field(default_factory=list)
    in_session: int = 0
    in_buffer: int = 0
    session: str = ""

    @property
    def ids(self) -> set[str]:
        """The ids of the observations."""
        return {observation.id for observation in self.observations}


class Beside:
    """Reads what lies beside the history of the repository at `root`; what cannot be read is among
    `problems`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.mem = f"{root}/.mem"
        self.problems: list[Problem] = []

    def pending(self) -> Pending:
        """What the daemon had not committed when it last wrote."""
        session = self._json("daemon_session.json")
        listed = session.get("observations") if isinstance(session, dict) else None
        kept = [self._pending(item, "daemon_session.json") for item in listed or ()]
        in_session = [item for item in kept if item]
        in_buffer = list(self._buffered())
        each = {item.id: item for item in (*in_session, *in_buffer)}
        if not each and not isinstance(session, dict):
            return Pending()
        name = session.get("session_id") if isinstance(session, dict) else ""
        order = {item.id: None for item in (*in_buffer, *in_session)}
        return Pending(
            [each[id] for id in order],
            len(in_session),
            len(in_buffer),
            name if isinstance(name, str) else "",
        )

    def open_session(self) -> tuple[dict[str, Any], list[Observation]]:
        """The session of agmem's SessionManager, and what it holds; ({}, []) without one."""
        session = self._json("current_session.json")
        if not isinstance(session, dict):
            return {}, []
        listed = session.get("observations")
        kept = [self._pending(item, "current_session.json") for item in listed or ()]
        facts = {name: value for name, value in session.items() if name != "observations"}
        return facts, [item for item in kept if item]

    def conflicts(self) -> list[dict[str, Any]]:
        """The conflicts of a merge that waits for a person."""
        listed = self._json("merge/conflicts.json")
        if not isinstance(listed, list):
            return []
        return [item for item in listed if isinstance(item, dict)]

    def staged(self) -> list[str]:
        """The paths that are staged. Says so where agmem's access log took the index's place."""
        index = self._json("index.json")
        if not isinstance(index, dict):
            return []
        if {"version", "access_log", "recall_cache"} & index.keys():
            self._note(
                "index.json",
                "holds the log of `agmem recall`, not what is staged: "
                "agmem's other commands fail here until it is deleted",
            )
        return sorted(path for path, value in index.items() if isinstance(value, dict))

    def records(self) -> Iterator[tuple[str, Any]]:
        """What agmem keeps for itself, by the name of the file."""
        for name in _RECORDS:
            if (value := self._json(f"{name}.json")) is not None:
                yield f"{name}.json", value
        if (value := self._json("trust/trust.json")) is not None:
            yield "trust/trust.json", value

    def archived(self) -> Iterator[tuple[str, str]]:
        """Files that decay, distill and garden put away: path below the repository, and the path
        below its archive."""
        for folder in (".mem/forgetting", ".mem/archive", "current/archive"):
            for path in self._walk(f"{self.root}/{folder}"):
                yield f"{folder}/{path}", path

    def working(self) -> Iterator[str]:
        """The paths of the files in `current/`, below it."""
        for path in self._walk(f"{self.root}/current"):
            if not path.startswith("archive/"):
                yield path

    def content(self, path: str) -> bytes | None:
        """The bytes of a file below the repository; None if it cannot be read."""
        try:
            return bytes_at(f"{self.root}/{path}")
        except OSError as error:
            self._note(path, words_of(error))
        except Damaged as error:
            self._note(path, str(error))
        return None

    def config(self) -> dict[str, Any]:
        """The configuration of the repository."""
        value = self._json("config.json")
        return value if isinstance(value, dict) else {}

    def lock(self) -> str:
        """What the pid file of the daemon says; "" without one."""
        with contextlib.suppress(OSError, Damaged):
            return bytes_at(f"{self.mem}/daemon.pid")[:100].decode("utf-8", "replace").strip()
        return ""

    def _buffered(self) -> Iterator[Observation]:
        name = "daemon_buffer.jsonl"
        if not os.path.lexists(f"{self.mem}/{name}"):
            return
        for number, line in enumerate((self.content(f".mem/{name}") or b"").split(b"\n"), 1):
            where = f"{name}, line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                if line.strip():
                    self._note(where, "not JSON: agmem skips it without a word")
                continue
            if item := self._pending(value, where):
                yield item

    def _pending(self, record: Any, where: str) -> Observation | None:
        found = read_pending(record)
        if found is None:
            self._note(where, "an item that is no observation: left out")
        return found

    def _json(self, name: str) -> Any:
        """A JSON file of `.mem`; None if there is none, or none that can be read."""
        try:
            return json.loads(bytes_at(f"{self.mem}/{name}"))
        except FileNotFoundError:
            return None
        except OSError as error:
            self._note(name, words_of(error))
        except Damaged as error:
            self._note(name, str(error))
        except (ValueError, RecursionError) as error:
            self._note(name, f"not JSON: {error}")
        return None

    def _walk(self, folder: str) -> Iterator[str]:
        for where, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            below = os.path.relpath(where, folder)
            for name in sorted(names):
                yield name if below == "." else f"{below}/{name}"

    def _note(self, path: str, reason: str) -> None:
        problem = Problem(path, reason)
        if problem not in self.problems:
            self.problems.append(problem)


def blob_id(content: bytes) -> str:
    """The id that a file's bytes have as an object."""
    return hashlib.sha256(b"blob %d\0" % len(content) + content).hexdigest()
