"""What a shell is offered for an argument. Imports nothing heavy: see arguments.py."""

from __future__ import annotations

from typing import Any


def complete_with(argument: Any, completer: Any) -> None:
    """Offer what the completer finds."""
    argument.completer = completer  # where argcomplete looks for it


def references(**asked: Any) -> Any:
    """Sessions by their ids, and files."""
    from tau_browser.cli.completion import references

    return references(**asked)


def nothing(**_: Any) -> list[str]:
    """Nothing, not even the files of the folder."""
    return []
