"""An invented store of any size, by chance but the same every time, shaped like agents' sessions.

Kinds of entries and lengths of texts are those of real sessions of pi, from which τ's format
comes: half of the texts have fewer than 130 characters, a tenth more than 1,500, and half of all
bytes are what tools printed. Records are as τ writes them. Words follow Zipf's law. A project has
files, names and paths of its own; its sessions read the same files and log the same things over
and over, with other numbers each time. Nothing stands twice as a whole: there are no forks.
"""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

_SESSION = 250  # entries
_PROJECT = 25  # sessions
_FILES = 30  # of a project
_LONGEST = 20_000  # characters
_NORMAL_P90 = 1.2816
_LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
_LEVELS = ("INFO", "WARNING", "DEBUG", "ERROR")


@dataclass(frozen=True, slots=True)
class _Kind:
    """Of entries: their share in percent, and the characters that half and nine tenths of their
    texts have at most."""

    role: str
    share: int
    half: int
    most: int

    def length(self, rng: random.Random) -> int:
        spread = math.log(self.most / self.half) / _NORMAL_P90
        return min(_LONGEST, 2 + int(rng.lognormvariate(math.log(self.half), spread)))


_KINDS = (
    _Kind("user", 6, 80, 300),
    _Kind("assistant", 21, 85, 500),
    _Kind("thinking", 2, 390, 2100),
    _Kind("call", 36, 135, 1400),
    _Kind("toolResult", 35, 155, 2600),
)


def write_store(folder: Path, entries: int) -> Path:
    """Write about so many entries as sessions below a folder. Kept if they are there."""
    if folder.exists():
        return folder
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    rng = random.Random(5)
    words = _Words(rng)
    project = _Project(rng, words, 0)
    for number in range(entries // _SESSION):
        if number % _PROJECT == 0:
            project = _Project(rng, words, number // _PROJECT)
        path = partial / f"--{project.name.strip('/').replace('/', '-')}--" / f"{number:06}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="ascii") as file:
            for record in _session(rng, project, number):
                file.write(json.dumps(record) + "\n")
    partial.rename(folder)
    return folder


class _Words:
    """Words of which the second comes half as often as the first, the third a third as often."""

    def __init__(self, rng: random.Random, count: int = 40_000) -> None:
        lengths = rng.choices(range(3, 12), [9, 10, 9, 8, 7, 5, 4, 3, 2], k=count)
        self._words = [
            "".join(rng.choices(_LETTERS, range(26, 0, -1), k=length)) for length in lengths
        ]
        self._weights = list(accumulate(1 / rank for rank in range(1, count + 1)))
        self._rng = rng

    def some(self, count: int) -> list[str]:
        """Words by their frequency."""
        return self._rng.choices(self._words, cum_weights=self._weights, k=count)

    def rare(self, count: int) -> list[str]:
        """Words of any frequency alike."""
        return self._rng.choices(self._words, k=count)


class _Project:
    """What sessions in one directory are about: its files and the names in them."""

    def __init__(self, rng: random.Random, words: _Words, number: int) -> None:
        self._rng = rng
        self._words = words
        self.name = f"/work/{words.rare(1)[0]}{number}"
        pairs = zip(words.rare(150), words.some(150), strict=True)
        self._names = [
            rng.choice((f"{one}_{two}", f"{one}{two.title()}", f"{two}_{one}_{two}", one))
            for one, two in pairs
        ]
        folders = words.rare(8)
        self.paths = [f"{rng.choice(folders)}/{name}.py" for name in words.rare(_FILES)]
        self._lines = [line for _ in range(_FILES) for line in self._code(120)]

    def prose(self, length: int) -> str:
        """Sentences in which names of the project are told."""
        words = self._words.some(length // 6 + 1)
        for at in range(5, len(words), 12):
            words[at] = f"`{self._rng.choice(self._names)}`"
        return " ".join(words)[:length]

    def excerpt(self, length: int) -> str:
        """Some lines of a file."""
        at = self._rng.randrange(len(self._lines))
        return "\n".join(self._lines[at : at + length // 35 + 1])[:length]

    def found(self, length: int) -> str:
        """Lines of many files, each with its place."""
        rng = self._rng
        return "\n".join(
            f"{rng.choice(self.paths)}:{rng.randint(1, 400)}: {rng.choice(self._lines).strip()}"
            for _ in range(length // 60 + 1)
        )[:length]

    def log(self, length: int) -> str:
        """What a program of the project said while it ran."""
        rng = self._rng
        return "\n".join(
            f"2026-11-{rng.randint(1, 30):02} {rng.randint(0, 23):02}:{rng.randint(0, 59):02}"
            f" {rng.choice(_LEVELS)} {rng.choice(self._names)} {rng.choice(self._lines).strip()}"
            f" id={rng.getrandbits(40):010x} took {rng.random() * 90:.3f}s"
            for _ in range(length // 110 + 1)
        )[:length]

    def _code(self, count: int) -> Iterator[str]:
        rng = self._rng
        for _ in range(count):
            one, two, three = self._words.some(3)
            name, other = rng.choices(self._names, k=2)
            yield rng.choice(
                (
                    f"        {one} = self.{name}({two}, {three})",
                    f"    def {name}(self, {one}: {two.title()}) -> {three.title()}:",
                    f"        if {one}.{two} is None: raise {other.title()}Error({three})",
                    f"        # {one} {two} {three} {' '.join(self._words.some(4))}",
                    f"from {one}.{two} import {name}, {other}",
                    "",
                )
            )


def _session(rng: random.Random, project: _Project, number: int) -> Iterator[object]:
    header = {"type": "session", "version": 1, "id": f"{number:032x}"}
    yield header | {"timestamp": _stamp(0), "cwd": project.name, "parent": None}
    outputs = (project.excerpt, project.excerpt, project.found, project.log)
    kinds = rng.choices(_KINDS, [kind.share for kind in _KINDS], k=_SESSION)
    parent = None
    for at, kind in enumerate(kinds):
        entry_id = f"{number * _SESSION + at:08x}"
        say = rng.choice(outputs) if kind.role == "toolResult" else project.prose
        message = _message(kind.role, say(kind.length(rng)), rng.choice(project.paths), entry_id)
        envelope = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": _stamp(at)}
        yield envelope | {"message": message}
        parent = entry_id if rng.random() > 0.02 else parent


def _message(role: str, text: str, path: str, entry_id: str) -> dict[str, object]:
    content: list[dict[str, object]] = [{"type": "text", "text": text}]
    if role == "user":
        return {"role": role, "content": content}
    if role == "toolResult":
        of = {"tool_call_id": f"call_{entry_id}", "tool_name": "bash", "is_error": False}
        return {"role": role, "content": content} | of
    if role == "thinking":
        content = [{"type": "thinking", "thinking": text}]
    elif role == "call":
        arguments = {"path": path, "command": text}
        call = {"id": f"call_{entry_id}", "name": "bash", "arguments": arguments}
        content = [{"type": "toolCall"} | call | {"provider_signature": {}}]
    said_by = {"api": "messages", "provider": "invented", "model": "opus"}
    end = {"usage": _USAGE, "stop_reason": "toolUse", "error_message": None}
    return {"role": "assistant", "content": content} | said_by | end


_USAGE = {
    "input_tokens": 2048,
    "output_tokens": 310,
    "cache_read_tokens": 18000,
    "cache_write_tokens": 0,
    "total_tokens": 20358,
}


def _stamp(at: int) -> str:
    return f"2026-11-01T10:{at // 60 % 60:02}:{at % 60:02}.000Z"
