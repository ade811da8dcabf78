"""What can be made of the open session for the memory of agents, and why some of it cannot."""

from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tau_browser.tui.help import key_text
from tau_browser.tui.keys import MEMORY


class MemoryMenu(ModalScreen[str | None]):
    """One key per verb. The result is the verb that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key.keys, f"choose('{key.verb}')", show=False, id=key.verb) for key in MEMORY),
        Binding("escape,q,M", "dismiss", "back", show=False),
    ]
    DEFAULT_CSS = """
    MemoryMenu { align: center middle; }
    MemoryMenu > Vertical {
        width: 90%; max-width: 84; height: auto;
        background: $panel; border: round $primary; padding: 0 1;
    }
    """

    def __init__(self, does: dict[str, str], why_not: dict[str, str], keys: dict[str, str]) -> None:
        """does: what some verbs do now, other than usually · why_not: by verb, what stands against
        it, as safe text · keys: of the person's own."""
        super().__init__()
        self._does = does
        self._why_not = why_not
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text("Memory", "bold"))
            yield Static(self._menu())

    def action_choose(self, verb: str) -> None:
        if verb in self._why_not:
            self.app.bell()
        else:
            self.dismiss(verb)

    def _menu(self) -> Table:
        menu = Table.grid(padding=(0, 2))
        for key in MEMORY:
            why_not = self._why_not.get(key.verb)
            shade = "dim" if why_not else ""
            shown = key_text(self._keys.get(key.verb, key.keys))
            said = f"not here: {why_not}" if why_not else self._does.get(key.verb, key.does)
            menu.add_row(
                Text(f" {shown}", shade or "bold"), Text(key.verb, shade), Text(said, "dim")
            )
        menu.add_row(Text(" Esc", "bold"), Text("back"), Text())
        return menu
