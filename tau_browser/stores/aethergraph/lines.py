"""Files of JSON and of lines of JSON, as a crash or a careless hand may leave them.

aethergraph itself stops at the first torn or blank line. Here each is one finding, with its line,
its byte and what it holds; all others are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tau_browser.model.diagnostic import Severity
from tau_browser.model.heads import Found, Unreadable, describe, find_values
from tau_browser.stores.aethergraph.records import Damage, Json, Read, Spot, Stored
from tau_browser.stores.files import words_of

_KEPT = 2000  # characters of a damaged line
_decode = msgspec.json.Decoder(dict[str, Any]).decode

Value = TypeVar("Value")


def read_lines(root: Path, file: str) -> Read:
    """The objects in a file of lines. A file that is not there holds none."""
    read = Read()
    make = lambda line, spot: Stored(_decode(line), spot)  # noqa: E731
    read.values, read.damage = lines_as(root, file, make, Stored)
    return read


def lines_as(
    root: Path,
    file: str,
    make: Callable[[bytes, Spot], Value],
    make_of: Callable[[Json, Spot], Value],
) -> tuple[list[Value], list[Damage]]:
    """What the lines of a file hold, each made by `make`, and what could not be read.

    Where that raises DecodeError, the objects found in the line are handed to `make_of`.
    """
    values: list[Value] = []
    damage: list[Damage] = []
    try:
        data = (root / file).read_bytes()
    except FileNotFoundError:
        return values, damage
    except OSError as error:
        return values, [Damage(Spot(file), words_of(error), Severity.UNREADABLE)]
    byte = 0
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        spot = Spot(file, number, byte)
        try:
            values.append(make(line, spot))
        except (msgspec.DecodeError, RecursionError):
            is_last = number == len(lines)
            if line.strip() or not is_last:
                found, odd = _odd_line(line, spot, is_last)
                values += [make_of(value, spot) for value in found]
                damage += odd
        byte += len(line) + 1
    return values, damage


def file_lines(root: Path, file: str) -> bytes | None:
    """The bytes of a file; None where it cannot be read."""
    try:
        return (root / file).read_bytes()
    except OSError:
        return None


def read_object(root: Path, file: str) -> Stored | Damage | None:
    """The object that is a whole file; None where there is no such file."""
    spot = Spot(file)
    try:
        data = (root / file).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        return Damage(spot, words_of(error), Severity.UNREADABLE)
    for found in find_values(data):
        if isinstance(found, Unreadable):
            return Damage(spot, found.reason, Severity.UNREADABLE, _text(data))
        if not isinstance(found.value, dict):
            reason = f"{describe(found.value)}, not an object"
            return Damage(spot, reason, Severity.UNREADABLE, _text(data))
        return Stored(found.value, spot)
    return Damage(spot, "the file is empty", Severity.UNREADABLE)


def read_objects(root: Path, files: Iterator[str]) -> Read:
    """The objects of files that hold one each."""
    read = Read()
    for file in files:
        match read_object(root, file):
            case Stored() as stored:
                read.values.append(stored)
            case Damage() as damage:
                read.damage.append(damage)
    return read


def files_in(root: Path, folder: str, pattern: str = "*") -> Iterator[str]:
    """The files of a folder whose names are like this, by name, as seen from the workspace."""
    try:
        found = sorted(path for path in (root / folder).glob(pattern) if path.is_file())
    except OSError:
        return
    for path in found:
        yield os.path.relpath(path, root)


def folders_in(root: Path, folder: str) -> list[str]:
    """The names of the folders in a folder."""
    try:
        with os.scandir(root / folder) as items:
            return sorted(item.name for item in items if item.is_dir())
    except OSError:
        return []


def _odd_line(line: bytes, spot: Spot, is_last: bool) -> tuple[list[Json], list[Damage]]:
    """The objects in a line that is not plainly one, and a word on all else in it."""
    if not line.strip():
        return [], [Damage(spot, "a blank line: aethergraph stops here", Severity.NOTE)]
    values: list[Json] = []
    damage: list[Damage] = []
    for found in find_values(line):
        if isinstance(found, Found) and isinstance(found.value, dict):
            values.append(found.value)
            if found.harm:
                damage.append(Damage(spot, found.harm, Severity.DAMAGE))
        elif isinstance(found, Found):
            reason = f"{describe(found.value)}, not an object"
            damage.append(Damage(spot, reason, Severity.UNREADABLE, _text(line)))
        elif is_last:
            reason = f"the last line is incomplete ({len(line):,} bytes): still being written"
            damage.append(Damage(spot, reason, Severity.PENDING, _text(line)))
        else:
            damage.append(Damage(spot, found.reason, Severity.UNREADABLE, _text(line)))
    if len(values) > 1:
        reason = f"{len(values)} objects on one line: aethergraph stops here"
        damage.append(Damage(spot, reason, Severity.DAMAGE))
    return values, damage


def _text(data: bytes) -> str:
    return data[: 4 * _KEPT].decode("utf-8", "replace")[:_KEPT]
