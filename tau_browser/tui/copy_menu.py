"""What can be copied, and where to: the terminal's clipboard, or always a file."""

from __future__ import annotations

import os
import tempfile
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from tau_browser.model.text import safe_line, size_of


class CopyMenu(ModalScreen[tuple[str, bool] | None]):
    """One key per thing to copy. The result is the text, and whether it goes to a file."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "back", show=False)]
    DEFAULT_CSS = """
    CopyMenu { align: center middle; }
    CopyMenu > Static {
        width: 80%; max-width: 76; height: auto;
        background: $panel; border: round $primary; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self, choices: dict[str, tuple[str, str]]) -> None:
        """`choices`: key -> (what it is, the text)."""
        super().__init__()
        self._choices = choices
        self._to_file = False

    def compose(self) -> ComposeResult:
        yield Static(self._menu())

    def on_key(self, event: events.Key) -> None:
        if event.key == "w":
            event.stop()
            self._to_file = not self._to_file
            self.query_one(Static).update(self._menu())
        elif event.key in self._choices:
            event.stop()  # the key means something else on the screen below
            self.dismiss((self._choices[event.key][1], self._to_file))

    def _menu(self) -> Text:
        text = Text()
        where = "to a file" if self._to_file else "to the terminal's clipboard"
        text.append(f"Copy {where}\n", "bold")
        for key, (what, value) in self._choices.items():
            text.append(f"  {key}", "bold")
            text.append(f"  {what:<8}")
            size = size_of(len(value.encode("utf-8", "replace")))
            text.append(f" {size:>7}  ", "dim")
            text.append(f"{safe_line(value[:120])}\n", "dim")
        other = "the clipboard" if self._to_file else "a file"
        text.append("  w", "bold")
        text.append(f"  {other} instead\n  ")
        text.append("Esc", "bold")
        text.append("  back")
        return text


def deliver(app: App[None], text: str, to_file: bool) -> str:
    """Bring a text where it was wanted; returns where that is, in words."""
    if to_file:
        return f"written to {write_private(text)}"
    app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
    return "sent to the terminal's clipboard; y w writes a file instead"


def write_private(text: str) -> str:
    """A new file with this text that only its owner can read; returns its path."""
    handle, path = tempfile.mkstemp(prefix="tau-browse-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path
