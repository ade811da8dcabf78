"""The indices that the first alpha keeps of each run: what was last under a name, the references
of each kind, and what each topic gave last. Rows may expire; nobody deletes them but their reader.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from tau_browser.model.diagnostic import Severity
from tau_browser.stores.aethergraph.database import has_table, opened
from tau_browser.stores.aethergraph.records import Damage, Read, Spot, Stored
from tau_browser.stores.store import StoreError

FILE = "kv/kv.sqlite"
KINDS = {"name": "latest by name", "ref_kind": "references by kind", "topic": "latest by topic"}


def indices_of(root: Path, run: str) -> Read:
    """The indices of a run, each as {run_id, index, entries, expires, is_expired}."""
    read = Read()
    path = root / FILE
    if not path.is_file():
        return read
    prefix = f"mem:{run}:idx2:"
    try:
        with opened(path) as connection:
            if not has_table(connection, "kv"):
                return read
            query = "SELECT rowid, k, v, expire_at FROM kv WHERE substr(k, 1, ?) = ? ORDER BY k"
            rows = connection.execute(query, (len(prefix), prefix)).fetchall()
    except StoreError as error:
        reason = str(error).removeprefix(f"{path}: ")
        read.damage.append(Damage(Spot(FILE), reason, Severity.UNREADABLE))
        return read
    for number, key, value, expires in rows:
        spot = Spot(FILE, table="kv", row=number)
        try:
            entries = json.loads(value)
        except (TypeError, ValueError, RecursionError):
            entries = None
        if not isinstance(entries, dict):
            read.damage.append(Damage(spot, f"{key}: not a JSON object", Severity.UNREADABLE))
            continue
        read.values.append(
            Stored(
                {
                    "run_id": run,
                    "index": key.removeprefix(prefix),
                    "entries": entries,
                    "expires": expires,
                    "is_expired": isinstance(expires, int | float) and expires < time.time(),
                },
                spot,
            )
        )
    return read
