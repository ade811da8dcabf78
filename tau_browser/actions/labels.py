"""Labels and notes on entries, kept beside the logs: no session is ever written for them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tau_browser.actions.file_writer import put
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Verb
from tau_browser.model.text import safe_line
from tau_browser.stores.adapters import JMFTS, TAU
from tau_browser.stores.files import words_of
from tau_browser.stores.store import Store, StoreError


@dataclass(frozen=True, slots=True)
class Label:
    """What a person wrote on an entry: a word or two, and a note of any length."""

    text: str = ""
    note: str = ""

    def __bool__(self) -> bool:
        return bool(self.text or self.note)


class Labels:
    """The labels of one session, in a file of their own in a private folder."""

    def __init__(self, folder: Path, session_id: str, place: str = "") -> None:
        """`folder`: where the labels of all sessions are kept · `place`: what else names the
        session, where its id is not enough."""
        self._session_id = session_id
        owner = f"{session_id}\0{place}" if place else session_id
        name = hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self.path = folder / f"{name}.json"

    def all(self) -> dict[str, Label]:
        """Labels by the id of the entry. Raises StoreError where they cannot be read."""
        try:
            stored = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"{self.path}: {words_of(error)}") from error
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{self.path}: {error}; mend the file or move it away") from error
        entries = stored.get("entries") if isinstance(stored, dict) else None
        if not isinstance(entries, dict):
            raise StoreError(f"{self.path}: holds no labels; move it away")
        return {entry: _label(value) for entry, value in entries.items()}

    def put(self, entry_id: str, label: Label, journal: Journal) -> Change:
        """Write on an entry, or, with an empty label, wipe it. Raises StoreError."""
        with journal.lock():
            labels = self.all()
            labels.pop(entry_id, None)
            if label:
                labels[entry_id] = label
            entries = {entry: {"label": at.text, "note": at.note} for entry, at in labels.items()}
            data = json.dumps({"session": self._session_id, "entries": entries}, indent=1)
            about = f"label {safe_line(entry_id)} of {safe_line(self._session_id[:8])}"
            about += f": {safe_line(label.text or label.note)[:60]}" if label else ": nothing"
            change = Change(TAU, Verb.LABEL.value, str(self.path), about, {})
            return put(self.path, data.encode("ascii") + b"\n", change, journal)


def labels_of(folder: Path, store: Store, path: str, session_id: str) -> Labels:
    """The labels of a session of a store. On a server its id may name more than one conversation,
    and entries go by numbers that mean others on another server."""
    place = f"{store.title} {path}" if store.name == JMFTS else ""
    return Labels(folder, session_id, place)


def _label(value: Any) -> Label:
    value = value if isinstance(value, dict) else {}
    text, note = value.get("label"), value.get("note")
    return Label(text if isinstance(text, str) else "", note if isinstance(note, str) else "")
