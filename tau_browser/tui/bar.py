"""A bar of one line: a title, a status, a row of hints."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget


class Bar(Widget):
    """One line of safe text. Cheaper than a Static, and never markup."""

    DEFAULT_CSS = """
    Bar {
        height: 1; background: $panel; color: $foreground-muted;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    Bar.-focused { background: $primary; color: $text; text-style: bold; }
    Bar.-plain { background: $background; }
    """

    def __init__(
        self, text: str = "", *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._text = text

    @property
    def text(self) -> str:
        """What stands in the bar."""
        return self._text

    def show(self, text: str) -> None:
        """Put safe text into the bar."""
        if text != self._text:
            self._text = text
            self.refresh()

    def render(self) -> Content:
        return Content(f" {self._text}")
