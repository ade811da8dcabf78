"""τ's own sessions (tau-format 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tau_browser.stores.file_store import FileStore
from tau_browser.stores.peek import holds_log
from tau_browser.stores.store import Capability, Place

if TYPE_CHECKING:
    from tau_browser.model.format import Format


class TauFileStore(FileStore):
    """τ's file store."""

    name = "tau"
    changes = frozenset(Capability) - {Capability.ENRICH}

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether this begins with a header that only τ writes."""
        return holds_log(path, _is_tau)

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """None: where τ's sessions are is a setting (`config.session_roots`)."""
        return []

    @staticmethod
    def format() -> Format:
        from tau_browser.model.format import TAU  # numpy comes with it: 160 ms

        return TAU


def _is_tau(records: list[dict[str, Any]]) -> bool:
    headers = [record for record in records if record.get("type") == "session"]
    return bool(headers) and not {"parent", "parent_id"}.isdisjoint(headers[0])
