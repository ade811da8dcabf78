"""A change before it is made: what was read, what will be written, what goes, and why not.

A plan is made from a session as it was read, shown to a person, and carried out by the writer of
the store (actions/writer.py). It is neutral: what a change makes is a `Session` like any other,
which a store writes in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Protocol

from tau_browser.actions.draft import Draft
from tau_browser.model.session import Session
from tau_browser.stores.store import StoreError


class Verb(StrEnum):
    """What a person asks for."""

    FORK = "fork"
    PRUNE = "prune"
    FOLD = "fold"
    RENAME = "rename"
    LABEL = "label"
    EXPORT = "export"
    IMPORT = "import"
    UNDO = "undo"
    ENRICH = "enrich"
    DISTILL = "distill"
    PROMOTE = "promote"
    SNAPSHOT = "snapshot"
    COMPACT = "compact"
    OBSERVE = "observe"


class Way(StrEnum):
    """How a change is written, in words for a person."""

    NEW = "written anew"
    REPLACE = "replaced in place"
    APPEND = "appended"
    REMOVE = "moved to the trash"


class Remedy(StrEnum):
    """What lifts a refusal, once a person asks for it."""

    FORCE = "force"  # copy what is there, although it is still being written
    PAIRS = "pairs"  # take the other half of a tool call along


class Content(Protocol):
    """The bytes that will be written."""

    @property
    def size(self) -> int:
        """How many."""
        ...

    def pieces(self) -> Iterator[bytes]:
        """The bytes from the start, in pieces of any size."""
        ...


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes that are there already."""

    data: bytes

    @property
    def size(self) -> int:
        """How many."""
        return len(self.data)

    def pieces(self) -> Iterator[bytes]:
        """All of them."""
        yield self.data


@dataclass(frozen=True, slots=True)
class Read:
    """The state of what a plan was made from. digest: sha256 in hex · size: bytes · others: the
    states of the files that belong to it."""

    path: str
    size: int
    mtime_ns: int
    digest: str
    others: tuple[Read, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure:
    """How large a session is: all entries, those in the model's context at the leaf, and about
    how many tokens those are."""

    entries: int
    context: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Item:
    """An entry in a list. says: who speaks and what, in one safe line · more: safe lines below."""

    id: str
    says: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loose:
    """A reference to an entry that goes. becomes: the new id, or None for null."""

    entry: str
    field: str
    target: str
    becomes: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a plan is not carried out, what lifts that if anything does, and which entries it is
    about."""

    reason: str
    remedy: Remedy | None = None
    entries: tuple[str, ...] = ()


class Refused(StoreError):
    """A change was not made. The message says why; nothing was written."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One change, ready to be shown.

    store: the name of the store that is written to · about: the change in one line · target: where
    it is written · result: the session that it makes, if it makes one · leaf: the id of the entry
    at which τ continues it · leaving: entries of the source that are not in it · adding: what it is
    made of, where that is not a session.
    """

    verb: Verb
    store: str
    about: str
    read: Read | None
    way: Way
    target: str
    content: Content
    result: Session | None = None
    before: Measure | None = None
    after: Measure | None = None
    leaf: Item | None = None
    leaving: tuple[Item, ...] = ()
    adding: tuple[Item, ...] = ()
    references: tuple[Loose, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def beside(self) -> tuple[str, ...]:
        """The files that are written with it, by path from its folder."""
        return tuple(self.content.beside) if isinstance(self.content, Draft) else ()

    def require_sound(self) -> None:
        """Raises Refused, with every reason, where there is one."""
        if self.refusals:
            raise Refused("; ".join(refusal.reason for refusal in self.refusals))


def described(plan: Plan) -> dict[str, Any]:
    """A plan for programs."""
    return {
        "verb": plan.verb.value,
        "about": plan.about,
        "store": plan.store,
        "target": plan.target,
        "beside": list(plan.beside),
        "way": plan.way.name.lower(),
        "bytes": plan.content.size,
        "read": _fields(plan.read),
        "before": _fields(plan.before),
        "after": _fields(plan.after),
        "session": plan.result.id if plan.result is not None else None,
        "leaf": plan.leaf.id if plan.leaf else None,
        "leaving": [item.id for item in plan.leaving],
        "adding": [item.id for item in plan.adding],
        "references": [_fields(loose) for loose in plan.references],
        "refusals": [
            {"reason": refusal.reason, "remedy": refusal.remedy, "entries": list(refusal.entries)}
            for refusal in plan.refusals
        ],
        "remarks": list(plan.remarks),
    }


def _fields(value: Read | Measure | Loose | None) -> dict[str, Any] | None:
    return None if value is None else asdict(value)
