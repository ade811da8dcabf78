"""Where pi keeps its sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tau_browser.stores.file_store import FileStore
from tau_browser.stores.peek import holds_log
from tau_browser.stores.store import Capability, Place, StoreError

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
        """The folder that pi is told to use, by the environment or by its settings, and its own.

        Raises StoreError where settings cannot be read."""
        if named := env.get("PI_CODING_AGENT_SESSION_DIR"):
            return [Place(os.path.expanduser(named), "$PI_CODING_AGENT_SESSION_DIR")]
        named = env.get("PI_CODING_AGENT_DIR")
        home = os.path.expanduser(named or "~/.pi/agent")
        origin = "$PI_CODING_AGENT_DIR" if named else "pi's home, default"
        own = Place(os.path.join(home, _FOLDER), origin)
        for settings in (os.path.abspath(".pi"), home):  # those of a project come first
            path = os.path.join(settings, "settings.json")
            if folder := _session_dir(path):
                return [Place(os.path.abspath(folder), f"sessionDir in {path}"), own]
        return [own]

    @staticmethod
    def format() -> Format:
        from tau_browser.stores.pi.format import PI  # numpy comes with it: 160 ms

        return PI


def _session_dir(path: str) -> str | None:
    """What a file of settings names as the folder of sessions, if it does; "~" stands for the home
    folder, and what is relative is so to the working directory."""
    try:
        with open(path, "rb") as file:
            settings = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be read as pi's settings ({error})") from error
    named = settings.get("sessionDir") if isinstance(settings, dict) else None
    return os.path.expanduser(named) if isinstance(named, str) and named else None


def _is_pi(records: list[dict[str, Any]]) -> bool:
    """pi's header is τ's without `parent`; a `version` is a number above 1, or missing."""
    first = records[0] if records else {}
    if first.get("type") != "session" or not {"parent", "parent_id"}.isdisjoint(first):
        return False
    version = first.get("version")
    return (isinstance(version, int) and version > 1) or {"provider", "modelId"} <= first.keys()
