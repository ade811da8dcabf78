"""`tau-browse completion SHELL`, and what a shell asks for while a person types."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import argcomplete
from argcomplete.completers import FilesCompleter
from argcomplete.shell_integration import shellcode

from tau_browser.cli.output import Failure
from tau_browser.model.text import safe_line


def script(prog: str, shell: str) -> str:
    """What a shell must read to complete the command."""
    return shellcode([prog], shell=shell)


def answer(parser: argparse.ArgumentParser) -> None:
    """Answer the shell and end the process."""
    argcomplete.autocomplete(parser, always_complete_options=False)


def references(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Mapping[str, str]:
    """Session ids and files that begin so, each with what a shell may show beside it."""
    from tau_browser.cli import places
    from tau_browser.config import ConfigError
    from tau_browser.stores.store import Listed, StoreError

    found = dict.fromkeys(FilesCompleter()(prefix), "")
    options = {"session_dir": None, "demo": False, "store": None, "url": None, "token_file": None}
    options |= vars(parsed_args)
    try:
        store = places.store(argparse.Namespace(**options))
        items = list(store.scan())
    except (ConfigError, Failure, StoreError):
        return found
    for item in items:
        if not isinstance(item, Listed):
            continue
        session_id = store.identify(item)
        if session_id.startswith(prefix) and _is_word(session_id):
            found[session_id] = safe_line(item.summary.title) if item.summary else ""
    return found


def saved(prefix: str, **_: Any) -> Mapping[str, str]:
    """Names of saved searches that begin so, each with its query."""
    from tau_browser.config import state_folder
    from tau_browser.search.saved import SavedError, SavedSearches

    try:
        kept = SavedSearches(state_folder()).all()
    except SavedError:
        return {}
    return {name: safe_line(it.query) for name, it in kept.items() if name.startswith(prefix)}


def _is_word(text: str) -> bool:
    """Whether a shell and a terminal can take it as it is."""
    return bool(text) and safe_line(text) == text and not any(char.isspace() for char in text)
