"""The rules of τ for copies of sessions, from which those of other programs differ.

A copy is planned in the model's words, and written in the words of its program: what must change in
a line is changed in the record as it is stored, and every other line keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tau_browser.actions.draft import Draft, line_of, session_in
from tau_browser.actions.making import (
    continues,
    foreign,
    fork_header,
    is_strict,
    new_entry,
    unsound,
)
from tau_browser.actions.plan import Refusal
from tau_browser.actions.reading import Reading
from tau_browser.actions.references import references_of, referrers, with_reference
from tau_browser.model.calls import results_of
from tau_browser.model.columns import Bools, Flag, Int32s
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.jmfts.records import FOREIGN


class Rules:
    """How τ reads a session, and what follows for one that is made of another."""

    program = "τ"
    first_kept = "firstKeptId"
    """The field in which a compaction names the entry at which the context resumes."""
    indispensable: tuple[str, ...] = ()
    """Other fields whose entry nothing can stand for."""
    moves = True
    """Whether a copy may go on in another directory."""

    # What may be copied

    def unfit(self, reading: Reading) -> list[Refusal]:
        """Why no copy can be made of the session as it is. Raises Refused where none ever can."""
        return foreign(reading.session)

    def unsound(self, session: Session, kept: Bools) -> list[Refusal]:
        """What is wrong with the entries that would be written, so that they would be misread."""
        return unsound(session, kept)

    def goes_on_at(self, session: Session, place: int) -> bool:
        """Whether the program can go on at an entry (tau-format 2.3)."""
        kind = session.kind(place)
        return (
            kind != "navigate"
            and ":" not in kind
            and not session.has(place, Flag.INCOMPLETE | Flag.NO_ID)
        )

    def unanswered(self, session: Session, path: Int32s) -> list[int]:
        """The results that lie beyond the end of a path and answer calls on it."""
        assistants = path[session.roles.where(session.columns.role[path], "assistant")]
        if not len(assistants):
            return []
        last = int(assistants[-1])  # what came before it, the model went on from
        return [place for place in results_of(session, last).values() if place not in path]

    def with_own(self, session: Session, places: Int32s, end: int | None) -> Int32s:
        """These entries, and what belongs to them: below τ's, or beside all of the conversation,
        what others put there. end: the entry at which the copy is to go on, if it is at one."""
        tree = session.tree
        here = {NOWHERE, *places.tolist()}
        along = []
        foreign = np.asarray(session.places_of_kind(FOREIGN), np.intp)
        for place in foreign[np.argsort(tree.position[foreign])].tolist():
            if place not in here and int(tree.parent[place]) in here:
                here.add(place)
                along.append(place)
        return np.concatenate([places, np.array(sorted(along), np.int32)])

    def layout(self, session: Session, places: Int32s, end: int | None) -> list[int]:
        """Which of these entries are written, and in which order. end: as for `with_own`."""
        order: list[int] = places.tolist()
        return order

    # References

    def stored(self, session: Session, place: int) -> Record:
        """An entry's record as the program stores it."""
        return session.record(place)

    def above(self, record: Record) -> tuple[str, object]:
        """The field in which a record names its parent, and the name."""
        return "parentId", record.get("parentId")

    def holders(self, session: Session) -> Bools:
        """The entries that others can name as their parent."""
        return np.ones(len(session), np.bool_)

    def references(self, record: Record) -> dict[str, str]:
        """The ids that a record refers to besides its parent's, by field."""
        return references_of(record)

    def with_reference(self, record: Record, field: str, target: str | None) -> Record:
        """The record with another id in a field."""
        return with_reference(record, field, target)

    def referrers(self, session: Session) -> list[int]:
        """The places of all entries that may hold a reference."""
        return referrers(session)

    # The copy

    def remarks(self, reading: Reading) -> list[str]:
        """What to know about where a copy of the session will lie."""
        return []

    def left_behind(self, session: Session, written: Bools) -> list[str]:
        """What to know about what is not copied though it was asked for. written: what is."""
        return []

    def own_header(self, session: Session) -> Record:
        """The header of the session itself."""
        return session.header

    def header(self, reading: Reading, cwd: str | None) -> Record:
        """The header of a new session made of this one."""
        return fork_header(reading.session, cwd)

    def copy(
        self,
        session: Session,
        header: Record,
        places: Iterable[int],
        changed: Mapping[int, Record],
    ) -> Draft:
        """A log of its own with these entries, one line each, in this order: bytes as they are
        where nothing must change. changed: records that take the place of others."""
        draft = Draft(session.source)
        draft.add(line_of(header))
        for place in places:
            if place in changed:
                draft.add(line_of(changed[place]))
            elif self.can_stay(session, place):
                draft.keep(*session.columns.row(place))
                draft.add(b"\n")
            else:
                draft.add(line_of(self.stored(session, place)))
        return draft

    def new_session(
        self,
        reading: Reading,
        header: Record,
        places: Iterable[int],
        changed: Mapping[int, Record],
    ) -> Draft:
        """The same as a session of its own, with the files that belong to it."""
        return self.copy(reading.session, header, places, changed)

    def can_stay(self, session: Session, place: int) -> bool:
        """Whether the program, too, can read the bytes of an entry as they are."""
        return not session.has(place, Flag.NOTED) or is_strict(session.raw(place))

    def file_name(self, session: Session) -> str:
        """The name that a file must have to be reopened; "" for any."""
        return ""

    def reopens(self, session: Session) -> str:
        """How the program reopens a session in a file, in a sentence."""
        return "τ reopens it: tau --mode repl --session FILE"

    def name_line(self, result: Session, name: str) -> bytes:
        """The line that names a session."""
        return line_of(new_entry(result, "session_info", result.leaf, name=name))

    def read(self, draft: Draft, header: Record) -> Session:
        """The session in a draft that begins with a header."""
        return session_in(draft)

    def continues(self, source: Session, result: Session) -> tuple[list[Refusal], list[str]]:
        """Why the program could not go on in a session that is made of another, and what to know
        about how."""
        return continues(source, result)


TAU_RULES = Rules()
