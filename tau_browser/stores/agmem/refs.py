"""What points into a repository's history: HEAD, branches, tags, remotes, stashes, the reflog."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, field

from tau_browser.stores.agmem.objects import bytes_at, is_id
from tau_browser.stores.agmem.packs import Damaged
from tau_browser.stores.files import words_of

_HEAD_REF = "ref: refs/heads/"
# A message is written as it is, so an entry may go on for lines.
_MOVE = re.compile(r"([0-9a-f]{64}) ([0-9a-f]{64}) (\S+) (.*)")
_NOTHING = "0" * 64


@dataclass(frozen=True, slots=True)
class Move:
    """A line of the reflog: HEAD came to `new`. `message` in full."""

    new: str
    time: str
    message: str


@dataclass(frozen=True, slots=True)
class Refs:
    """branch: the name that HEAD points to, or "" · detached: the commit that it points to
    instead, or "" · branches, tags, remotes: names to ids, "" for an unborn branch ·
    stashes: (id, message), the newest first · problems: (path, reason)."""

    branch: str = ""
    detached: str = ""
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    remotes: dict[str, str] = field(default_factory=dict)
    stashes: list[tuple[str, str]] = field(default_factory=list)
    reflog: list[Move] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The commit that HEAD leads to; "" if there is none yet."""
        return self.detached or self.branches.get(self.branch, "")


def refs_of(mem: str) -> Refs:
    """The refs below a folder `.mem`."""
    problems: list[tuple[str, str]] = []
    branch, detached = _head(f"{mem}/HEAD", problems)
    return Refs(
        branch=branch,
        detached=detached,
        branches=_named(f"{mem}/refs/heads", problems),
        tags=_named(f"{mem}/refs/tags", problems),
        remotes=_named(f"{mem}/refs/remotes", problems),
        stashes=_stashes(f"{mem}/stash", problems),
        reflog=_reflog(f"{mem}/logs/HEAD", problems),
        problems=problems,
    )


def _head(path: str, problems: list[tuple[str, str]]) -> tuple[str, str]:
    text = _text(path, problems).strip()
    if text.startswith(_HEAD_REF):
        return text.removeprefix(_HEAD_REF), ""
    if is_id(text):
        return "", text
    problems.append((path, "names neither a branch nor a commit"))
    return "", ""


def _named(folder: str, problems: list[tuple[str, str]]) -> dict[str, str]:
    found = {}
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            value = _text(path, problems).strip()
            if value and not is_id(value):
                problems.append((path, "holds no commit id"))
            else:
                found[os.path.relpath(path, folder)] = value
    return found


def _stashes(path: str, problems: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if not (text := _text(path, problems, missing_is_fine=True)):
        return []
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        problems.append((path, "not a JSON list: stashes cannot be told"))
        return []
    found = []
    for item in listed:
        if isinstance(item, dict) and is_id(item.get("hash")):
            found.append((item["hash"], str(item.get("message", ""))))
        else:
            problems.append((path, "an item without a commit id: left out"))
    return found


def _reflog(path: str, problems: list[tuple[str, str]]) -> list[Move]:
    moves: list[Move] = []
    lines: list[str] = []
    for line in _text(path, problems, missing_is_fine=True).split("\n"):
        if found := _MOVE.fullmatch(line):
            new, _, time, message = found.groups()
            moves.append(Move("" if new == _NOTHING else new, time, message))
            lines = [message]
        elif moves:
            lines.append(line)
            moves[-1] = Move(moves[-1].new, moves[-1].time, "\n".join(lines).rstrip())
        elif line.strip():
            problems.append((path, "begins with what is no entry"))
    return moves


def _text(path: str, problems: list[tuple[str, str]], *, missing_is_fine: bool = False) -> str:
    try:
        return bytes_at(path).decode("utf-8", "replace")
    except FileNotFoundError:
        if not missing_is_fine:
            problems.append((path, "is not there"))
    except OSError as error:
        problems.append((path, words_of(error)))
    except Damaged as error:
        problems.append((path, str(error)))
    return ""


def session_id(root: str) -> str:
    """The id of a repository as a session: that of the first commit that its reflog tells, so that
    it stays the same when the folder is moved; else one made of its place."""
    try:
        first = bytes_at(f"{root}/.mem/logs/HEAD")[:64].decode("ascii", "replace")
    except (OSError, Damaged):
        first = ""
    if not is_id(first):
        first = hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()
    return f"agmem-{first[:12]}"
