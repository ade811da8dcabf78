"""Which panes are shown, and how large: beside each other, stacked, or one at a time."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from tau_browser.tui.bar import Bar

NAMES = ("sessions", "tree", "entry")

_WIDE = 110  # columns from which three panes stand side by side
_MEDIUM = (60, 16)  # columns and lines from which the tree stands over the entry
_LARGEST = 12


class Pane(Vertical):
    """A title over a widget."""

    def __init__(self, name: str, title: str, content: Widget) -> None:
        super().__init__(id=f"{name}-pane")
        self.title = Bar(title, id=f"{name}-title")
        self.content = content

    def compose(self) -> ComposeResult:
        yield self.title
        yield self.content


class Panes(Container):
    """The three panes. `focused` is the one that the person is in."""

    DEFAULT_CSS = """
    Panes { layout: horizontal; height: 1fr; }
    Panes #work { layout: horizontal; width: 1fr; }
    Panes #work.-stacked { layout: vertical; }
    Panes Pane > * { width: 100%; }
    Panes Pane > RowsView, Panes Pane > EntryPane { height: 1fr; }
    """

    def __init__(self, sessions: Pane, tree: Pane, entry: Pane) -> None:
        super().__init__()
        self._panes = {"sessions": sessions, "tree": tree, "entry": entry}
        self._weights = {"sessions": 4, "tree": 6, "entry": 6}
        self._hidden: set[str] = set()
        self._zoomed = False
        self.focused = "sessions"

    def compose(self) -> ComposeResult:
        yield self._panes["sessions"]
        with Container(id="work"):
            yield self._panes["tree"]
            yield self._panes["entry"]

    def pane(self, name: str) -> Pane:
        """One of the panes by its name."""
        return self._panes[name]

    def focus_on(self, name: str) -> None:
        """The person is in this pane now. Showing it comes before hiding it."""
        self.focused = name
        self._hidden.discard(name)
        self.lay_out()

    def toggle(self, name: str) -> None:
        """Hide a pane, or show it again."""
        self._hidden ^= {name}
        if self.focused in self._hidden:
            self.focused = "tree"
        self.lay_out()

    def zoom(self) -> None:
        """Only the focused pane, or all of them."""
        self._zoomed = not self._zoomed
        self.lay_out()

    def resize_focused(self, step: int) -> None:
        """Make the focused pane larger or smaller."""
        weight = self._weights[self.focused] + step
        self._weights[self.focused] = max(1, min(_LARGEST, weight))
        self.lay_out()

    def next_name(self, step: int) -> str:
        """The pane after (1) or before (-1) the focused one."""
        order = [name for name in NAMES if name not in self._hidden]
        return order[(order.index(self.focused) + step) % len(order)]

    def on_resize(self) -> None:
        self.lay_out()

    def lay_out(self) -> None:
        """Show and size the panes for the space that there is."""
        width, height = self.app.size
        shown = self._shown(width, height)
        stacked = width < _WIDE
        self.query_one("#work").set_class(stacked, "-stacked")
        self.query_one("#work").display = bool(shown & {"tree", "entry"})
        for name, pane in self._panes.items():
            pane.display = name in shown
            pane.title.set_class(name == self.focused, "-focused")
            share = f"{self._weights[name]}fr"
            across = name == "sessions" or not stacked
            pane.styles.width = share if across else "100%"
            pane.styles.height = "100%" if across else share
        self._share_out(shown, width)

    def _share_out(self, shown: set[str], width: int) -> None:
        """The sessions get their share of the whole width, the rest is for tree and entry."""
        beside = [self._weights[name] for name in ("tree", "entry") if name in shown]
        total = self._weights["sessions"] + (sum(beside) if width >= _WIDE else 6)
        columns = max(20, width * self._weights["sessions"] // total)
        self._panes["sessions"].styles.width = columns if beside else "100%"

    def _shown(self, width: int, height: int) -> set[str]:
        if self._zoomed or width < _MEDIUM[0] or height < _MEDIUM[1]:
            return {self.focused}
        shown = set(NAMES) - self._hidden
        if width < _WIDE and self.focused != "sessions":
            shown.discard("sessions")
        return shown
