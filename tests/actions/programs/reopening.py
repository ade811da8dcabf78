"""How pi and Claude Code read a session, told once more and naively: the judges of what we write.

pi's rules are those of its documents; Claude Code's are what it was seen to send to the model for
sessions that were written by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def records_in(path: str | Path) -> list[Record]:
    """The lines that a program in JavaScript can parse."""
    found = []
    for line in Path(path).read_bytes().decode("utf-8", "replace").split("\n"):
        try:
            value = json.loads(line, parse_constant=_no_number)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _no_number(name: str) -> None:
    raise ValueError(name)


def pi_entries(path: str | Path) -> tuple[Record, list[Record]]:
    """pi's header, and its entries as it migrates them: with ids and parents."""
    header, *entries = records_in(path)
    assert header["type"] == "session" and isinstance(header["id"], str), "pi would begin it anew"
    assert all(entry["type"] != "session" for entry in entries)
    if "version" not in header:
        above = None
        for at, entry in enumerate(entries):
            entry["id"], entry["parentId"], above = f"n{at}", above, f"n{at}"
        for entry in entries:
            if "firstKeptEntryIndex" in entry:
                kept = entries[entry["firstKeptEntryIndex"] - 1]
                entry["firstKeptEntryId"] = kept["id"]
    assert all(isinstance(entry["id"], str) for entry in entries)
    return header, entries


def pi_path(entries: list[Record], leaf: str | None = None) -> list[Record]:
    """The entries from the root to the leaf, which is the last of the file unless it is given."""
    by_id = {entry["id"]: entry for entry in entries}
    path, current = [], by_id[leaf] if leaf else entries[-1]
    while current:
        path.insert(0, current)
        assert len(path) <= len(entries), "a ring"
        current = by_id.get(current["parentId"])
    return path


def pi_context(path: list[Record]) -> list[Any]:
    """What the model is sent, in pi's words."""
    anchors = [at for at, entry in enumerate(path) if entry["type"] == "compaction"]
    start = 0
    said: list[Any] = []
    if anchors:
        anchor = path[anchors[-1]]
        said.append(anchor["summary"])
        ids = [entry["id"] for entry in path[: anchors[-1]]]
        first = anchor.get("firstKeptEntryId")
        start = ids.index(first) if first in ids else anchors[-1]
    for entry in path[start:]:
        match entry["type"]:
            case "message":
                said.append(entry["message"])
            case "custom_message":
                said.append(entry.get("content"))
            case "branch_summary" if entry.get("summary"):
                said.append(entry["summary"])
    return said


def pi_name(entries: list[Record]) -> str | None:
    """The newest name in the file."""
    names = [entry.get("name") for entry in entries if entry["type"] == "session_info"]
    return names[-1] if names else None


class ClaudeCode:
    """What Claude Code makes of the lines of a session."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records
        self.rows = [row for row in records if isinstance(row.get("uuid"), str)]
        self.own = {row["uuid"]: row for row in self.rows if not row.get("isSidechain")}

    @property
    def leaf(self) -> str | None:
        """Where it goes on, reading line by line: what it noted itself, unless that led to the last
        line; without any note the newest line under the last; None for an empty conversation."""
        noted, explicit, last, any_note = None, False, "", False
        for record in self.records:
            if record.get("uuid") in self.own and record["type"] != "progress":
                last, explicit = record["uuid"], False
                if record.get("subtype") == "compact_boundary":
                    noted = None
            elif record.get("type") == "last-prompt" and record.get("leafUuid"):
                same = record["leafUuid"] == noted
                explicit = record.get("explicit") is True or (explicit and same)
                noted, any_note = record["leafUuid"], True
            elif record.get("type") == "last-prompt" and record.get("explicit") is True:
                noted, explicit = None, True
        if noted is None and explicit:
            return None
        if noted in self.own and (explicit or noted not in self._leading_to(last)):
            return noted
        newest = max(row["timestamp"] for row in self.own.values())
        if any_note or self.own[last]["timestamp"] == newest:
            return last
        below = [row for uuid, row in self.own.items() if last in self._leading_to(uuid)]
        return str(max(below, key=lambda row: row["timestamp"])["uuid"])

    def _leading_to(self, leaf: str) -> set[str]:
        """The lines on the way to one, and what else belongs to the answers on it."""
        rows = self._up(leaf)
        answers = [row for row in rows if row["type"] == "assistant"]
        beside = [other for row in answers for other in self._of_same_answer(row)]
        return {row["uuid"] for row in [*rows, *beside]}

    def chain(self, leaf: str) -> list[Record]:
        """The lines from a root, or from the last compaction, to the leaf."""
        return self._with_segment(self._up(leaf))

    def _up(self, leaf: str) -> list[Record]:
        chain: list[Record] = []
        current: Record | None = self.own[leaf]
        while current:
            chain.insert(0, current)
            assert len(chain) <= len(self.own), "a ring"
            current = self.own.get(str(current.get("parentUuid")))
        return chain

    def context(self, leaf: str, upto: int | None = None) -> list[tuple[str, Any]]:
        """(role, block) as sent to the model, in the order of the chain, what else belongs to an
        answer after it. upto: of the last answer, only what stands in the first lines."""
        chain = self.chain(leaf)
        said = list(chain)
        last = next((row for row in reversed(chain) if row["type"] == "assistant"), None)
        known = {row["uuid"] for row in chain}
        for row in chain:
            for other in self._of_same_answer(row) if row["type"] == "assistant" else ():
                late = upto is not None and self.rows.index(other) >= upto
                of_last = last is not None and _answer(row) == _answer(last)
                if other["uuid"] not in known and not (late and of_last):
                    known.add(other["uuid"])
                    said.append(other)
        blocks = [
            (row["message"]["role"], block)
            for row in said
            if isinstance(row.get("message"), dict)
            for block in _blocks(row)
        ]
        calls = {block["id"] for _, block in blocks if block.get("type") == "tool_use"}
        done = {block["tool_use_id"] for _, block in blocks if block.get("type") == "tool_result"}
        whole = calls & done
        return [
            (role, block)
            for role, block in blocks
            if block.get("type") not in ("tool_use", "tool_result")
            or block.get("id", block.get("tool_use_id")) in whole
        ]

    def _with_segment(self, chain: list[Record]) -> list[Record]:
        boundary = chain[0]
        segment = (boundary.get("compactMetadata") or {}).get("preservedSegment")
        if not segment:
            return chain
        kept: list[Record] = []
        current = self.own.get(segment["tailUuid"])
        while current:
            kept.insert(0, current)
            if current["uuid"] == segment["headUuid"]:
                ids = [row["uuid"] for row in chain]
                at = ids.index(segment["anchorUuid"]) + 1
                return [*chain[:at], *kept, *chain[at:]]
            current = self.own.get(str(current.get("parentUuid")))
        return chain

    def _of_same_answer(self, row: Record) -> list[Record]:
        parts = [
            other
            for other in self.own.values()
            if other["type"] == "assistant" and _answer(other) == _answer(row)
        ]
        calls = {b["id"] for part in parts for b in _blocks(part) if b.get("type") == "tool_use"}
        results = [
            other
            for other in self.own.values()
            if other["type"] == "user"
            and any(block.get("tool_use_id") in calls for block in _blocks(other))
        ]
        return [*parts, *results]


def _answer(row: Record) -> str:
    return str(row["message"].get("id") or row["uuid"])


def _blocks(row: Record) -> list[Record]:
    content = row["message"].get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]
