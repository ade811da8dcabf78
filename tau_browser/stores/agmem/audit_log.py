"""agmem's audit log: a chain of hashes, and whether its end is the end of the history.

Each line is the hash of an entry, a tab, and the entry as JSON; the hash is that of the hash before
it and of the JSON. A chain alone cannot show that its tail was cut, or that all of it was written
anew: the history that is there must stand in it, and a person may keep its last hash elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from tau_browser.stores.agmem.history import History
from tau_browser.stores.agmem.objects import bytes_at
from tau_browser.stores.agmem.packs import Damaged
from tau_browser.stores.files import words_of
from tau_browser.stores.verdict import Check, Verdict

_NAME = "audit log"
_SHORT = 8
_MADE = ("commit", "merge", "daemon_commit")
_NOT_MADE_BY = ("checkout: ", "reset: ", "moving ")


@dataclass(frozen=True, slots=True)
class _Line:
    """An entry: its line in the file, and what it says."""

    number: int
    hash: str
    payload: dict[str, Any]


def check_audit_log(path: str, history: History, anchor: str = "") -> tuple[Check, str]:
    """The verdict on the log, and its last hash ("" if there is none)."""
    try:
        text = bytes_at(path).decode("utf-8", "replace")
    except FileNotFoundError:
        text = ""
    except (OSError, Damaged) as error:
        said = words_of(error) if isinstance(error, OSError) else str(error)
        return Check(_NAME, Verdict.UNKNOWN, (f"it cannot be read: {said}",)), ""
    lines, fault = _chain(text)
    last = lines[-1].hash if lines else ""
    reasons = [fault] if fault else [*_end(lines, history)]
    if anchor and all(line.hash != anchor for line in lines):
        reasons.append(f"its end: {anchor[:_SHORT]}, which you kept, is not in it any more")
    if reasons:
        return Check(_NAME, Verdict.BROKEN, tuple(reasons)), last
    if not lines:
        return Check(_NAME, Verdict.UNKNOWN, ("there is none, and no commit it should tell",)), ""
    said = f"{len(lines):,} entries, the last is {last[:_SHORT]}"
    return Check(_NAME, Verdict.UNSIGNED, (said,)), last


def _chain(text: str) -> tuple[list[_Line], str]:
    """The entries up to the first that does not hold, and what is wrong with that one."""
    lines: list[_Line] = []
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        told, tab, payload = line.partition("\t")
        if not tab:
            return lines, f"line {number}: no hash and entry"
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            return lines, f"line {number}: not JSON"
        if told != hashlib.sha256((before + payload).encode("utf-8", "replace")).hexdigest():
            links = isinstance(value, dict) and value.get("prev_hash") == before
            why = "the entry was changed" if links else "it does not follow the entry before it"
            return lines, f"line {number}: {why}"
        if not isinstance(value, dict) or value.get("prev_hash") != before:
            return lines, f"line {number}: it names another entry before it"
        lines.append(_Line(number, told, value))
        before = told
    return lines, ""


def _end(lines: list[_Line], history: History) -> list[str]:
    """What of the history the log does not tell: then its tail was cut, or it was made anew."""
    told = {str(id) for line in lines for id in _commits_of(line.payload)}
    made = [
        move.new
        for move in history.refs.reflog
        if move.new and not move.message.startswith(_NOT_MADE_BY)
    ]
    known = dict.fromkeys([*made, *([history.refs.head] if history.refs.head else [])])
    missing = [commit_id for commit_id in known if commit_id not in told]
    reasons = []
    if missing:
        first = missing[0][:_SHORT]
        reasons.append(f"its end: {len(missing):,} of the commits are not in it, {first} first")
    lost = [
        line
        for line in lines
        if line.payload.get("operation") in _MADE
        and any(history.commit(str(id)) is None for id in _commits_of(line.payload))
    ]
    if lost:
        reasons.append(f"line {lost[0].number}: it tells of a commit that is not there")
    return reasons


def _commits_of(payload: dict[str, Any]) -> list[Any]:
    details = payload.get("details")
    if not isinstance(details, dict):
        return []
    return [details[name] for name in ("commit", "commit_hash") if name in details]
