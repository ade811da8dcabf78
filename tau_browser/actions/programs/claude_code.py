"""How Claude Code reads its sessions (its schema is its own affair: as seen in what it does).

A session is named by its file. It goes on where its last note says (`stores/claude_code/leaf.py`),
or else at the last entry of the file that is no sub-agent's; without any note, at the newest that
hangs under that. It takes the context from there up to a compaction or a root. An answer may stand
in several lines, and so may the results of the calls in it, each under its own call: whatever
belongs to an answer is in the context, on whichever branch it stands. A call without its result is
left out.

Lines without an id of their own tell of the state of a session: its queue, its mode, the files that
it could rewind. A copy has a state of its own, so of these only those that name it are copied.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tau_browser.actions.draft import Draft, line_of, session_in
from tau_browser.actions.journal import now
from tau_browser.actions.pairs import parted
from tau_browser.actions.plan import Refusal, Refused
from tau_browser.actions.programs.foreign import ForeignRules
from tau_browser.actions.reading import Reading
from tau_browser.model.calls import call_of, is_result
from tau_browser.model.columns import PREVIOUS_KEY, Bools, Flag, Int32s
from tau_browser.model.decoder import FILE_BYTES
from tau_browser.model.payload import Record, message_of
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.claude_code.agents import agent_name
from tau_browser.stores.claude_code.format import CLAUDE_CODE

_NAMES = ("session_info", "ai-title", "agent-name", "summary")
"""Kinds of lines without an id that say what a session is called, or was about."""
_ABOUT = ".meta.json"
"""How the file ends in which the program says what a sub-agent is for."""
_SEGMENT = ("headUuid", "anchorUuid", "tailUuid")
"""What a compaction kept as it was: from the head to the tail, put after the anchor."""
_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*("(?:[^"\\]|\\.)*")')


class ClaudeCodeRules(ForeignRules):
    """Rules for all versions seen."""

    program = "Claude Code"
    first_kept = ""  # no other entry can stand for the head of a segment
    indispensable = tuple(f"preservedSegment.{name}" for name in _SEGMENT)
    moves = False  # it looks in the folder of a project, whose name only it can tell for sure

    def unfit(self, reading: Reading) -> list[Refusal]:
        session, records = reading.session, reading.records
        own = (session.columns.flags & (Flag.NO_ID | Flag.LANE)) == 0
        if not own.any():
            raise Refused("no conversation of its own: Claude Code resumes no sub-agent's")
        if len(records) == len(session):
            return []
        order = np.lexsort((records.parent, records.key))
        key, parent = records.key[order], records.parent[order]
        if ((key[1:] == key[:-1]) & (parent[1:] != parent[:-1])).any():
            reason = "a compaction wrote entries again, under other parents"
            return [Refusal(f"{reason}: Claude Code goes by the last of them, this by the first")]
        return []

    def goes_on_at(self, session: Session, place: int) -> bool:
        return not session.has(place, Flag.NO_ID | Flag.LANE) and session.kind(place) not in (
            "compaction",  # what it kept comes after it
            "progress",
        )

    def unanswered(self, session: Session, path: Int32s) -> list[int]:
        kept = np.zeros(len(session), np.bool_)
        kept[self.with_own(session, path, int(path[-1]))] = True
        return [result for found in parted(session, kept).calls.values() for result in found]

    def with_own(self, session: Session, places: Int32s, end: int | None) -> Int32s:
        """With the other lines of each answer and the results of its calls, and what sub-agents
        did. Of the last answer, only what was written before the end."""
        kept = np.zeros(len(session), np.bool_)
        kept[places] = True
        parent, lane = session.tree.parent, (session.columns.flags & Flag.LANE) != 0
        last = self._last_answer(session, kept) if end is not None else ""
        while True:
            hanging = ~kept & ~lane & (parent != NOWHERE) & kept[parent]
            found = [
                place
                for place in np.flatnonzero(hanging).tolist()
                if (answer := self._answer_that_has(session, place, kept)) is not None
                and (end is None or place < end or answer != last)
            ]
            if not found:
                break
            kept[found] = True
        for place in np.flatnonzero(lane & (parent != NOWHERE) & kept[parent]).tolist():
            start = int(session.tree.position[place])
            kept[session.tree.order[start : start + int(session.tree.size[place])]] = True
        return np.flatnonzero(kept).astype(np.int32)

    def layout(self, session: Session, places: Int32s, end: int | None) -> list[int]:
        """In the order of the file, the end last; after that, what sub-agents wrote in files of
        their own. A copy of all goes on where the session does."""
        columns = session.columns
        kept = np.zeros(len(session), np.bool_)
        kept[places] = True
        if end is None and session.leaf != NOWHERE and kept[session.leaf]:
            later = kept & self._talk(session)
            later[: session.leaf + 1] = False
            end = session.leaf if later.any() else None
        kept &= ((columns.flags & Flag.NO_ID) == 0) | session.kinds.where(columns.kind, *_NAMES)
        for place in np.flatnonzero(session.kinds.where(columns.kind, "summary") & kept).tolist():
            leaf = session.record(place).get("leafUuid")
            kept[place] = any(kept[at] for at in session.find(str(leaf)))
        written = np.flatnonzero(kept)
        is_end = written == (NOWHERE if end is None else end)
        file = columns.start[written] // FILE_BYTES
        order: list[int] = written[np.lexsort((is_end, file))].tolist()
        return order

    # References

    def above(self, record: Record) -> tuple[str, object]:
        """A compaction has no parent, but says where it was made."""
        if record.get("parentUuid") is None and record.get("logicalParentUuid") is not None:
            return "logicalParentUuid", record["logicalParentUuid"]
        return "parentUuid", record.get("parentUuid")

    def holders(self, session: Session) -> Bools:
        held: Bools = session.columns.parent != PREVIOUS_KEY  # nor what only stands between
        return held

    def references(self, record: Record) -> dict[str, str]:
        found = {"sourceToolAssistantUUID": record.get("sourceToolAssistantUUID")}
        if isinstance(segment := _segment(record), dict):
            found |= {f"preservedSegment.{name}": segment.get(name) for name in _SEGMENT}
        return {name: value for name, value in found.items() if isinstance(value, str)}

    def with_reference(self, record: Record, field: str, target: str | None) -> Record:
        return {name: value for name, value in record.items() if name != field or target}

    def referrers(self, session: Session) -> list[int]:
        columns = session.columns
        may = session.kinds.where(columns.kind, "compaction")
        may |= session.roles.where(columns.role, "toolResult")
        return np.flatnonzero(may).tolist()

    # The copy

    def remarks(self, reading: Reading) -> list[str]:
        cwd = reading.session.header.get("cwd")
        folder = os.path.basename(os.path.dirname(reading.read.path))
        if not isinstance(cwd, str) or project_name(cwd) == folder:
            return []
        return [f"{folder} is not the project of {cwd}: Claude Code will not find it"]

    def left_behind(self, session: Session, written: Bools) -> list[str]:
        stays = ~written & ((session.columns.flags & Flag.NO_ID) != 0)
        kinds = sorted({session.kind(at) for at in np.flatnonzero(stays).tolist()} - {*_NAMES})
        said = ", ".join(kinds)
        return [f"not copied, for a copy has a state of its own: {said}"] if kinds else []

    def header(self, reading: Reading, cwd: str | None) -> Record:
        """What the copy is to be called; it is written into every line, for there is no header."""
        header = reading.session.header
        return header | {"id": str(uuid.uuid4()), "timestamp": now(), "parent": reading.session.id}

    def copy(
        self,
        session: Session,
        header: Record,
        places: Iterable[int],
        changed: Mapping[int, Record],
    ) -> Draft:
        places = list(places)
        draft = self._lines(session, header, places, changed)
        if note := self._note(session, places):
            draft.add(line_of(note | {"sessionId": header["id"]}))
        return draft

    def new_session(
        self,
        reading: Reading,
        header: Record,
        places: Iterable[int],
        changed: Mapping[int, Record],
    ) -> Draft:
        """What sub-agents wrote in files of their own is in such files again: below the folder that
        is called after the session, where the program looks for them."""
        session = reading.session
        written: list[list[int]] = [[], *([] for _ in reading.read.others)]
        for place in places:
            written[int(session.columns.start[place]) // FILE_BYTES].append(place)
        draft = self.copy(session, header, written[0], changed)
        for other, lines in zip(reading.read.others, written[1:], strict=True):
            if lines:
                name = f"{header['id']}/subagents/{agent_name(other.path)}"
                draft.beside[name] = self._lines(session, header, lines, changed)
                about = Path(other.path).with_suffix(_ABOUT)
                if about.is_file():
                    beside = draft.beside[str(Path(name).with_suffix(_ABOUT))] = Draft(draft)
                    beside.add(about.read_bytes())
        return draft

    def file_name(self, session: Session) -> str:
        return f"{session.id}.jsonl"

    def reopens(self, session: Session) -> str:
        where = f"as {self.file_name(session)} in the folder of a project"
        return f"Claude Code reopens it {where}: claude --resume {session.id}"

    def name_line(self, result: Session, name: str) -> bytes:
        title = {"type": "custom-title", "customTitle": name, "sessionId": result.id}
        return line_of(title)

    def read(self, draft: Draft, header: Record) -> Session:
        """The lines tell the directory of the first of them; the folder is that of the source."""
        session = session_in(draft, CLAUDE_CODE)
        return replace(session, header=session.header | header)

    def _lines(
        self,
        session: Session,
        header: Record,
        places: Iterable[int],
        changed: Mapping[int, Record],
    ) -> Draft:
        draft = Draft(session.source)
        for place in places:
            if place in changed or not self.can_stay(session, place):
                record = changed.get(place) or self.stored(session, place)
                draft.add(line_of(_renamed(record, session.id, header["id"])))
            else:
                _rename(draft, session, place, header["id"])
        return draft

    def _talk(self, session: Session) -> Bools:
        """The entries at the newest of which the program goes on."""
        columns = session.columns
        talk: Bools = (columns.flags & (Flag.NO_ID | Flag.LANE)) == 0
        return talk & ~session.kinds.where(columns.kind, "progress")

    def _note(self, session: Session, places: list[int]) -> Record | None:
        """What says that the copy goes on at the last of these entries, where newer ones are
        copied, too: of those, the program might take one."""
        talk = self._talk(session)
        written = [place for place in places if talk[place]]
        if not written or written[-1] == max(written):
            return None
        return {"type": "last-prompt", "leafUuid": session.entry_id(written[-1]), "explicit": True}

    def _last_answer(self, session: Session, kept: Bools) -> str:
        answers = np.flatnonzero(kept & session.roles.where(session.columns.role, "assistant"))
        return _answer(session, int(answers[-1])) if len(answers) else ""

    def _answer_that_has(self, session: Session, place: int, kept: Bools) -> str | None:
        """The answer among these entries that an entry under one of them belongs to, if any."""
        if is_result(session, place):
            found = call_of(session, place)
            return _answer(session, found[0]) if found and kept[found[0]] else None
        if session.role(place) != "assistant":
            return None
        answer = _answer(session, place)
        path = session.tree.path(int(session.tree.parent[place]))
        above = path[session.roles.where(session.columns.role[path], "assistant")]
        return answer if len(above) and answer == _answer(session, int(above[-1])) else None


CLAUDE_CODE_RULES = ClaudeCodeRules()


class _Ids(msgspec.Struct):
    sessionId: str = ""
    uuid: str = ""
    forkedFrom: msgspec.Raw | None = None


_decode_ids = msgspec.json.Decoder(_Ids).decode


def project_name(cwd: str) -> str:
    """The name of the folder of a working directory; of a long one it is only the beginning."""
    return re.sub("[^a-zA-Z0-9]", "-", cwd)


def _answer(session: Session, place: int) -> str:
    """The id of the model's answer that an entry is a part of; its own where it tells none."""
    name = message_of(session.record(place)).get("id")
    return name if isinstance(name, str) else session.entry_id(place)


def _segment(record: Record) -> Any:
    data = record.get("compactMetadata")
    return (data if isinstance(data, dict) else record).get("preservedSegment")


def _renamed(record: Record, old: str, new: str) -> Record:
    """A record as one of another session."""
    named = record | {"sessionId": new} if "sessionId" in record else record
    if new == old or "uuid" not in record:
        return named
    return named | {"forkedFrom": {"sessionId": old, "messageUuid": record["uuid"]}}


def _rename(draft: Draft, session: Session, place: int, new: str) -> None:
    """Go on with the bytes of an entry as one of another session."""
    (start, stop), raw = session.columns.row(place), session.raw(place)
    ids = _decode_ids(raw)
    if new == session.id and ids.sessionId in ("", new):
        draft.keep(start, stop)
        draft.add(b"\n")
        return
    named = _SESSION_ID.findall(raw)
    if ids.forkedFrom is not None or len(named) != bool(ids.sessionId):  # told elsewhere, too
        record = CLAUDE_CODE_RULES.stored(session, place)
        draft.add(line_of(_renamed(record, session.id, new)))
        return
    if match := _SESSION_ID.search(raw):
        draft.keep(start, start + match.start(1))
        draft.add(json.dumps(new).encode())
        start += match.end(1)
    if ids.uuid and new != session.id:
        draft.keep(start, stop - 1)
        origin = {"sessionId": session.id, "messageUuid": ids.uuid}
        draft.add(b',"forkedFrom":' + line_of(origin).rstrip() + b"}\n")
    else:
        draft.keep(start, stop)
        draft.add(b"\n")
