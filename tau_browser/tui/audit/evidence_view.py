"""The hit and what speaks for its use, side by side, with the shared words marked."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from tau_browser.audit.sides import Side
from tau_browser.model.text import safe, safe_line
from tau_browser.tui.bar import Bar

_MARKED = "reverse underline"


class SideView(Vertical):
    """One of the two texts, under its heading."""

    DEFAULT_CSS = """
    SideView { width: 1fr; height: 1fr; }
    SideView > VerticalScroll { height: 1fr; padding: 0 1; scrollbar-size: 1 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_text(1)", show=False),
        Binding("k,up", "scroll_text(-1)", show=False),
    ]

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.side: Side | None = None
        self._heading = Bar(id=f"{id}-title")
        self._body = Static()
        self.scroll_box = VerticalScroll(self._body)

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self.scroll_box

    def show(self, side: Side | None) -> None:
        """Show a side, or nothing."""
        self.side = side
        self._heading.show(safe_line(side.heading) if side else "no hit is chosen")
        text = Text(safe(side.text) if side else "")
        for start, stop in side.marks if side else ():
            text.stylize(_MARKED, start, stop)
        self._body.update(text)
        self.scroll_box.scroll_home(animate=False)

    def action_scroll_text(self, step: int) -> None:
        self.scroll_box.scroll_relative(y=step, animate=False)


class EvidenceView(Horizontal):
    """Two sides."""

    DEFAULT_CSS = """
    EvidenceView { height: 1fr; }
    EvidenceView.-narrow { layout: vertical; }
    """

    def compose(self) -> ComposeResult:
        yield SideView("hit-side")
        yield SideView("proof-side")

    def show(self, sides: tuple[Side, Side] | None) -> None:
        """Show a hit and its evidence, or nothing."""
        for view, side in zip(self.query(SideView), sides or (None, None), strict=True):
            view.show(side)
