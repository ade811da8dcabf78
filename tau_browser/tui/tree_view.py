"""The tree of a session: rows over an outline, with the states, the badges and the hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from textual.binding import BindingType

from tau_browser.model.calls import ResultNames
from tau_browser.model.columns import Bools, Flag, Int32s, Places
from tau_browser.model.context import ANCHORS, fold_at
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.memory import memory_of
from tau_browser.model.outline import flat_outline
from tau_browser.model.payload import message_of
from tau_browser.model.rows import Rows, kept_with_holders
from tau_browser.model.session import Session
from tau_browser.model.signals import Signals
from tau_browser.model.state import State
from tau_browser.model.summary import stamp_text
from tau_browser.model.text import counted, first_line, safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.search.find import Pattern, QueryError
from tau_browser.tui import keys
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
}


_ROOM_FOR_TIMES = 64  # columns below which what is said needs the space more
_ROOM_FOR_COVERS = 100  # columns; the status tells it anyway
_MEMORY = 3  # letters of a memory type in its badge: the entry pane tells the word and the rule


class TreeView(RowsView):
    """One session: all of it, what the model saw at one of its entries, or only the hits."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.TREE)]

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.session: Session | None = None
        self.rows: Rows | None = None
        self.model_view_at: int | None = None  # the entry whose context is shown
        self.filtered = False  # only the hits and what holds them are shown
        self.signals: Signals | None = None  # of the session, once they were asked for
        self.threshold = 0  # hundredths; what is worth less is not shown
        self.worthless = 0  # how many entries that hides
        self.marked: list[int] = []
        self.labels: Mapping[str, Label] = {}  # by the id of the entry
        self.pattern: Pattern | None = None
        self.hits: Places = np.empty(0, np.intp)  # places, ascending
        self.likely: Mapping[int, Sequence[Likely]] = {}  # by place: what probably matched
        self.notice = ""
        self.remarks: Mapping[int, Mark] = {}  # by place: what was recalled
        self._full: Rows | None = None  # the rows of the full history, behind any other view
        self._facts: Facts | None = None
        self._names: ResultNames | None = None
        self._hits_before: Int32s | None = None  # by line: hits in the lines before it
        self._forks_before: Int32s | None = None

    # What is shown

    def open(self, facts: Facts) -> None:
        """Show a session from the start: turns folded but the last, the cursor on the leaf."""
        self.marked, self.model_view_at = [], None
        self.hits, self.likely = np.empty(0, np.intp), {}
        self.filtered, self.signals, self.threshold = False, None, 0
        session = self._take(facts)
        outline = session.outline
        self._full = self.rows = Rows(outline, outline.size > 1)
        if session.leaf != NOWHERE:
            row = self.rows.reveal(session.leaf)
            if self.rows.is_folded(row):
                self.rows.toggle(row)
        elif len(self.rows) == 1:  # all of a hierarchy is in one group
            self.rows.toggle(0)
        self._outline_changed()
        self.cursor = self.rows.row(session.leaf) if session.leaf != NOWHERE else 0
        self.rows_changed()
        self.move_to(self.cursor)

    def replace(self, facts: Facts) -> None:
        """Show the same session read further: folds, marks and cursor stay on their entries."""
        if self.rows is None or self._full is None or self.session is None:
            self.open(facts)
            return
        session = facts.session
        entry, at_leaf, filtered = self.entry, self.entry == self.session.leaf, self.filtered
        offset = self.cursor - self.scroll_offset.y
        known = min(len(self.session), len(session))
        folded = np.zeros(len(session), np.bool_)
        folded[: len(self.session)][:known] = self._full.folded[self._full.outline.line[:known]]
        self._take(facts)
        self._full = self.rows = Rows(session.outline, folded[session.outline.entry])
        self.model_view_at, self.filtered = None, False
        self.hits = self.hits[self.hits < len(session)]
        self.marked = [place for place in self.marked if place < len(session)]
        self._outline_changed()
        self.rows_changed()
        target = session.leaf if at_leaf else entry
        if target is not None and target < len(session):
            row = self.rows.reveal(target) if at_leaf else self.rows.row(target)
            self.rows_changed()
            self._scroll_to_row(row - offset)
            self.move_to(row)
        if filtered:
            self.show_only_hits()
        self.signals, self.threshold = None, 0

    def show_model_view(self, place: int) -> None:
        """Show only what the model saw at an entry, in the order in which it saw it."""
        if self.session is None:
            return
        self.model_view_at, self.filtered, self.threshold = place, False, 0
        context = fold_at(self.session, place).context
        self._show_rows(Rows(flat_outline(context, len(self.session))), place)

    def show_full_history(self) -> None:
        """Leave the model view or the filter; the cursor stays on its entry."""
        place = self._place
        self.model_view_at, self.filtered, self.threshold = None, False, 0
        if self._full is not None:
            self._show_rows(self._full, place)
            if place is not None:
                self.go_to(place)

    def show_only_hits(self) -> None:
        """Show the hits and what holds them; rows say how much is hidden between."""
        if self._full is None:
            return
        place, outline = self._place, self._full.outline
        self.model_view_at, self.filtered, self.threshold = None, True, 0
        kept = kept_with_holders(outline, outline.line[self.hits])
        self._show_rows(Rows(outline, kept=kept), place)

    def show_worth(self, threshold: int) -> None:
        """Show what is worth a threshold, in hundredths, and what holds it; rows say how much is
        hidden between."""
        if self._full is None or self.signals is None:
            return
        place, outline = self._place, self._full.outline
        self.model_view_at, self.filtered, self.threshold = None, False, threshold
        kept = kept_with_holders(outline, outline.line[self.signals.above(threshold)])
        self.worthless = len(kept) - int(kept.sum())
        self._show_rows(Rows(outline, kept=kept), place)

    def show_hits(
        self,
        pattern: Pattern | None,
        hits: Places,
        likely: Mapping[int, Sequence[Likely]] = MappingProxyType({}),
    ) -> None:
        """Mark the hits of a find, in rows and on folded rows as counts. likely: by place, what
        probably matched where it is not known."""
        others = not np.array_equal(self.hits, hits)
        self.pattern, self.hits, self.likely = pattern, hits, likely
        if self.filtered and pattern is None:
            self.show_full_history()
        elif self.filtered and others:
            self.show_only_hits()
        self._count_hits()
        self._strips.clear()
        self.refresh()

    def show_remarks(self, remarks: Mapping[int, Mark]) -> None:
        """Let words stand beside some entries."""
        self.remarks = remarks
        self._strips.clear()
        self.refresh()

    # Where the cursor is

    @property
    def entry(self) -> int | None:
        """The entry under the cursor, by place; None where there is none, or only a gap."""
        return None if self.gap else self._place

    @property
    def gap(self) -> int:
        """How many entries the filter hides at the cursor."""
        return self.rows.gap(self.cursor) if self.rows is not None and len(self.rows) else 0

    @property
    def _place(self) -> int | None:
        """The entry under the cursor, or the first of those that are hidden there."""
        return self.rows.entry(self.cursor) if self.rows is not None and len(self.rows) else None

    def state(self, place: int) -> State:
        """How an entry stands to the leaf."""
        return self._facts.state(place) if self._facts is not None else State.PATH

    def state_word(self, place: int) -> str:
        """The same in a word; "" in a hierarchy, which has no path, unless something is wrong."""
        state = self.state(place)
        is_usual = self.session is not None and self.session.is_nested and state is State.PATH
        return "" if is_usual else state.word

    def go_to(self, place: int) -> bool:
        """Move to an entry, unfolding what hides it; False if this view does not hold it."""
        if self.rows is None or self.rows.outline.line[place] == NOWHERE:
            return False
        before = len(self.rows)
        row = self.rows.reveal(place)
        if len(self.rows) != before:
            self.rows_changed()
        top = self.scroll_offset.y
        if not top <= row < top + self.size.height:  # what stands around it helps to read it
            self._scroll_to_row(row - self.size.height // 2)
        self.move_to(row)
        return True

    def go_to_next(self, wanted: Places, step: int, *, wrap: bool = False) -> bool:
        """Move to the next (step 1) or previous (-1) of these entries in the order of the rows;
        `wrap`: after the last comes the first. False if there is none."""
        if self.rows is None or not len(wanted):
            return False
        lines = self.rows.outline.line[wanted]
        lines = np.sort(lines[lines != NOWHERE])
        here = int(self.rows.lines[self.cursor]) if len(self.rows) else NOWHERE
        after, before = np.searchsorted(lines, here, "right"), np.searchsorted(lines, here) - 1
        at = int(after if step > 0 else before)
        if wrap and len(lines):
            at %= len(lines)
        if not 0 <= at < len(lines):
            return False
        return self.go_to(int(self.rows.outline.entry[lines[at]]))

    # Actions

    def action_choose(self) -> None:
        rows = self.rows
        if rows is not None and len(rows) and (rows.is_foldable(self.cursor) or self.gap):
            self._toggle()
        super().action_choose()

    def action_unfold(self) -> None:
        if self.rows is None or not len(self.rows):
            return
        if self.rows.is_folded(self.cursor) or self.gap:
            self._toggle()
        elif self.rows.is_foldable(self.cursor):
            self.move_to(self.cursor + 1)

    def action_fold(self) -> None:
        if self.rows is None or not len(self.rows):
            return
        if self.rows.is_foldable(self.cursor) and not self.rows.is_folded(self.cursor):
            self._toggle()
        else:
            self.move_to(self.rows.parent(self.cursor))

    def action_fold_all(self) -> None:
        self._refold(fold=True)

    def action_unfold_all(self) -> None:
        self._refold(fold=False)

    def action_mark(self) -> None:
        if (entry := self.entry) is None:
            return
        if entry in self.marked:
            self.marked.remove(entry)
        else:
            self.marked.append(entry)
        self._strips.clear()
        self.move_to(self.cursor + 1)

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

    def action_go_to_leaf(self) -> None:
        if self.session is not None and self.session.leaf != NOWHERE:
            self.go_to(self.session.leaf)

    def action_next_turn(self) -> None:
        self._go(self._turns(), 1, "user turn")

    def action_previous_turn(self) -> None:
        self._go(self._turns(), -1, "user turn")

    def action_next_fork(self) -> None:
        self._go(self._forks(), 1, "fork")

    def action_previous_fork(self) -> None:
        self._go(self._forks(), -1, "fork")

    def action_next_error(self) -> None:
        self._go(self._flagged(Flag.ERROR | Flag.ABORTED), 1, "error")

    def action_previous_error(self) -> None:
        self._go(self._flagged(Flag.ERROR | Flag.ABORTED), -1, "error")

    def action_next_compaction(self) -> None:
        self._go(self._anchors(), 1, "compaction")

    def action_previous_compaction(self) -> None:
        self._go(self._anchors(), -1, "compaction")

    def _go(self, wanted: Places, step: int, what: str) -> None:
        if not self.go_to_next(wanted, step):
            self.app.bell()
            self.notify(f"no {'next' if step > 0 else 'previous'} {what}", timeout=2)

    def _turns(self) -> Places:
        return np.flatnonzero(self.session.is_user) if self.session else np.empty(0, np.intp)

    def _forks(self) -> Places:
        return self._facts.forks if self._facts is not None else np.empty(0, np.intp)

    def _flagged(self, flags: int) -> Places:
        if self.session is None:
            return np.empty(0, np.intp)
        return np.flatnonzero(self.session.columns.flags & flags)

    def _anchors(self) -> Places:
        places = self.session.places_of_kind(*ANCHORS) if self.session else []
        return np.array(places, np.intp)

    def _toggle(self) -> None:
        assert self.rows is not None
        self.rows.toggle(self.cursor)
        self.rows_changed()
        self.move_to(self.cursor)

    def _refold(self, *, fold: bool) -> None:
        if self.rows is None or (place := self._place) is None:
            return
        if fold:
            self.rows.fold_all()
        else:
            self.rows.unfold_all()
        self.rows_changed()
        self.move_to(self.rows.row(place))
        self.center()

    def _show_rows(self, rows: Rows, place: int | None) -> None:
        """Show other rows of the session, the cursor on or near an entry."""
        self.rows = rows
        self._outline_changed()
        self.rows_changed()
        self.move_to(rows.row(place) if place is not None else 0)

    def _take(self, facts: Facts) -> Session:
        self._facts, self.session = facts, facts.session
        return facts.session

    def close(self) -> None:
        """Show nothing."""
        self.session = self.rows = self._full = self._facts = self.signals = None
        self.model_view_at, self.filtered, self.threshold = None, False, 0
        self.remarks = {}
        self.rows_changed()

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

    # Drawing

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
        shade = "dim" if state in (State.ABANDONED, State.FOLDED) else ""
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
        if self._facts is not None and place in self._facts.subagents:
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
