"""The rows of what was found: sessions, and under each its hits."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from rich.cells import cell_len

from tau_browser.model.state import State
from tau_browser.model.text import safe_line
from tau_browser.search.find import Span
from tau_browser.search.results import Hit, Results
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

Title = Callable[[str], str]
"""From the path of a session to its title, "" if it is not known."""

_IN_NONE = "in no session"
_GONE = "what stood here is no longer in the file"
_MOST_OF_RANKS = 0.3  # of the width
_TURN = 24  # code points of what began the turn of a hit
_WARNED = {State.DETACHED, State.INCOMPLETE}
_ASIDE = {State.ABANDONED, State.FOLDED, State.SUBAGENT}


@dataclass(frozen=True, slots=True)
class _Row:
    """A hit, or the head of a session with its hits."""

    hits: list[Hit]
    is_head: bool = False

    @property
    def key(self) -> tuple[str, int | None]:
        """What stays the same of the row in a better answer."""
        standing = self.hits[0].standing
        return standing.path, None if self.is_head else standing.start


class ResultsView(RowsView):
    """The hits of one answer. A better answer to the same question leaves the selection alone."""

    def __init__(self, title: Title, glyphs: Glyphs) -> None:
        super().__init__(id="results", glyphs=glyphs)
        self.notice = ""
        self._title = title
        self._rows: list[_Row] = []

    @property
    def selected(self) -> Hit | None:
        """The hit under the cursor, or the first of the session under it."""
        return self._rows[self.cursor].hits[0] if self._rows else None

    @property
    def is_at_end(self) -> bool:
        """Whether the cursor stands on the last row."""
        return self.cursor >= len(self._rows) - 1

    def on_screen(self) -> list[str]:
        """The paths of the sessions whose titles are on screen."""
        top = self.scroll_offset.y
        rows = self._rows[top : top + self.size.height]
        return [row.hits[0].standing.path for row in rows if row.is_head]

    def titles_changed(self) -> None:
        """Draw the titles of sessions again."""
        self._strips.clear()
        self.refresh()

    def show(self, results: Results, *, anew: bool) -> None:
        """Show an answer. anew: to another question, so the selection goes to its first hit."""
        chosen = self._rows[self.cursor].key if self._rows else None
        top = self.scroll_offset.y
        offset = self.cursor - top
        by_session: dict[str, list[Hit]] = {}
        for hit in results.hits:
            by_session.setdefault(hit.standing.path, []).append(hit)
        self._rows = []
        for hits in by_session.values():
            self._rows.append(_Row(hits, is_head=True))
            self._rows += [_Row([hit]) for hit in hits]
        self.rows_changed()
        rows = {item.key: row for row, item in enumerate(self._rows)}
        if anew or chosen not in rows:
            self._scroll_to_row(0)
            self.move_to(1)
        else:
            if top:  # at the top, what now comes first is to be seen
                self._scroll_to_row(rows[chosen] - offset)
            self.move_to(rows[chosen])

    def clear(self) -> None:
        """Show that there is nothing."""
        self._rows = []
        self.rows_changed()
        self.move_to(0)

    # Drawing

    def row_count(self) -> int:
        return len(self._rows)

    def empty_text(self) -> str:
        return self.notice

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        item = self._rows[row]
        if item.is_head:
            return self._draw_head(item.hits)
        return self._draw_hit(item.hits[0], width)

    def _draw_head(self, hits: list[Hit]) -> tuple[list[Piece], list[Piece]]:
        standing = hits[0].standing
        title = self._title(standing.path) or os.path.basename(standing.path) or _IN_NONE
        right = [(f" {safe_line(standing.cwd)}", "dim"), (f" {len(hits):,} shown", "dim")]
        return [(safe_line(title), "strong")], right

    def _draw_hit(self, hit: Hit, width: int) -> tuple[list[Piece], list[Piece]]:
        shade = "dim" if hit.state in _ASIDE else ""
        style = "warning" if hit.state in _WARNED else "dim"
        sign = self.glyphs.speakers.get(hit.speaker.split(" ")[0]) or self.glyphs.speakers["other"]
        left: list[Piece] = [
            (self._sign_of(hit.state), "accent" if hit.state is State.PATH else style),
            (f"{hit.rank:>4,} ", "dim"),
            (f"{sign} ", "accent"),
            (f"{safe_line(hit.speaker)} ", f"accent {shade}"),
        ]
        if hit.state not in (State.PATH, None):
            left.append((f"{hit.state_word} ", style))
        if hit.is_subagent and hit.state is not State.SUBAGENT:
            left.append(("sub-agent ", "accent"))
        right: list[Piece] = []
        if hit.turn:
            right.append((f" in: {hit.turn.text[:_TURN]}", "dim"))
        if hit.also_in:
            copies = "copy" if len(hit.also_in) == 1 else "copies"
            right.append((f" +{len(hit.also_in)} {copies}", "dim"))
        right.append((f" {_ranks(hit, width)}", "dim"))
        room = width - _cells(left) - min(_cells(right), width // 2)
        return [*left, *self._snippet(hit, shade, room)], right

    def _sign_of(self, state: State | None) -> str:
        return " " if state is None else self.glyphs.states[state]

    def _snippet(self, hit: Hit, shade: str, room: int) -> list[Piece]:
        """What was found, cut at its start where else the first mark would not be in view."""
        text, marks = hit.snippet.text, hit.snippet.marks
        if not text:
            return [(_GONE, "warning")]
        at = 0
        pieces: list[Piece] = []
        if marks and cell_len(text[: marks[0][1]]) >= room:
            at = max(0, marks[0][0] - room // 4)
            pieces.append((self.glyphs.more, shade))
        return [*pieces, *_marked(text, marks, at, shade)]


def _ranks(hit: Hit, width: int) -> str:
    """The rank that each ranker gave; where names would leave little room for what was found, with
    their first letters."""
    if not hit.parts:
        return "by a scan"
    ranks = " ".join(f"{part.ranker} #{part.rank}" for part in hit.parts)
    if len(ranks) <= width * _MOST_OF_RANKS:
        return ranks
    return " ".join(f"{part.ranker[0]}#{part.rank}" for part in hit.parts)


def _marked(text: str, marks: list[Span], at: int, shade: str) -> list[Piece]:
    """A text from some place on, with its marks."""
    pieces: list[Piece] = []
    for start, stop in marks:
        pieces += [(text[at:start], shade), (text[start:stop], "hit")]
        at = stop
    return [*pieces, (text[at:], shade)]


def _cells(pieces: list[Piece]) -> int:
    return sum(cell_len(text) for text, _ in pieces)
