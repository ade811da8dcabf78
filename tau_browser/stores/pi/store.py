"""Where pi keeps its sessions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tau_browser.stores.file_store import FileStore
from tau_browser.stores.peek import holds_log
from tau_browser.stores.store import Capability, Place

if TYPE_CHECKING:
    from tau_browser.model.format import Format

_FOLDER = "sessions"


class PiStore(FileStore):
    """Files below the folders of working directories."""

    name = "pi"
    changes = frozenset({Capability.FORK, Capability.PRUNE, Capability.RENAME})

    @staticmethod
    def recognises(path: str) -> bool:
        """Whether this begins with pi's header."""
        return holds_log(path, _is_pi)

    @staticmethod
    def places(env: Mapping[str, str]) -> list[Place]:
        """The folder that pi is told to use, or its own."""
        if named := env.get("PI_CODING_AGENT_SESSION_DIR"):
            return [Place(os.path.expanduser(named), "$PI_CODING_AGENT_SESSION_DIR")]
        if named := env.get("PI_CODING_AGENT_DIR"):
            return [Place(os.path.join(os.path.expanduser(named), _FOLDER), "$PI_CODING_AGENT_DIR")]
        return [Place(os.path.expanduser("~/.pi/agent/sessions"), "pi's home, default")]

    @staticmethod
    def format() -> Format:
        from tau_browser.stores.pi.format import PI  # numpy comes with it: 160 ms

        return PI


def _is_pi(records: list[dict[str, Any]]) -> bool:
    """pi's header is τ's without `parent`; a `version` is a number above 1, or missing."""
    first = records[0] if records else {}
    if first.get("type") != "session" or not {"parent", "parent_id"}.isdisjoint(first):
        return False
    version = first.get("version")
    return (isinstance(version, int) and version > 1) or {"provider", "modelId"} <= first.keys()
