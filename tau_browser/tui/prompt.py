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
    """Asks for one line. There from the start and hidden, so that the first letter typed after
    the key that asks already goes into it. Esc leaves, Enter accepts: both are messages."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # priority: the keys that follow are no longer meant for the prompt
        Binding("enter", "accept", "accept", show=False, priority=True),
        Binding("escape", "leave", "leave", show=False, priority=True),
        Binding("alt+r", "toggle_regex", "regular expression", show=False),
    ]
    DEFAULT_CSS = """
    Prompt { height: 1; background: $panel; display: none; }
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

    def __init__(self) -> None:
        super().__init__()
        self._input = Input(compact=True, select_on_focus=False)
        self._input.cursor_blink = False
        self._label = Bar(id="prompt-label", classes="-plain")
        self._note = Bar(id="prompt-note", classes="-plain")
        self.asks_for = ""
        self.regex: bool | None = None

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._input
        yield self._note

    def ask(self, what: str, value: str = "", *, regex: bool | None = None) -> None:
        """Ask for something; `regex` None: it cannot be a regular expression."""
        if not self.display or self.asks_for != what:
            self.asks_for, self.regex = what, regex
            with self.prevent(Input.Changed):
                self._input.value = value
            self._input.cursor_position = len(value)
            self.note("")
            self._show_label()
        self.display = True
        self.screen.set_focus(self._input)

    def hide(self) -> None:
        """Stop asking."""
        self.display = False

    def note(self, text: str) -> None:
        """Say something at the right of the line."""
        self._note.show(text)
        self._note.styles.width = len(text) + 2

    def action_accept(self) -> None:
        self.screen.set_focus(None)
        self._input.call_later(self._accept)  # after the letters that are still on their way to it

    def _accept(self) -> None:
        self.post_message(self.Accepted(self, self._input.value))

    def action_leave(self) -> None:
        self.screen.set_focus(None)
        self.post_message(self.Left())

    def action_toggle_regex(self) -> None:
        if self.regex is not None:
            self.regex = not self.regex
            self._show_label()
            self.post_message(self.Changed(self, self._input.value))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self, event.value))

    def _show_label(self) -> None:
        title = f"{self.asks_for} (regex)" if self.regex else self.asks_for
        self._label.show(title)
        self._label.styles.width = len(title) + 2
