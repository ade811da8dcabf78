"""A line at the bottom in which a person types: a query, an id."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from tau_browser.tui.bar import Bar


class Prompt(Horizontal):
    """Asks for one line. Esc leaves, Enter accepts; both are messages to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("alt+r", "toggle_regex", "regular expression", show=False),
    ]
    DEFAULT_CSS = """
    Prompt { height: 1; background: $panel; }
    Prompt > #prompt-label { width: auto; color: $text-accent; text-style: bold; }
    Prompt > Input { width: 1fr; }
    Prompt > #prompt-note { width: auto; min-width: 10; }
    """

    class Changed(Message):
        """The text changed while it is being typed."""

        def __init__(self, prompt: Prompt, value: str) -> None:
            super().__init__()
            self.prompt = prompt
            self.value = value

    class Accepted(Changed):
        """Enter was pressed."""

    class Left(Message):
        """Esc was pressed."""

    def __init__(self, label: str, value: str = "", *, regex: bool | None = None) -> None:
        """`regex` None: the prompt knows no regular expressions."""
        super().__init__()
        self.label = label
        self.regex = regex
        self._value = value

    def compose(self) -> ComposeResult:
        yield Bar(self._title, id="prompt-label", classes="-plain")
        box = Input(self._value, compact=True, select_on_focus=False)
        box.cursor_blink = False
        yield box
        yield Bar("", id="prompt-note", classes="-plain")

    def on_mount(self) -> None:
        self._show_label()
        self.query_one(Input).focus()

    def note(self, text: str) -> None:
        """Say something at the right of the line."""
        bar = self.query_one("#prompt-note", Bar)
        bar.show(text)
        bar.styles.width = len(text) + 2

    def focus_input(self) -> None:
        """Go on typing."""
        self.query_one(Input).focus()

    @property
    def _title(self) -> str:
        return f"{self.label} (regex)" if self.regex else self.label

    def _show_label(self) -> None:
        bar = self.query_one("#prompt-label", Bar)
        bar.show(self._title)
        bar.styles.width = len(self._title) + 2

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_toggle_regex(self) -> None:
        if self.regex is not None:
            self.regex = not self.regex
            self._show_label()
            self.post_message(self.Changed(self, self.query_one(Input).value))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Accepted(self, event.value))
