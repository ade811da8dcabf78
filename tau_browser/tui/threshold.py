"""The browser's slider: what is worth less than a threshold is hidden, and how much that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from tau_browser.tui import loading

if TYPE_CHECKING:
    from textual.screen import Screen

    from tau_browser.tui.tree_view import TreeView

    _Base = Screen[None]
else:
    _Base = object

_STEP = 5  # hundredths
_MOST = 100
_START = 25  # where aethergraph itself draws the line


class Threshold(_Base):
    """The keys that move the threshold of the tree. A signal is read once for each session."""

    _tree: TreeView
    _asked_threshold: int = 0  # what was last asked for, while signals are being read

    # What the browser does for it

    def _show_titles(self) -> None:
        raise NotImplementedError

    def _show_status(self, text: str | None = None) -> None:
        raise NotImplementedError

    # The actions

    def action_raise_threshold(self) -> None:
        """Hide more."""
        now = self._asked_threshold
        self._ask_threshold(min(_MOST, now + _STEP) if now else _START)

    def action_lower_threshold(self) -> None:
        """Hide less; in the end, nothing."""
        self._ask_threshold(max(0, self._asked_threshold - _STEP))

    def _ask_threshold(self, threshold: int) -> None:
        if self._tree.session is None:
            return
        self._asked_threshold = threshold
        if not threshold or self._tree.signals is not None:
            self._show_threshold()
        else:
            self._read_signals()

    def _threshold_again(self) -> None:
        """The session was read further: what was hidden is hidden again."""
        if self._asked_threshold:
            self._ask_threshold(self._asked_threshold)

    def _leave_threshold(self) -> None:
        """Hide nothing more."""
        self._asked_threshold = 0
        self._show_threshold()

    @work(thread=True, exclusive=True, group="signals", exit_on_error=False)
    def _read_signals(self) -> None:
        worker, session = get_current_worker(), self._tree.session
        if session is not None:
            loading.signals(session, self.post_message, lambda: worker.is_cancelled)

    def on_signals_read(self, event: loading.SignalsRead) -> None:
        if event.session is not self._tree.session:
            return
        if event.signals is None:
            self._show_status(f"reading signals: {event.done:,} of {len(event.session):,}")
            return
        self._tree.signals = event.signals
        self._show_threshold()

    def _show_threshold(self) -> None:
        threshold = self._asked_threshold
        if threshold and self._tree.signals is not None:
            self._tree.show_worth(threshold)
        else:
            self._tree.show_full_history()
        self._show_titles()
        self._show_status()
