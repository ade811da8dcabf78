"""Markdown that hides nothing.

Rich lays it out; the parser here leaves alone what layout would swallow: line breaks, HTML, links
and their targets, images, entities, backslashes, underscores, and stars within words. What remains
is emphasis, lists, quotations, headings, code and tables; of those, code and headings keep their
marks, which say without colour what they are. Nothing in it can become a link of the terminal, and
no letter goes missing: what cannot be laid out whole is not laid out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_inline.state_inline import Delimiter, StateInline
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import (
    BlockQuote,
    CodeBlock,
    Heading,
    ListElement,
    ListItem,
    Markdown,
    MarkdownContext,
    MarkdownElement,
    TableElement,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tau_browser.tui.entry.code import coloured, lexer_named

BULLET = " • "
BAR = "▌ "

_LEFT_AS_WRITTEN = [
    *("link", "image", "autolink", "reference", "html_inline", "html_block"),
    *("entity", "escape", "lheading"),
]
_NARROWEST = 16  # cells that an indented text must have; with fewer, it is not indented
_NARROWEST_COLUMN = 4


def prose(text: str) -> Markdown | None:
    """Safe Markdown laid out, or None where that would lose a part of it.

    Known to do so: a table with rows longer than its head, which is then left as written, and
    quotations in quotations without end.
    """
    for parser in _PARSERS:
        tokens = parser.parse(text)
        if _letters("".join(_contents(tokens))) == _letters(text):
            return _Prose(tokens)
    return None


class _Heading(Heading):
    """A heading at the left, behind its number signs."""

    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text.append(f"{'#' * int(self.tag[1:])} ", "entry.muted")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Code(CodeBlock):
    """A code block between its fences, or at its indent."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Code:
        return cls(token.markup, token.info)

    def __init__(self, fence: str, info: str) -> None:
        super().__init__("", "")
        self.fence, self.info = fence, info

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).removesuffix("\n")
        if not self.fence:
            yield Text("\n".join(f"    {line}" for line in code.split("\n")))
            return
        yield Text(f"{self.fence}{self.info}", "entry.muted")
        if code:
            yield coloured(code, lexer_named(self.info.strip().partition(" ")[0]))
        yield Text(self.fence, "entry.muted")


class _Item(ListItem):
    """An item of a list, behind the number that it was given or a bullet."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Item:
        return cls(f" {token.info}{token.markup} " if token.info else BULLET)

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark

    def render_bullet(self, console: Console, options: ConsoleOptions) -> RenderResult:
        style = console.get_style("markdown.item.bullet")
        return _beside(console, options, Segment(self.mark, style), " " * len(self.mark), self)


class _List(ListElement):
    """A list of either kind: each item knows its own mark."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for item in self.items:
            yield from item.render_bullet(console, options)


class _Quote(BlockQuote):
    """A quotation beside a bar."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return _beside(console, options, Segment(BAR, self.style), BAR, self)


class _Table(TableElement):
    """A table whose cells fold; where there is no room for its columns, its cells by rows."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = self.header.row.cells if self.header and self.header.row else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
        titles = [cell.content for cell in heads]
        if options.max_width < _NARROWEST_COLUMN * len(titles):
            yield from (Text(" | ").join(cells) for cells in [titles, *rows])
            return
        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, style="markdown.table.border"
        )
        for title in titles:
            title.stylize("markdown.table.header")
            table.add_column(title, overflow="fold", justify=title.justify or "left")
        for cells in rows:
            table.add_row(*cells)
        yield table


class _Prose(Markdown):
    """Parsed Markdown as something that Rich lays out."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "bullet_list_open": _List,
        "ordered_list_open": _List,
        "list_item_open": _Item,
        "blockquote_open": _Quote,
        "table_open": _Table,
    }

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = tokens
        for token in tokens:
            for inline in token.children or []:
                if inline.type == "code_inline":
                    inline.content = f"{inline.markup}{inline.content}{inline.markup}"


def _beside(
    console: Console, options: ConsoleOptions, mark: Segment, padding: str, element: _Item | _Quote
) -> Iterator[Segment]:
    """The parts of an element, its mark beside the first row and a padding beside the others."""
    width = options.max_width - mark.cell_length
    if width < _NARROWEST:
        padding, width = "", options.max_width
        yield from (mark, Segment.line())
        mark = Segment("")
    lines = console.render_lines(element.elements, options.update(width=width), pad=False)
    for line in lines or [[]]:
        yield from (mark, *line, Segment.line())
        mark = Segment(padding, mark.style)


def _contents(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        yield token.info
        yield token.content


def _letters(text: str) -> str:
    """What must not go missing from a text, in its order."""
    return "".join(filter(str.isalnum, text))


def _keep_break(state: StateInline, silent: bool) -> bool:
    """A line ends where it was written to end, and the next one keeps its indent."""
    if state.src[state.pos] != "\n":
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos += 1
    return True


def _emphasise(state: StateInline, silent: bool) -> bool:
    """Stars around words mark emphasis. Stars within a word and behind a backslash are stars."""
    if silent or state.src[state.pos] != "*":
        return False
    stars = state.scanDelims(state.pos, False)
    escaped = state.src[: state.pos].endswith("\\")
    for _ in range(stars.length):
        token = state.push("text", "", 0)
        token.content = "*"
        state.delimiters.append(
            Delimiter(
                marker=ord("*"),
                length=stars.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=stars.can_open and not escaped,
                close=stars.can_close and not escaped,
            )
        )
    state.pos += stars.length
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).disable(_LEFT_AS_WRITTEN)
    parser.inline.ruler.at("newline", _keep_break)
    parser.inline.ruler.at("emphasis", _emphasise)
    return parser


_PARSERS = [_parser().enable("table"), _parser()]
