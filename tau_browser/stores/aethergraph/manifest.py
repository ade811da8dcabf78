"""What a snapshot of a corpus says of itself: every file of it, with the hash of its bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tau_browser.stores.aethergraph.lines import read_object
from tau_browser.stores.aethergraph.records import Damage, Json, Stored, list_in, text_in
from tau_browser.stores.verdict import Check, Verdict

FILE = "snapshot.json"
VERSION = 1
_NAMED = 5  # files that a check names


def manifest_of(about: Json, files: dict[str, bytes]) -> bytes:
    """The manifest of files by their paths. about: what else it tells."""
    told = [
        {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for path, data in sorted(files.items())
    ]
    manifest = {"snapshot": VERSION, **about, "files": told}
    return (json.dumps(manifest, indent=1) + "\n").encode("ascii")


def anchor_of(manifest: bytes) -> str:
    """What a person may keep elsewhere, to hold a snapshot against it."""
    return hashlib.sha256(manifest).hexdigest()


def check(root: Path, anchor: str = "") -> tuple[Check, str] | None:
    """Whether a snapshot is what it says, and its anchor; None where there is no snapshot."""
    name = "snapshot"
    match read_object(root, FILE):
        case None:
            return None
        case Damage() as damage:
            return Check(name, Verdict.BROKEN, (f"{FILE}: {damage.reason}",)), ""
        case Stored(manifest, _):
            pass
    faults = list(_faults(root, manifest))
    now = anchor_of((root / FILE).read_bytes())
    if anchor and anchor != now:
        faults.insert(0, f"{FILE} is not the one of the anchor")
    if faults:
        more = len(faults) - _NAMED
        shown = (*faults[:_NAMED], *([f"and {more:,} more"] if more > 0 else []))
        return Check(name, Verdict.BROKEN, shown), now
    return Check(name, Verdict.VERIFIED if anchor else Verdict.UNSIGNED), now


def _faults(root: Path, manifest: Json) -> list[str]:
    """What of a snapshot is gone, changed, or not of it."""
    faults = []
    known = set()
    for each in list_in(manifest, "files"):
        path = text_in(each, "path") if isinstance(each, dict) else ""
        if not path or not _is_inside(root, path):
            faults.append(f"{FILE} names no file: {path or each!r}")
            continue
        known.add(path)
        try:
            data = (root / path).read_bytes()
        except OSError as error:
            faults.append(f"{path}: {(error.strerror or str(error)).lower()}")
            continue
        if hashlib.sha256(data).hexdigest() != each.get("sha256"):
            faults.append(f"{path}: not the bytes that were written")
    there = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    faults += [f"{path}: not of the snapshot" for path in sorted(there - known - {FILE})]
    return faults


def _is_inside(root: Path, path: str) -> bool:
    return (root / path).resolve().is_relative_to(root.resolve())
