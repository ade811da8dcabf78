"""What a store's writer does: it carries out plans, and takes changes back."""

from __future__ import annotations

from typing import Protocol

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Way
from tau_browser.actions.progress import Tell, silent
from tau_browser.actions.reading import Reading
from tau_browser.model.payload import Record
from tau_browser.model.session import Session


class Hand(Protocol):
    """What makes changes of some kind, and takes them back. Whatever it does is in the journal
    before it takes effect."""

    store: str

    def apply(self, plan: Plan, journal: Journal, tell: Tell = silent) -> Change:
        """Carry out a plan. Raises Refused where it does not hold any more, Stopped, StoreError."""
        ...

    def obstacle(self, change: Change, journal: Journal) -> str:
        """Why a change cannot be taken back now; "" if it can."""
        ...

    def undo(self, change: Change, journal: Journal, tell: Tell = silent) -> Change:
        """Take a change back. Raises Refused where that is no longer possible, Stopped,
        StoreError."""
        ...


class Writer(Hand, Protocol):
    """The hand that changes the sessions of a store. keeps_pieces: whether a new session has what
    a server cut another's entries into for its search."""

    keeps_pieces: bool

    def read(self, path: str, journal: Journal) -> Reading:
        """A session as plans are made from it. Raises StoreError."""
        ...

    def place_for(self, header: Record) -> str:
        """Where a new session with this header will be written."""
        ...

    def remarks(self, way: Way, result: Session) -> list[str]:
        """What to know before a session like this is written in this way."""
        ...


def open_elsewhere(session: Session) -> str:
    """What to know before a session is changed where it lies."""
    program = session.format.program
    return f"close {program} where it has this session open: it does not read it again"
