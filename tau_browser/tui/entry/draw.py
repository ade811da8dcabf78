"""Sections drawn as rows of a given width, one at a time, so that the first need not wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO

from rich.cells import cell_len, chop_cells
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from tau_browser.tui.entry.code import coloured, lexer_of_file
from tau_browser.tui.entry.images import picture
from tau_browser.tui.entry.parts import (
    CALL,
    ELLIPSIS,
    FOLDED,
    NESTED,
    RESULT,
    UNFOLDED,
    Code,
    Diff,
    Line,
    More,
    Part,
    Picture,
    Plain,
    Prose,
    Section,
)
from tau_browser.tui.entry.prose import BAR, BULLET, prose
from tau_browser.tui.glyphs import ASCII, Glyphs

Row = list[Segment]

_TAB = 4
_MOST_LAID_OUT = 40_000
"""Characters of one text that Rich lays out; a longer one is folded, which costs nothing."""


class Canvas:
    """Draws parts in a width of so many cells, in the styles of a palette."""

    def __init__(
        self, width: int, styles: dict[str, Style], glyphs: Glyphs, *, pictures: bool
    ) -> None:
        self.width = width
        self._glyphs = glyphs
        self._pictures = pictures
        # Told everything, it asks neither the environment nor a terminal.
        self._console = Console(
            file=StringIO(),
            width=width,
            height=100,
            force_terminal=True,
            color_system="truecolor",
            legacy_windows=False,
            no_color=False,
            markup=False,
            emoji=False,
            highlight=False,
            tab_size=_TAB,
            theme=Theme(styles),
        )

    def rows(self, sections: Iterable[Section]) -> Iterator[Row]:
        """The rows of the sections, a blank one between two."""
        rows = self._rows(sections)
        return map(_in_ascii, rows) if self._glyphs is ASCII else rows

    def _rows(self, sections: Iterable[Section]) -> Iterator[Row]:
        for count, section in enumerate(sections):
            if count:
                yield []
            if section.title:
                yield from self._titled(section.title)
            for part in section.parts:
                yield from self._safely(part)

    def _safely(self, part: Part) -> Iterator[Row]:
        """A part, or its plain text where a lexer or a layout stumbles over it."""
        try:
            yield from self._part(part)
        except Exception as error:
            yield from self._plain(f"(drawn plainly: {type(error).__name__})", "entry.warn")
            yield from self._plain(part.text, "")

    def _part(self, part: Part) -> Iterator[Row]:
        match part:
            case Line(spans, hang):
                return self._hanging(_line(spans), hang)
            case Plain(text, style):
                return self._plain(text, style)
            case Prose(text):
                laid_out = prose(text) if len(text) <= _MOST_LAID_OUT else None
                return self._rich(laid_out) if laid_out else self._plain(text, "")
            case Code(text, file):
                return self._rich(coloured(text, lexer_of_file(file)))
            case Diff(text):
                return self._diff(text)
            case Picture(image):
                drawn = picture(image, self.width) if self._pictures else None
                return self._rich(drawn) if drawn else iter(())
            case More():
                return self._rich(_line([(ELLIPSIS, "entry.muted"), (part.what, "entry.muted")]))

    def _titled(self, title: Line) -> Iterator[Row]:
        """A title, its last row drawn out to the edge."""
        rows = list(self._rich(_line(title.spans)))
        left = self.width - sum(cell_len(segment.text) for segment in rows[-1]) - 1
        if left > 0:
            rows[-1].append(Segment(f" {self._glyphs.rule * left}", self._style("entry.muted")))
        yield from rows

    def _rich(self, renderable: RenderableType, width: int = 0) -> Iterator[Row]:
        width = width or self.width
        options = self._console.options.update(width=width, overflow="fold", height=None)
        if self._glyphs is ASCII:
            options.encoding = "ascii"  # what Rich draws the lines of tables by
        segments = self._console.render(renderable, options)
        return iter(
            Segment.split_and_crop_lines(segments, width, pad=False, include_new_lines=False)
        )

    def _hanging(self, text: Text, hang: int) -> Iterator[Row]:
        """A line whose other rows are indented by as much as its beginning takes."""
        if not hang or self.width < 2 * hang:
            yield from self._rich(text)
            return
        head, rest = text.divide([hang])
        before = next(self._rich(head))
        for row in self._rich(rest, self.width - hang):
            yield [*before, *row]
            before = [Segment(" " * hang)]

    def _plain(self, text: str, style: str) -> Iterator[Row]:
        """Text line by line. Most of it needs no layout by Rich: that costs 20 times as much."""
        shown = self._style(style)
        for line in text.expandtabs(_TAB).split("\n"):
            if line.isascii():
                pieces = _folded(line, self.width)
            elif len(text) <= _MOST_LAID_OUT:
                yield from self._rich(Text(line, shown))
                continue
            else:
                pieces = chop_cells(line, self.width) or [line]
            for piece in pieces:
                yield [Segment(piece, shown)]

    def _diff(self, text: str) -> Iterator[Row]:
        for line in text.split("\n"):
            style = _DIFF_STYLES.get(line[:4]) or _DIFF_STYLES.get(line[:1], "")
            yield from self._plain(line, style)

    def _style(self, name: str) -> Style:
        return self._console.get_style(name or "none")


_IN_ASCII = {
    FOLDED: f"{ASCII.folded} ",
    UNFOLDED: f"{ASCII.unfolded} ",
    ELLIPSIS: "... ",
    CALL: "> ",
    RESULT: "< ",
    NESTED: "` ",
    BULLET: " * ",
    BAR: "| ",
}


def _in_ascii(row: Row) -> Row:
    """A row with our signs, which stand as segments of their own, in their plain spelling."""
    return [Segment(_IN_ASCII.get(text, text), style) for text, style, _ in row]


_DIFF_STYLES = {
    "+++ ": "entry.heading",  # the names of the files
    "--- ": "entry.heading",
    "@": "diff.place",
    "+": "diff.added",
    "-": "diff.removed",
}


def _line(spans: Iterable[tuple[str, str]]) -> Text:
    text = Text()
    for piece, style in spans:
        text.append(piece, style)
    return text


def _folded(line: str, width: int) -> list[str]:
    """A line of ASCII cut into pieces that fit, at a space where one is near."""
    pieces, at = [], 0
    while len(line) - at > width:
        space = line.rfind(" ", at + width // 2, at + width + 1)
        stop = space if space >= 0 else at + width
        pieces.append(line[at:stop])
        at = stop + (space >= 0)
    return [*pieces, line[at:]]
