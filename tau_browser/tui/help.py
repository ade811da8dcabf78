"""The keys of where a person is."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tau_browser.model.state import State
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.keys import (
    APP,
    AUDIT,
    BROWSER,
    ENTRY,
    MEMORY,
    REPLAY,
    ROWS,
    SEARCH,
    TOTALS,
    TREE,
)

_NAMES = {
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
    "right_parenthesis": ")",
    "left_parenthesis": "(",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "exclamation_mark": "!",
    "question_mark": "?",
    "equals_sign": "=",
    "full_stop": ".",
    "slash": "/",
    "colon": ":",
    "minus": "-",
    "plus": "+",
    "comma": ",",
    "escape": "Esc",
    "space": "Space",
    "enter": "Enter",
    "tab": "Tab",
    "pagedown": "PgDn",
    "pageup": "PgUp",
}

_ROOM_FOR_VERBS = 70  # columns
_SECTIONS = {
    "Everywhere": APP,
    "Browser": BROWSER,
    "Memory, in its menu": MEMORY,
    "Search of all sessions": SEARCH,
    "Recall audit": AUDIT,
    "Its sums": TOTALS,
    "A recall asked again": REPLAY,
    "Any list": ROWS,
    "Tree": TREE,
    "Entry": ENTRY,
}

_STATES = {
    State.PATH: "on the path to the leaf: the model saw it, or would see it",
    State.FOLDED: "on the path, but a compaction or an elide dropped it from the context",
    State.ABANDONED: "on a branch that was left",
    State.SUBAGENT: "what a sub-agent did, beside the path",
    State.DETACHED: "below a root that has lost its parent",
    State.INCOMPLETE: "interrupted before it finished",
}


def key_text(keys: str) -> str:
    """The keys of a binding as a person knows them."""
    return " ".join(_NAMES.get(key, key) for key in keys.split(","))


class HelpScreen(ModalScreen[None]):
    """All keys, the verbs they stand for, and what the signs in the tree mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", "back", show=False),
        Binding("j,down", "scroll('down')", show=False),
        Binding("k,up", "scroll('up')", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 90%; max-width: 88; height: 90%;
        background: $panel; border: round $primary; padding: 0 1;
    }
    """

    def __init__(self, glyphs: Glyphs, overridden: dict[str, str]) -> None:
        super().__init__()
        self._glyphs = glyphs
        self._overridden = overridden

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._text())

    def action_scroll(self, direction: str) -> None:
        box = self.query_one(VerticalScroll)
        (box.scroll_down if direction == "down" else box.scroll_up)(animate=False)

    def _text(self) -> Text:
        text = Text()
        roomy = self.app.size.width >= _ROOM_FOR_VERBS
        for title, keys in _SECTIONS.items():
            text.append(f"{title}\n", "bold")
            for key in keys:
                shown = key_text(self._overridden.get(key.verb, key.keys))
                text.append(f" {shown:<11}", "bold")
                text.append(f" {key.does}")
                text.append(f"  ({key.verb})\n" if roomy else "\n", "dim")
            text.append("\n")
        if not roomy:
            text.append("  A wider terminal also shows the verbs.\n")
        text.append("  Ctrl+P finds any command by its name; the mouse works everywhere.\n\n")
        text.append("Signs in the tree\n", "bold")
        for state, meaning in _STATES.items():
            text.append(f"  {self._glyphs.states[state]} {state.word:<11}", "bold")
            text.append(f" {meaning}\n")
        text.append(f"  {self._glyphs.branch} branch      ", "bold")
        text.append("a branch that was left, folded under its fork\n")
        text.append(f"  {self._glyphs.warning}             ", "bold")
        text.append("something to know about this entry: the entry and ! say what\n")
        return text
