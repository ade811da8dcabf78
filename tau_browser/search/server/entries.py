"""From documents that a method of a server named to entries within the scope."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import msgspec

from tau_browser.model.payload import Record, text_of
from tau_browser.search.scan import Hit as Scanned
from tau_browser.search.server.asking import Told
from tau_browser.search.server.scope import Scope
from tau_browser.stores.jmfts.documents import CHUNK, TAU, Located, Payload
from tau_browser.stores.jmfts.records import FOREIGN, stamp


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as some method found it. root: of its conversation, None if it belongs to none ·
    best: the document that was found, itself or a piece of it · pieces: how many were found."""

    document: int
    root: int | None
    record: Record
    best: int
    pieces: int = 0

    @property
    def is_foreign(self) -> bool:
        """Whether it is a document that τ did not write."""
        return self.record.get("type") == FOREIGN

    @property
    def path(self) -> str:
        """The path of its session; "" if it has none."""
        return "" if self.root is None else str(self.root)

    @property
    def text(self) -> str:
        """What is searched of it."""
        if not self.is_foreign:
            return text_of(self.record)
        return "\n".join(filter(None, (self.record.get("title"), self.record.get("content"))))

    @property
    def scanned(self) -> Scanned:
        """The same as filters take it."""
        return Scanned(self.path, -self.document, 0, self.record)


@dataclass(slots=True)
class Named:
    """What one method names: entries with their scores, the best first."""

    ranking: list[tuple[int, float]] = field(default_factory=list)
    entries: dict[int, Entry] = field(default_factory=dict)


def named(told: Told, scope: Scope) -> Named:
    """What a method told, as entries. A piece counts for its entry, which scores as its best."""
    found: dict[int, Entry] = {}
    scores: dict[int, float] = {}
    for scored in told.scored:
        hit, is_piece = scored.document, scored.document.usetype == CHUNK
        document = told.owners.get(hit.parent_id or 0) if is_piece else hit
        if document is None or not scope.holds(document.id, document.path):
            continue
        before = found.get(document.id)
        if before is None:
            record = record_of(document)
            if record is None:
                continue
            before = Entry(document.id, scope.root_of(document.path), record, hit.id)
        if scored.score > scores.get(document.id, float("-inf")):
            scores[document.id] = scored.score
            before = replace(before, best=hit.id)
        found[document.id] = replace(before, pieces=before.pieces + is_piece)
    return Named(sorted(scores.items(), key=lambda each: -each[1]), found)


def united(some: Iterable[Named]) -> dict[int, Entry]:
    """All entries that methods name, each with the most pieces that one of them found."""
    entries: dict[int, Entry] = {}
    for each in some:
        for number, entry in each.entries.items():
            if number not in entries or entry.pieces > entries[number].pieces:
                entries[number] = entry
    return entries


def record_of(document: Located) -> Record | None:
    """The entry that a document holds, in τ's shape; None if it says that it holds one of τ's
    and does not."""
    link = {"id": str(document.id)}
    if not (document.usetype or "").startswith(TAU):
        return {
            "type": FOREIGN,
            **link,
            "timestamp": stamp(document.event_time or document.created_at),
            "usetype": document.usetype,
            "title": document.title,
            "content": document.content,
        }
    try:
        stored = msgspec.json.decode(document.structured_content, type=Payload)
        tau = msgspec.json.decode(stored.tau) if stored.tau is not msgspec.UNSET else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return tau | link if isinstance(tau, dict) else None
