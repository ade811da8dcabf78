"""Where Codex keeps its rollouts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tau_browser.stores.file_store import FileStore
from tau_browser.stores.peek import first_records, holds_log
from tau_browser.stores.store import Place

if TYPE_CHECKING:
    from tau_browser.model.format import Format
    from tau_browser.stores.codex.session import CodexSession

_FOLDERS = {"sessions": "sessions", "archived_sessions": "archived sessions"}
_OTHERS = ("history.jsonl", "session_index.jsonl")
"""Files that end as rollouts do, but are none."""
_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


class CodexStore(FileStore):
    """Rollouts by day. Codex rewrites none of them, and neither do we."""

    name = "codex"

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether a log begins as rollouts do, of any version."""
        return holds_log(path, _is_codex)

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """The sessions in Codex's home, those put away among them."""
        named = env.get("CODEX_HOME")
        origin = "$CODEX_HOME" if named else "Codex's home, default"
        home = os.path.expanduser(named or "~/.codex")
        folders = ((os.path.join(home, name), about) for name, about in _FOLDERS.items())
        return [Place(folder, f"{origin}, {about}") for folder, about in folders]

    @staticmethod
    def is_session(path: str) -> bool:
        name = os.path.basename(path)
        return name.endswith(".jsonl") and name not in _OTHERS

    @staticmethod
    def id_in(path: str) -> object:
        return next((_id_of(record) for record in first_records(path)), None)

    @staticmethod
    def format() -> Format:
        from tau_browser.stores.codex.format import CODEX  # numpy comes with it: 160 ms

        return CODEX

    def open(self, path: str) -> CodexSession:
        """A rollout by its path."""
        from tau_browser.stores.codex.session import CodexSession

        return CodexSession(path)


def _id_of(record: dict[str, Any]) -> object:
    payload = record.get("payload")
    return payload.get("id") if isinstance(payload, dict) else record.get("id")


def _is_codex(records: list[dict[str, Any]]) -> bool:
    first = records[0] if records else {}
    if first.get("type") in _KINDS and isinstance(first.get("payload"), dict):
        return True
    return {"id", "timestamp", "instructions"} <= first.keys() and "type" not in first
