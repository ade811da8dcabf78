"""A list of any number of rows: draws the ones on screen, and nothing else.

Textual's own tree keeps an object per node and recurses; this keeps a cursor and a cache of
finished strips. What it bypasses and why is measured: per visible row, the generic path costs
twenty times as much, and half of that is the scroll bar.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tau_browser.tui import keys
from tau_browser.tui.glyphs import UNICODE, Glyphs

Piece = tuple[str, str]
"""Safe text and the name of its style; "" is the plain style."""

_CACHED_STRIPS = 256


class RowMessage(Message):
    """Something about a row of a view."""

    def __init__(self, view: RowsView, row: int) -> None:
        super().__init__()
        self.view = view
        self.row = row

    @property
    def control(self) -> RowsView:
        return self.view


class RowsView(ScrollView, can_focus=True):
    """Rows with a cursor. Subclasses say how many there are and what stands in each."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ROWS)]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--cursor",
        "rows--dim",
        "rows--strong",
        "rows--accent",
        "rows--warning",
        "rows--error",
        "rows--hit",
        "rows--near",
        "rows--bar",
    }
    DEFAULT_CSS = """
    RowsView {
        overflow: auto auto;
        scrollbar-size: 0 0;
        background: $background;
        color: $foreground;
        & > .rows--cursor { background: $primary-muted; text-style: bold; }
        &:focus > .rows--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        & > .rows--dim { text-style: dim; }
        & > .rows--strong { text-style: bold; }
        & > .rows--accent { color: $text-accent; }
        & > .rows--warning { color: $text-warning; }
        & > .rows--error { color: $text-error; }
        & > .rows--hit { text-style: reverse underline; }
        & > .rows--near { text-style: underline italic; }
        & > .rows--bar { color: $primary; }
    }
    """

    class Moved(RowMessage):
        """The cursor stands on another row, or the row says something else."""

    class Chosen(RowMessage):
        """A row was chosen with Enter or a second click."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self.cursor = 0
        self._strips: dict[tuple[Any, ...], Strip] = {}
        self._styles: dict[tuple[str, bool], Style] = {}

    # What subclasses say

    def row_count(self) -> int:
        """How many rows there are."""
        return 0

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        """What stands at the left of a row, and at its right; there what matters most is last."""
        raise NotImplementedError

    def empty_text(self) -> str:
        """What is shown instead of rows where there are none."""
        return ""

    # Moving

    def move_to(self, row: int) -> None:
        """Put the cursor on a row, as near as there is one, and bring it into view."""
        self.cursor = max(0, min(row, self.row_count() - 1))
        self._keep_in_view()
        self.refresh()
        self.post_message(self.Moved(self, self.cursor))

    def center(self) -> None:
        """Bring the cursor to the middle of the view."""
        self._scroll_to_row(self.cursor - self.size.height // 2)

    def rows_changed(self) -> None:
        """The rows are not what they were: draw them all anew."""
        self._strips.clear()
        self.virtual_size = Size(self.size.width, max(1, self.row_count()))
        self.cursor = max(0, min(self.cursor, self.row_count() - 1))
        self.refresh()

    def action_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_up(self) -> None:
        self.move_to(self.cursor - 1)

    def action_page_down(self) -> None:
        self.move_to(self.cursor + max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self.move_to(self.cursor - max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(self.row_count() - 1)

    def action_choose(self) -> None:
        if self.row_count():
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if row >= self.row_count():
            return
        again = row == self.cursor
        self.move_to(row)
        if again or event.chain > 1:
            self.action_choose()

    def _keep_in_view(self) -> None:
        height, top = self.size.height, self.scroll_offset.y
        if self.cursor < top:
            self._scroll_to_row(self.cursor)
        elif height and self.cursor >= top + height:
            self._scroll_to_row(self.cursor - height + 1)

    def _scroll_to_row(self, row: int) -> None:
        # force: rows that have just become more than fit are not yet known to scroll
        self.scroll_to(y=max(0, row), animate=False, immediate=True, force=True)

    # Drawing

    def on_resize(self) -> None:
        self.rows_changed()
        self._keep_in_view()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._styles.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The strips of the visible region (in cells); filters such as NO_COLOR are applied."""
        width, height, count = self.size.width, self.size.height, self.row_count()
        top = self.scroll_offset.y
        thumb = self._thumb(top, height, count)
        focused = self.has_focus
        strips = []
        for y in range(crop.y, crop.bottom):
            row = top + y
            if row < count:
                key = (row, y in thumb, row == self.cursor and (1 + focused), width)
                strip = self._strips.get(key) or self._remember(key, self._draw_strip(*key))
            else:
                text = self.empty_text() if count == 0 and y == min(1, height - 1) else ""
                strip = self._filtered(self._line([(f" {text}", "dim")], [], width, False))
            strips.append(strip.crop(crop.x, crop.right) if crop.width < width else strip)
        return strips

    def _draw_strip(self, row: int, thumb: bool, cursor: int, width: int) -> Strip:
        bar: Piece = (self.glyphs.thumb, "bar") if thumb else (" ", "")
        left, right = self.draw(row, width - 1)
        return self._line(left, right, width - 1, bool(cursor), bar)

    def _line(
        self, left: list[Piece], right: list[Piece], width: int, cursor: bool, *bar: Piece
    ) -> Strip:
        """Pieces as one strip: the left ones cut where the right ones begin. Where those would
        take more than half of it, the first of them, which matter least, are left out."""
        right_width = sum(cell_len(text) for text, _ in right)
        shown_right = list(right)
        while right_width > width // 2:
            right_width -= cell_len(shown_right.pop(0)[0])
        room = width - right_width
        segments = []
        for text, style in left:
            size = cell_len(text)
            if size > room:
                text = set_cell_size(text, max(0, room - 1)) + self.glyphs.more * (room > 0)
                size = room
            room -= size
            segments.append(Segment(text, self._style(style, cursor)))
            if room <= 0:
                break
        segments.append(Segment(" " * room, self._style("", cursor)))
        segments += [Segment(text, self._style(style, cursor)) for text, style in shown_right]
        segments += [Segment(text, self._style(style, False)) for text, style in bar]
        return Strip(segments)

    def _style(self, name: str, cursor: bool) -> Style:
        style = self._styles.get((name, cursor))
        if style is None:
            style = self.rich_style
            if name:
                for part in name.split():
                    style += self.get_component_rich_style(f"rows--{part}", partial=True)
            if cursor:
                style += self.get_component_rich_style("rows--cursor", partial=True)
            self._styles[name, cursor] = style
        return style

    def _remember(self, key: tuple[Any, ...], strip: Strip) -> Strip:
        if len(self._strips) >= _CACHED_STRIPS:
            self._strips.clear()
        self._strips[key] = strip = self._filtered(strip)
        return strip

    def _filtered(self, strip: Strip) -> Strip:
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return strip

    def _thumb(self, top: int, height: int, count: int) -> range:
        """The lines of the view in which the scroll bar is drawn; none if all rows fit."""
        if count <= height or not height:
            return range(0)
        size = max(1, height * height // count)
        start = round((height - size) * top / (count - height))
        return range(start, start + size)
