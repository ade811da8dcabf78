"""References from entry to entry: which fields hold them (tau-format 1.4, 1.6, 2.8)."""

from __future__ import annotations

import numpy as np

from tau_browser.model.columns import Flag
from tau_browser.model.payload import Record
from tau_browser.model.session import Session

_FIELDS = ("firstKeptId", "fromId", "targetId", "copiedFrom", "configId")
_DATA_FIELDS = ("requestId", "entry_id")
"""Those of a customEntry's data: an answer's request, a bookmark's entry."""
_KINDS = ("compaction", "elide", "branch_summary", "navigate", "customEntry")


def references_of(record: Record) -> dict[str, str]:
    """The ids that an entry refers to besides its parent's, by field: "firstKeptId",
    "data.requestId"."""
    found = {name: record.get(name) for name in _FIELDS}
    if isinstance(data := record.get("data"), dict):
        found |= {f"data.{name}": data.get(name) for name in _DATA_FIELDS}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def with_reference(record: Record, field: str, target: str | None) -> Record:
    """The record with another id in a field. copiedFrom has no null: it goes."""
    if field.startswith("data."):
        return record | {
            "data": with_reference(record["data"], field.removeprefix("data."), target)
        }
    if field == "copiedFrom" and target is None:
        return {name: value for name, value in record.items() if name != field}
    return record | {field: target}


def referrers(session: Session) -> list[int]:
    """The places of all entries that may hold a reference."""
    columns = session.columns
    may = session.kinds.where(columns.kind, *_KINDS) | ((columns.flags & Flag.COPIED) != 0)
    return np.flatnonzero(may).tolist()
