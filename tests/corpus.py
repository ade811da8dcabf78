"""Holds real sessions against an index of what is in them: `make corpus CORPUS=DIR`.

DIR/INDEX.tsv has a row per file: `format` (the name of a store, and of its folder in DIR), `path`
(from DIR), `entries`, `roots`, `forks`, `max_depth`; no `entries` where the file is no session.
They are those of the file alone and of the links that it stores, entries with ids only, each id
once; of pi, the header counts as an entry. What this program adds is left out of the comparison:
what sub-agents did in files of their own, sidechains under their calls, results of an answer's
calls in a row, conversations stitched where they were compacted, lines without an id between the
entries around them.

Nothing of a corpus belongs in this project.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from tau_browser.model.columns import Flag
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.adapters import adapter, recognising
from tau_browser.stores.session_file import load_session
from tau_browser.stores.store import Adapter, Listed, StoreError

INDEX = "INDEX.tsv"
_HEADERS = {"pi": 1}
_PARENTS = ("parentUuid", "parentId")


class Shape(NamedTuple):
    """How the tree of a file is."""

    entries: int
    roots: int
    forks: int
    depth: int


def main(argv: Sequence[str] | None = None) -> int:
    """Print what differs, and how many files were opened; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, metavar="DIR", help=f"sessions, and their {INDEX}")
    folder = parser.parse_args(argv).folder.resolve()
    if not (folder / INDEX).is_file():
        parser.error(f"{folder}: there is no {INDEX}")
    with (folder / INDEX).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong = [problem for row in rows for problem in differences(folder, row)]
    wrong += unlisted(folder, rows)
    for problem in wrong:
        print(problem)
    print(f"{len(rows):,} files of {INDEX}, {len(wrong):,} differences")
    return 1 if wrong else 0


def differences(folder: Path, row: dict[str, str]) -> Iterator[str]:
    """What of a file is not as its row says."""
    path, name = str(folder / row["path"]), row["path"]
    kind = adapter(row["format"])
    is_session = kind.is_session(path)
    if row["entries"] not in ("", "0") and is_session and recognising(path) is not kind:
        yield f"{name}: not recognised as {row['format']}"
    if not row["entries"]:
        if is_session:
            yield f"{name}: taken for a session"
        return
    try:
        found = shape(load_session(path, kind.format()), row["format"])
        whole = _opened(kind, path)
    except StoreError as error:
        yield f"{name}: {error}"
        return
    told = Shape(*(int(row[field]) for field in ("entries", "roots", "forks", "max_depth")))
    for field, got, wanted in zip(Shape._fields, found, told, strict=True):
        if got != wanted:
            yield f"{name}: {field} {got:,}, not {wanted:,}"
    if len(whole) + _HEADERS.get(row["format"], 0) < found.entries:
        yield f"{name}: with its other files, it has fewer entries"


def unlisted(folder: Path, rows: list[dict[str, str]]) -> Iterator[str]:
    """The sessions in the folder of each format that no row tells of, or that cannot be listed."""
    known = {row["path"] for row in rows}
    for name in sorted({row["format"] for row in rows}):
        for item in adapter(name)([str(folder / name)], None).scan():
            path = Path(item.path).relative_to(folder).as_posix()
            if not isinstance(item, Listed):
                yield f"{path}: {item.reason}"
            elif path not in known:
                yield f"{path}: not in {INDEX}"


def shape(session: Session, name: str) -> Shape:
    """The shape of a session by the links that its file stores, where entries have ids."""
    named = np.flatnonzero((session.columns.flags & Flag.NO_ID) == 0)
    parents = {place: _stored_parent(session, place) for place in map(int, named)}
    roots = {session.entry_id(place) for place, parent in parents.items() if parent == NOWHERE}
    children = Counter(parents.values())
    del children[NOWHERE]
    return Shape(
        entries=len(session) + _HEADERS.get(name, 0),
        roots=len(roots),
        forks=sum(count > 1 for count in children.values()),
        depth=max(_depths(parents).values()),
    )


def _depths(parents: dict[int, int]) -> dict[int, int]:
    """Entries from the root down; a ring counts from where it is met."""
    depth = {NOWHERE: 0}
    for start in parents:
        path: dict[int, None] = {}
        place = start
        while place not in depth and place not in path:
            path[place] = None
            place = parents[place]
        for at in reversed(path):
            depth[at] = depth.get(parents[at], 0) + 1
    return depth


def _stored_parent(session: Session, place: int) -> int:
    """The entry that the record names as its parent, NOWHERE where it names none that is there."""
    try:
        stored = msgspec.json.decode(session.raw(place))
    except msgspec.DecodeError:
        stored = {}
    told = stored if isinstance(stored, dict) else {}
    names = (told.get(field) for field in _PARENTS)
    found = [at for name in names if isinstance(name, str) for at in session.find(name)]
    return found[0] if found else NOWHERE


def _opened(kind: Adapter, path: str) -> Session:
    """The session as the browser opens it, every entry of it looked at. Raises StoreError."""
    *_, last = kind([path], None).open(path).load()
    assert last.session is not None
    for place in range(len(last.session)):
        last.session.text(place)
    return last.session


if __name__ == "__main__":
    raise SystemExit(main())
