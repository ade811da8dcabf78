"""How pi reads its sessions, as told by its own documents.

It goes on at the last entry of the file, whatever that is, and takes the context from there up to
the root, from the last compaction on. Its first format has no ids: entries follow each other, and a
compaction counts lines.
"""

from __future__ import annotations

import uuid

import numpy as np

from tau_browser.actions.draft import Draft, line_of, session_in
from tau_browser.actions.journal import now
from tau_browser.actions.making import nameless, new_entry
from tau_browser.actions.plan import Refusal
from tau_browser.actions.programs.foreign import ForeignRules
from tau_browser.actions.reading import Reading
from tau_browser.model.columns import Bools, Flag, Int32s
from tau_browser.model.format import is_linear
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.stores.pi.format import PI

_VERSION = 3
"""The newest format whose rules are known here."""
_FIELDS = ("firstKeptEntryId", "fromId", "targetId")
_KINDS = ("compaction", "branch_summary", "customEntry")  # a label is a custom entry here


class PiRules(ForeignRules):
    """Rules for all versions of its format."""

    program = "pi"
    first_kept = "firstKeptEntryId"

    def unfit(self, reading: Reading) -> list[Refusal]:
        session = reading.session
        version = session.header.get("version", 1)
        if not session.id:
            return [Refusal("the session has no header with an id: pi would begin it anew")]
        if not isinstance(version, int) or version > _VERSION:
            return [Refusal(f"written by a newer pi (format {version}): its rules are not known")]
        return []

    def unsound(self, session: Session, kept: Bools) -> list[Refusal]:
        refusals = super().unsound(session, kept)
        if not is_linear(session.header):
            return refusals + nameless(session, kept, self.program)
        count = int(kept.sum())
        if not kept[:count].all():
            reason = (
                "pi's first format has no ids, and only the beginning of a session can be copied"
            )
            refusals.append(Refusal(f"{reason}: opened in pi once, it is brought up to date"))
        return refusals

    def goes_on_at(self, session: Session, place: int) -> bool:
        return is_linear(session.header) or not session.has(place, Flag.NO_ID)

    def with_own(self, session: Session, places: Int32s, end: int | None) -> Int32s:
        """With the labels on them, which count wherever in the file they stand."""
        kept = np.zeros(len(session), np.bool_)
        kept[places] = True
        for place in session.places_of_kind("customEntry"):
            record = self.stored(session, place)
            if record.get("type") == "label":
                kept[place] |= any(kept[at] for at in session.find(str(record.get("targetId"))))
        return np.flatnonzero(kept).astype(np.int32)

    def layout(self, session: Session, places: Int32s, end: int | None) -> list[int]:
        """In the order of the file, the end last."""
        return sorted(places.tolist(), key=lambda place: (place == end, place))

    def references(self, record: Record) -> dict[str, str]:
        found = {name: record.get(name) for name in _FIELDS}
        return {name: value for name, value in found.items() if isinstance(value, str)}

    def with_reference(self, record: Record, field: str, target: str | None) -> Record:
        """A summary of a branch that is not there is one from the root, as pi itself has it."""
        return record | {field: "root" if field == "fromId" and target is None else target}

    def referrers(self, session: Session) -> list[int]:
        return np.flatnonzero(session.kinds.where(session.columns.kind, *_KINDS)).tolist()

    def own_header(self, session: Session) -> Record:
        return {name: value for name, value in session.header.items() if name != "parent"}

    def header(self, reading: Reading, cwd: str | None) -> Record:
        """The header of the source with an id, a time and a parent of its own."""
        header = {"cwd": ""} | self.own_header(reading.session)
        parent = "branchedFrom" if is_linear(header) else "parentSession"
        new = {"id": str(uuid.uuid4()), "timestamp": now(), parent: reading.read.path}
        return header | new | ({"cwd": cwd} if cwd else {})

    def reopens(self, session: Session) -> str:
        return "pi reopens it: pi --session FILE"

    def name_line(self, result: Session, name: str) -> bytes:
        entry = new_entry(result, "session_info", result.leaf, name=name)
        if is_linear(result.header):
            del entry["id"], entry["parentId"]
        return line_of(entry)

    def read(self, draft: Draft, header: Record) -> Session:
        return session_in(draft, PI)


PI_RULES = PiRules()
