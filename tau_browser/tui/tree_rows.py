"""The rows of a session as they are drawn: with states, badges, and what is found in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tau_browser.model.calls import ResultNames
from tau_browser.model.columns import Bools, Flag, Int32s, Places
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.memory import memory_of
from tau_browser.model.payload import message_of
from tau_browser.model.rows import Rows
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import stamp_text
from tau_browser.model.text import counted, first_line, safe_line
from tau_browser.search.find import Pattern, QueryError
from tau_browser.tui.event_badges import event_badges
from tau_browser.tui.facts import Facts
from tau_browser.tui.glyphs import UNICODE, Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

if TYPE_CHECKING:
    from tau_browser.actions.labels import Label
    from tau_browser.audit.marks import Mark
    from tau_browser.search.results import Likely

_STATE_STYLES = {
    State.PATH: "accent",
    State.ABANDONED: "dim",
    State.FOLDED: "dim",
    State.DETACHED: "warning",
    State.INCOMPLETE: "warning",
    State.SUBAGENT: "dim",
}

_ROOM_FOR_TIMES = 64  # columns below which what is said needs the space more
_ROOM_FOR_COVERS = 100  # columns; the status tells it anyway
_MEMORY = 3  # letters of a memory type in its badge: the entry pane tells the word and the rule


class TreeRows(RowsView):
    """Rows of one session, and what stands beside its entries."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.session: Session | None = None
        self.rows: Rows | None = None
        self.model_view_at: int | None = None  # the entry whose context is shown
        self.marked: list[int] = []
        self.labels: Mapping[str, Label] = {}  # by the id of the entry
        self.pattern: Pattern | None = None
        self.hits: Places = np.empty(0, np.intp)  # places, ascending
        self.likely: Mapping[int, Sequence[Likely]] = {}  # by place: what probably matched
        self.remarks: Mapping[int, Mark] = {}  # by place: what was recalled
        self.notice = ""
        self._facts: Facts | None = None
        self._names: ResultNames | None = None
        self._hits_before: Int32s | None = None  # by line: hits in the lines before it
        self._forks_before: Int32s | None = None

    def show_remarks(self, remarks: Mapping[int, Mark]) -> None:
        """Let words stand beside some entries."""
        self.remarks = remarks
        self._strips.clear()
        self.refresh()

    def show_labels(self, labels: Mapping[str, Label]) -> None:
        """Show what is written on entries."""
        self.labels = labels
        self._strips.clear()
        self.refresh()

    def unmark(self) -> None:
        """Forget all marks."""
        self.marked = []
        self._strips.clear()
        self.refresh()

    def state(self, place: int) -> State:
        """How an entry stands to the leaf."""
        return self._facts.state(place) if self._facts is not None else State.PATH

    def state_word(self, place: int) -> str:
        """The same in a word; "" in a hierarchy, which has no path, unless something is wrong."""
        state = self.state(place)
        is_usual = self.session is not None and self.session.is_nested and state is State.PATH
        return "" if is_usual else state.word

    def _forks(self) -> Places:
        return self._facts.forks if self._facts is not None else np.empty(0, np.intp)

    def _outline_changed(self) -> None:
        if self.rows is None or self.session is None:
            return
        entry = self.rows.outline.entry
        is_fork = np.zeros(len(self.session), np.bool_)
        is_fork[self._forks()] = True
        self._forks_before = _counts_before(is_fork[entry])
        self._count_hits()

    def _count_hits(self) -> None:
        self._hits_before = None
        if self.rows is None or self.session is None or not len(self.hits):
            return
        is_hit = np.zeros(len(self.session), np.bool_)
        is_hit[self.hits] = True
        self._hits_before = _counts_before(is_hit[self.rows.outline.entry])

    def row_count(self) -> int:
        return len(self.rows) if self.rows is not None else 0

    def empty_text(self) -> str:
        return self.notice or ("this session has no entries" if self.session else "")

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        assert self.rows is not None and self.session is not None
        if gap := self.rows.gap(row):
            return self._draw_gap(int(self.rows.lines[row]), gap, width), []
        place, line = self.rows.entry(row), int(self.rows.lines[row])
        session, glyphs = self.session, self.glyphs
        record = self._named(place)
        state = self.state(place)
        style = _STATE_STYLES[state]
        speaker, label = speaker_of(record), label_of(session, place, record)
        if not record:
            speaker, label = "gone", "the bytes of this entry are no longer in the file"
        failed = session.has(place, Flag.ERROR | Flag.ABORTED)
        shade = "dim" if state in (State.ABANDONED, State.FOLDED, State.SUBAGENT) else ""
        sign = glyphs.speakers.get("error" if failed else speaker.split(" ")[0])
        left: list[Piece] = [
            (glyphs.states[state], style),
            (glyphs.mark if place in self.marked else " ", "accent strong"),
            *self._indent(int(self.rows.outline.depth[line]), width),
            (self._fold_sign(row), "accent"),
            (f" {sign or glyphs.speakers['other']} ", "error" if failed else f"accent {shade}"),
            (speaker, "error" if failed else self._speaker_style(place, shade)),
            (" ", shade),
            *self._label(label, shade),
        ]
        return left, self._badges(row, place, line, state, width, record)

    def _named(self, place: int) -> dict[str, object]:
        """The record of an entry; a tool's result with the name of the tool."""
        assert self.session is not None
        if self._names is None or self._names.session is not self.session:
            self._names = ResultNames(self.session)
        return self._names.named(place, self.session.record(place))

    def _draw_gap(self, line: int, gap: int, width: int) -> list[Piece]:
        assert self.rows is not None
        depth = int(self.rows.outline.depth[line : line + gap].min())
        hidden = f"{self.glyphs.more} {gap:,} hidden"
        return [("  ", ""), *self._indent(depth, width), (hidden, "dim")]

    def _indent(self, depth: int, width: int) -> list[Piece]:
        shown = min(depth, width // 6)
        deeper: list[Piece] = [(f"{depth}{self.glyphs.more}", "dim")] if depth > shown else []
        return [*deeper, (self.glyphs.guide * shown, "dim")]

    def _fold_sign(self, row: int) -> str:
        assert self.rows is not None
        if not self.rows.is_foldable(row):
            return " "
        return self.glyphs.folded if self.rows.is_folded(row) else self.glyphs.unfolded

    def _speaker_style(self, place: int, shade: str) -> str:
        assert self.session is not None
        if self.session.is_user[place]:
            return f"strong {shade}"
        return f"accent {shade}" if self.session.role(place) == "assistant" else "dim"

    def _label(self, label: str, shade: str) -> list[Piece]:
        pieces: list[Piece] = []
        at = 0
        for start, end, style in self._spans(label):
            pieces += [(label[at:start], shade), (label[start:end], style)]
            at = end
        return [*pieces, (label[at:], shade)]

    def _spans(self, label: str) -> list[tuple[int, int, str]]:
        """Where what is sought, or is near to it, stands in a label, and its style; nowhere, if it
        takes too long to tell."""
        if self.pattern is None:
            return []
        try:
            found = [(*span, "hit") for span in self.pattern.spans(label)]
            return sorted([*found, *((*span, "near") for span in self.pattern.near(label))])
        except QueryError:
            return []

    def _badges(
        self, row: int, place: int, line: int, state: State, width: int, record: dict[str, object]
    ) -> list[Piece]:
        assert self.rows is not None and self.session is not None
        session, glyphs = self.session, self.glyphs
        badges: list[Piece] = []
        hidden = self.rows.hidden(row)
        end = line + 1 + hidden
        if (hits := _between(self._hits_before, line, end)) and hidden:
            badges.append((f"{glyphs.hit}{counted(hits, 'hit')}", "hit"))
        if hidden:
            badges.append((f"+{hidden:,}", "dim"))
        if self.model_view_at is None:
            if session.outline.branch[place]:
                count = int(session.tree.size[place])
                badges.append((f"{glyphs.branch} branch of {count:,}", "accent"))
            elif forks := _between(self._forks_before, line, end):
                badges.append((f"{glyphs.branch} {counted(forks, 'fork')}", "accent"))
        memory = memory_of(record)
        if memory and (memory.is_stored or width >= _ROOM_FOR_TIMES):
            badges.append((memory.type[:_MEMORY], "dim"))
        is_head = self._facts is not None and place in self._facts.subagents
        if is_head and state != State.SUBAGENT:
            badges.append(("sub-agent", "accent"))
        if self.labels and (label := self.labels.get(session.entry_id(place))):
            badges.append((f"{glyphs.label} {first_line(label.text or label.note)}", "strong"))
        if session.has(place, Flag.COPIED):
            badges.append(("copied", "dim"))
        if message_of(record).get("display") is False:
            badges.append(("hidden", "dim"))
        if session.has(place, Flag.ABORTED):
            badges.append(("aborted", "error"))
        if session.has(place, Flag.SAME_ID):
            badges.append(("same id", "warning"))
        if session.has(place, Flag.NOTED):
            badges.append((glyphs.warning, "warning"))
        if state != State.PATH:
            badges.append((state.word, _STATE_STYLES[state]))
        if place == session.leaf:
            badges.append((f"{glyphs.leaf} leaf", "accent strong"))
        if likely := self.likely.get(place):
            words = f" {', '.join(it.word for it in likely)}" if width >= _ROOM_FOR_TIMES else ""
            badges.append((f"{glyphs.near}{safe_line(words)}", "near"))
        if remark := self.remarks.get(place):
            covers = f" ({remark.covers})" if remark.covers and width >= _ROOM_FOR_COVERS else ""
            badges.append((f"{glyphs.recall} {safe_line(remark.text)}{covers}", "accent"))
        badges = [*event_badges(record, width), *badges]
        time = safe_line(stamp_text(record.get("timestamp")))[11:19]
        if time and width >= _ROOM_FOR_TIMES:
            badges.append((time, "dim"))
        return [piece for badge in badges for piece in ((" ", ""), badge)]


def _counts_before(flags: Bools) -> Int32s:
    return np.concatenate([[0], np.cumsum(flags)]).astype(np.int32)


def _between(before: Int32s | None, start: int, end: int) -> int:
    return 0 if before is None else int(before[end] - before[start])
