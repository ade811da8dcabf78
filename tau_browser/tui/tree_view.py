"""The tree of a session: what of it is shown, and how a person moves through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from textual.binding import BindingType

from tau_browser.model.columns import Flag, Places
from tau_browser.model.context import ANCHORS, fold_at
from tau_browser.model.outline import flat_outline
from tau_browser.model.rows import Rows, kept_with_holders
from tau_browser.model.session import Session
from tau_browser.model.signals import Signals
from tau_browser.model.tree import NOWHERE
from tau_browser.search.find import Pattern
from tau_browser.tui import keys
from tau_browser.tui.facts import Facts
from tau_browser.tui.glyphs import UNICODE, Glyphs
from tau_browser.tui.tree_rows import TreeRows

if TYPE_CHECKING:
    from tau_browser.search.results import Likely


class TreeView(TreeRows):
    """One session: all of it, what the model saw at one of its entries, or only the hits."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.TREE)]

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.filtered = False  # only the hits and what holds them are shown
        self.signals: Signals | None = None  # of the session, once they were asked for
        self.threshold = 0  # hundredths; what is worth less is not shown
        self.worthless = 0  # how many entries that hides
        self._full: Rows | None = None  # the rows of the full history, behind any other view

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
