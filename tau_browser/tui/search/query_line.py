"""The line in which a query is typed, and the line below that says what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from rich.highlighter import Highlighter
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from tau_browser import config
from tau_browser.model.text import safe_line
from tau_browser.search.query import BadQuery, Completion, Query, completions, parse
from tau_browser.tui.bar import Bar
from tau_browser.tui.search.wording import fault_of, meaning_of

_LABEL = "search"
_SHOWN_COMPLETIONS = 4
_ROOM_FOR_MANNER = 110

Read = Callable[[str], Query]
"""From what is typed to a query."""

Known = Callable[[], Mapping[str, Sequence[str]]]
"""What filters without fixed values may be, by name, such as the projects that there are."""


class QueryLine(Vertical):
    """Tells of every query that can be searched for, while it is typed and when it is done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "walk(-1)", "the query before", show=False),
        Binding("down", "walk(1)", "the query after, or to the results", show=False),
    ]
    DEFAULT_CSS = """
    QueryLine { height: 2; }
    QueryLine > Horizontal { height: 1; }
    QueryLine #query { background: $panel; }
    QueryLine #query-label { width: 8; color: $text-accent; text-style: bold; }
    QueryLine Input { width: 1fr; }
    QueryLine #manner { width: auto; }
    QueryLine #meaning { width: 1fr; }
    QueryLine #completions { width: auto; color: $text-accent; }
    """

    class Changed(Message):
        """The text changed. `query` is None if it cannot be searched for."""

        def __init__(self, query: Query | None) -> None:
            super().__init__()
            self.query = query

    class Accepted(Changed):
        """Enter was pressed: the query is done."""

    def __init__(self, known: Known) -> None:
        super().__init__()
        self._known = known
        self._input = Input(compact=True, select_on_focus=False, highlighter=_Safe())
        self._input.cursor_blink = False
        self._meaning = Bar(id="meaning", classes="-plain")
        self._completions = Bar(id="completions", classes="-plain")
        self._manner = Bar(id="manner", classes="-plain")
        self._history = _History()
        self._read: Read | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="query"):
            yield Bar(_LABEL, id="query-label", classes="-plain")
            yield self._input
            yield self._manner
        with Horizontal():
            yield self._meaning
            yield self._completions

    @property
    def text(self) -> str:
        """The query as typed."""
        return self._input.value

    @property
    def is_typed_in(self) -> bool:
        """Whether what is typed goes into it."""
        return self._input.has_focus

    def focus_input(self) -> None:
        """Let what is typed from now on go into the line, at its end."""
        self.screen.set_focus(self._input)

    def complete(self) -> bool:
        """Accept the first completion; False if there is none."""
        offered = self._offered()
        if not offered:
            return False
        first = offered[0]
        self._input.value = self.text[: first.start] + first.text + self.text[first.stop :]
        self._input.cursor_position = first.start + len(first.text)
        return True

    def put(self, text: str) -> None:
        """Put a query into the line."""
        self._input.value = text
        self._input.cursor_position = len(text)

    def show_manner(self, text: str, read: Read | None) -> None:
        """Say how the query is sought, and read it so from now on. read: None for as it is parsed
        usually."""
        self._manner.show(text)
        self._manner.styles.width = len(text) + 2 if self.size.width >= _ROOM_FOR_MANNER else 0
        self._read = read

    def typed_query(self) -> Query | None:
        """What is typed as a query; None if it is none."""
        return self._parsed(typing=True)

    def remember(self) -> None:
        """Keep the query, so that it can be had again."""
        self._history.add(self.text)

    def action_walk(self, step: int) -> None:
        """Go through the queries from before; from any other text, down leads to the results."""
        if self.text in ("", self._history.current):
            if (text := self._history.walk(step)) is not None:
                self.put(text)
        elif step > 0:
            self._accept()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self._parsed(typing=True)))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._accept()

    def on_resize(self) -> None:
        self._parsed(typing=True)

    def _accept(self) -> None:
        self.post_message(self.Accepted(self._parsed(typing=False)))

    def _parsed(self, *, typing: bool) -> Query | None:
        """The query, if it is one; the line below says what it means, or what is wrong."""
        offered = self._offered()
        self._show_completions(offered)
        if self._read is not None:
            self._meaning.show("what is typed is sought as it is, signs and all")
            return self._read(self.text)
        try:
            query = parse(self.text, typing=typing)
        except BadQuery as error:
            # the bar begins one cell after the edge, the query after its label
            room = self.size.width - len(_LABEL) - 2 - self._completions.size.width
            indent = " " * (len(_LABEL) + 1)
            self._meaning.show(indent + fault_of(error, self.text, room))
            return None
        self._meaning.show(meaning_of(query) or 'words, "a phrase", /regex/, -not, role:user …')
        return query

    def _offered(self) -> list[Completion]:
        if self._read is not None:
            return []
        return completions(self.text, self._input.cursor_position, self._known())

    def _show_completions(self, offered: list[Completion]) -> None:
        words = [safe_line(each.text) for each in offered[:_SHOWN_COMPLETIONS]]
        more = f" and {len(offered) - len(words)} more" if len(offered) > len(words) else ""
        text = f"Tab {' · '.join(words)}{more}" if words else ""
        width = min(len(text) + 2, self.size.width // 2) if text else 0
        self._completions.show(text)
        self._completions.styles.width = width


class _Safe(Highlighter):
    """Shows what was pasted as it is shown everywhere: nothing in it acts on the terminal."""

    def highlight(self, text: Text) -> None:
        text.plain = safe_line(text.plain)


class _History:
    """The last queries, the newest last, kept between runs."""

    def __init__(self) -> None:
        self._queries = config.remembered_queries()
        self._at = len(self._queries)

    @property
    def current(self) -> str | None:
        """The query that the walk has come to."""
        return self._queries[self._at] if self._at < len(self._queries) else None

    def walk(self, step: int) -> str | None:
        """The query before (-1) or after (1), "" after the last; None if there is none."""
        at = self._at + step
        if not 0 <= at <= len(self._queries):
            return None
        self._at = at
        return self.current or ""

    def add(self, query: str) -> None:
        """Make a query the newest."""
        config.remember_query(query)
        self._queries = config.remembered_queries()
        self._at = len(self._queries)
