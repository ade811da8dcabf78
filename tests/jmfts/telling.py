"""What a conversation holds, wherever it is stored: what must be equal before and after."""

from __future__ import annotations

import json
from typing import Any

from tau_browser.actions.references import references_of
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.times import parse_time
from tau_browser.stores.jmfts.storing import is_piece


def named_by_place(session: Session) -> list[Record]:
    """The entries with places in the stead of ids. Pieces that were made for search are no part of
    that."""
    kept = [at for at in range(len(session)) if not is_piece(session.record(at))]
    place_of = {session.entry_id(at): place for place, at in enumerate(kept)}
    found = []
    for at in kept:
        record = session.record(at)
        over = int(session.tree.parent[at])
        parent = kept.index(over) if over != -1 else -1
        text = json.dumps({k: v for k, v in record.items() if k not in ("id", "parentId")})
        told = json.loads(text)
        for field, target in references_of(record).items():
            holder = told["data"] if field.startswith("data.") else told
            holder[field.removeprefix("data.")] = place_of.get(target, target)
        if told["type"] == "jmfts:document":
            told = _document(told)
        found.append(told | {"parent": parent})
    return found


def _document(record: dict[str, Any]) -> Record:
    """A foreign document. τ writes less of it into a file, and a server a time in its own way."""
    told = {name: record.get(name) for name in ("type", "usetype", "title", "content")}
    time = parse_time(record.get("timestamp"))
    return told | {"structured_content": record.get("structured_content") or {}, "time": time}
