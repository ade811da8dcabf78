"""The pane that shows one entry: draws it beside the event loop, scrolls it, finds in it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.binding import BindingType
from textual.events import Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.theme import Theme

from tau_browser.tui.entry.match import Finder, Spans
from tau_browser.tui.entry.palette import styles_of
from tau_browser.tui.entry.parts import More, Plain, Section, View
from tau_browser.tui.glyphs import UNICODE, Glyphs
from tau_browser.tui.keys import ENTRY, bindings

# The model needs numpy, Markdown and code need parsers: together some 300 ms of imports, which a
# first frame does not wait for. Whoever shows an entry has the model already.
if TYPE_CHECKING:
    from tau_browser.model.session import Session
    from tau_browser.model.usage import Ledger, Prices

_DELAY = 0.06
"""Seconds that the selection must rest before an entry is drawn."""

_MARGIN = 1  # blank columns on either side
_KEPT_DRAWINGS = 16
_KEPT_STRIPS = 512
_Key = tuple[int, str, View, int, str]  # place, state, view, width, theme
_NOTHING = [[Segment("Nothing is selected.", Style(dim=True))]]


@dataclass(frozen=True)
class _Job:
    """All that a drawing is made from."""

    session: Session
    ledger: Ledger
    place: int
    state: str
    view: View
    width: int = 0
    styles: dict[str, Style] = field(default_factory=dict)
    glyphs: Glyphs = UNICODE
    pictures: bool = False

    @property
    def identity(self) -> tuple[str, int, int]:
        """What stays the same of an entry when its session is read anew."""
        return self.session.id, self.place, int(self.session.columns.key[self.place])

    def sections(self) -> Iterator[Section]:
        """What is shown, before it is drawn."""
        from tau_browser.tui.entry.present import sections_of

        return sections_of(self.session, self.place, self.state, self.view, self.ledger)


@dataclass(slots=True)
class _Drawing:
    """Rows of segments, and whether more can be asked for."""

    rows: list[list[Segment]]
    is_cut: bool = False


class EntryPane(ScrollView, can_focus=True):
    """Everything that is stored about one entry.

    It draws its own rows and no border or padding: those belong to the container around it.
    """

    DEFAULT_CSS = """
    EntryPane {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ENTRY)]

    class Shown(Message):
        """An entry has been drawn to its end, or what is found in it has changed."""

        def __init__(self, pane: EntryPane) -> None:
            super().__init__()
            self.pane = pane

        @property
        def control(self) -> EntryPane:
            return self.pane

    class _Drawn(Message):
        """From the worker: the first rows of a drawing, or the whole of it."""

        def __init__(self, generation: int, drawing: _Drawing, is_whole: bool) -> None:
            super().__init__()
            self.generation, self.drawing, self.is_whole = generation, drawing, is_whole

    def __init__(
        self,
        prices: Prices | None = None,
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._prices = prices or {}
        self._glyphs = glyphs
        self._job: _Job | None = None
        self._view = View()
        self._drawing = _Drawing(_NOTHING)
        self._drawings: OrderedDict[_Key, _Drawing] = OrderedDict()
        self._asked: _Key | None = None
        self._generation = 0
        self._strips: dict[int, Strip] = {}
        self._base: Style | None = None
        self._finder = Finder()
        self._is_new = True  # what is being drawn is another entry: to be shown from its top
        self._seeks = False  # and from the first place that is found in it

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._on_theme)

    def on_unmount(self) -> None:
        self._generation += 1  # whatever is being drawn may stop

    # What is shown

    def show(self, session: Session, place: int, state: str = "") -> None:
        """Show an entry. state: how it stands to the leaf, in a word.

        Shown already, as when its session has grown, it stays where it is scrolled to.
        """
        from tau_browser.model.usage import Ledger

        before = self._job
        if before is not None and session is before.session:
            ledger = before.ledger
        else:
            ledger = Ledger(session, self._prices)
            self._drawings.clear()
        job = _Job(session, ledger, place, state, self._view)
        if before is None or job.identity != before.identity:
            self._view = replace(self._view, more=0)
            self._is_new = True
        self._job = replace(job, view=self._view)
        self._request(_DELAY)

    def clear(self) -> None:
        """Show that nothing is selected."""
        self._generation += 1
        self._job = None
        self._is_new = True
        self._drawings.clear()
        self._accept(_Drawing(_NOTHING), is_whole=True)

    @property
    def place(self) -> int | None:
        """The entry that is shown, or None."""
        return self._job.place if self._job else None

    @property
    def view(self) -> View:
        """How it is shown."""
        return self._view

    @property
    def is_cut(self) -> bool:
        """Whether more of the entry can be asked for."""
        return self._drawing.is_cut

    def text(self) -> str:
        """What is shown as plain text, without the line ends that only the width makes."""
        return "\n\n".join(section.text for section in self._job.sections()) if self._job else ""

    # What is found in it

    def highlight(self, spans: Spans | None, near: Spans | None = None) -> None:
        """Mark what is sought in what is shown, from now on; None: mark nothing. near: what is
        only near to it is marked otherwise."""
        self._finder.spans, self._finder.near = spans, near
        self._finder.current = None
        self._find()
        self._seeks = not self.go_to_match(0)
        self.post_message(self.Shown(self))

    @property
    def matches(self) -> int:
        """How often what is sought occurs in what is shown."""
        return len(self._finder.matches)

    @property
    def match(self) -> int | None:
        """Which occurrence is the current one, from 0."""
        return self._finder.current

    def go_to_match(self, number: int) -> bool:
        """Make an occurrence the current one and scroll to it; False if there is none."""
        if not 0 <= number < self.matches:
            return False
        self._finder.current = number
        self._strips.clear()
        self.refresh()
        row = self._finder.row()
        top, height = self.scroll_offset.y, self.size.height
        if row is not None and not top <= row < top + height:
            self.scroll_to(y=max(0, row - height // 3), animate=False, force=True)
        return True

    def next_match(self) -> bool:
        """Go to the next occurrence; False if this was the last."""
        return self.go_to_match(0 if self.match is None else self.match + 1)

    def previous_match(self) -> bool:
        """Go to the occurrence before; False if this was the first."""
        return self.go_to_match(self.matches - 1 if self.match is None else self.match - 1)

    # What the keys do

    def action_toggle_thinking(self) -> None:
        """Unfold the model's thinking, or fold it."""
        self._change(replace(self._view, thinking=not self._view.thinking))

    def action_toggle_raw(self) -> None:
        """Show the entry as it is stored, or as it reads."""
        self._is_new = True
        self._change(replace(self._view, raw=not self._view.raw))

    def action_show_more(self) -> None:
        """Show four times as much of a long entry."""
        if self.is_cut:
            self._change(replace(self._view, more=self._view.more + 1))

    def scroll_half_page(self, direction: int) -> None:
        """Scroll by half of what is visible: down with 1, up with -1."""
        self._scroll_by(direction * (self.size.height // 2))

    def action_scroll_down(self) -> None:
        self._scroll_by(1)

    def action_scroll_up(self) -> None:
        self._scroll_by(-1)

    def action_page_down(self) -> None:
        self._scroll_by(self.size.height - 1)

    def action_page_up(self) -> None:
        self._scroll_by(1 - self.size.height)

    def action_scroll_home(self) -> None:
        self.scroll_to(y=0, animate=False)

    def action_scroll_end(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False)

    def _scroll_by(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, immediate=True)

    # Drawing: asked for here, done in a thread, taken over here again

    def _change(self, view: View) -> None:
        self._view = view
        if self._job:
            self._job = replace(self._job, view=view)
            self._request(0)

    def _request(self, delay: float) -> None:
        """Show what is wanted now: from the drawings that are kept, or drawn after a while."""
        self._generation += 1
        key = self._asked = self._key()
        if key is None:
            return
        if key in self._drawings:
            self._drawings.move_to_end(key)
            self._accept(self._drawings[key], is_whole=True)
        else:
            self._draw_after(delay, self._generation)

    def _key(self) -> _Key | None:
        """What a drawing depends on within one session; None if there is none to be made."""
        job, width = self._job, self._width
        return (job.place, job.state, job.view, width, self.app.theme) if job and width else None

    @property
    def _width(self) -> int:
        return max(0, self.size.width - 2 * _MARGIN)

    @work(exclusive=True, group="entry")
    async def _draw_after(self, delay: float, generation: int) -> None:
        await asyncio.sleep(delay)
        if self._job is None or generation != self._generation or not self._width:
            return  # without a width it has been hidden meanwhile
        job = replace(
            self._job,
            width=self._width,
            styles=styles_of(self.app.theme_variables),
            glyphs=self._glyphs,
            pictures=not self.app.no_color and self.app.console.color_system is not None,
        )
        # the first rows are shown at once, unless that would scroll away from where we are
        first = self.size.height if self._is_new or not self.scroll_offset.y else None
        await asyncio.to_thread(self._draw, job, generation, first)

    def _draw(self, job: _Job, generation: int, first: int | None) -> None:
        """In a thread: draw until done, or until something else is wanted."""
        from tau_browser.tui.entry.draw import Canvas

        drawing = _Drawing([])

        def watched() -> Iterator[Section]:
            for section in job.sections():
                drawing.is_cut |= any(isinstance(part, More) for part in section.parts)
                yield section

        canvas = Canvas(job.width, job.styles, job.glyphs, pictures=job.pictures)
        try:
            for row in canvas.rows(watched()):
                if generation != self._generation:
                    return
                drawing.rows.append(row)
                if len(drawing.rows) == first:
                    start = _Drawing(list(drawing.rows), drawing.is_cut)
                    self.post_message(self._Drawn(generation, start, False))
        except Exception as error:  # whatever is stored, and whatever became of its file
            failed = Plain(f"This entry cannot be shown: {type(error).__name__}", "entry.bad")
            drawing.rows += canvas.rows([Section(None, [failed])])
        self.post_message(self._Drawn(generation, drawing, True))

    def on_entry_pane__drawn(self, message: _Drawn) -> None:
        message.stop()
        if message.generation != self._generation:
            return
        if message.is_whole and self._asked is not None:
            self._drawings[self._asked] = message.drawing
            while len(self._drawings) > _KEPT_DRAWINGS:
                self._drawings.popitem(last=False)
        self._accept(message.drawing, message.is_whole)

    def _accept(self, drawing: _Drawing, is_whole: bool) -> None:
        self._drawing = drawing
        self.virtual_size = Size(self.size.width, len(drawing.rows))
        if self._is_new:
            self._is_new, self._seeks = False, True
            self._finder.current = None
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self._find()
        if self._seeks and self.go_to_match(0):
            self._seeks = False
        if is_whole:
            self._seeks = False
            self.post_message(self.Shown(self))

    def _find(self) -> None:
        self._finder.find(self._drawing.rows if self._job else [], self._width)
        self._strips.clear()
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        if self._key() != self._asked:  # a change of height leaves the rows as they are
            self._request(_DELAY)

    def _on_theme(self, theme: Theme) -> None:
        self._request(0)

    # Rows on the screen

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._base = None
        self._strips.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible rows. Finished strips are handed out again as the same objects: whatever
        the screen derives from a strip is kept in it."""
        first = self.scroll_offset.y + crop.y
        if len(self._strips) > _KEPT_STRIPS:
            self._strips.clear()
        width = self.size.width
        strips = [self._strip(at, width) for at in range(first, first + crop.height)]
        left, right = crop.column_span
        if (left, right) == (0, width):
            return strips
        return [strip.crop(left, right) for strip in strips]

    def _strip(self, at: int, width: int) -> Strip:
        rows = self._drawing.rows
        key = min(at, len(rows))  # all rows below the last are one blank
        strip = self._strips.get(key)
        if strip is None or strip.cell_length != width:
            row = self._finder.marked(at, rows[at]) if at < len(rows) else []
            if self._base is None:
                self._base = self.rich_style
            strip = Strip([Segment(" " * _MARGIN), *row]).adjust_cell_length(width)
            strip = strip.apply_style(self._base)
            for line_filter in self.get_line_filters():
                strip = strip.apply_filter(line_filter, self.background_colors[1])
            self._strips[key] = strip
        return strip
