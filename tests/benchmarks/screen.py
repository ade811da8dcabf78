"""What a key press costs on the screen, whatever the number of rows."""

from __future__ import annotations

import gc
import time
from pathlib import Path

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tau_browser.stores.session_file import load_session
from tau_browser.tui.facts import facts_of
from tau_browser.tui.tree_view import TreeView
from tests.benchmarks.table import Figure

_SIZE = (120, 42)
_PRESSES = 120
_ROUNDS = 3


class _TreeApp(App[None]):
    """A tree and nothing else."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._facts = facts_of(load_session(str(path)))

    def compose(self) -> ComposeResult:
        yield TreeView()

    def on_mount(self) -> None:
        tree = self.query_one(TreeView)
        tree.open(self._facts)
        tree.action_unfold_all()
        tree.focus()


async def figures(small: Path, large: Path) -> list[Figure]:
    """A key press to the finished frame, a large tree against a small one; folding all."""
    gc.collect()
    least = {small: float("inf"), large: float("inf")}
    seconds = 0.0
    for _ in range(_ROUNDS):
        for path in (small, large):
            app = _TreeApp(path)
            async with app.run_test(size=_SIZE) as pilot:
                gc.collect()
                gc.freeze()
                least[path] = min(least[path], await _presses(pilot))
                if path is large:
                    seconds = max(seconds, await _fold_and_unfold(pilot))
                gc.unfreeze()
    return [
        Figure(
            "a key press to the finished frame, large / 1,000 rows",
            least[large] / least[small],
            1.2,
        ),
        Figure("fold all and unfold all of the large tree, the slower", seconds, 1.5, "s CPU"),
    ]


async def _presses(pilot: Pilot[None]) -> float:
    """CPU seconds of one press of j, scrolling by a row each time."""
    await pilot.press("g", *["pagedown"] * 2)
    start = time.process_time()
    for _ in range(_PRESSES):
        await pilot.press("j")
    return (time.process_time() - start) / _PRESSES


async def _fold_and_unfold(pilot: Pilot[None]) -> float:
    slowest = 0.0
    for key in ("minus", "plus"):
        start = time.process_time()
        await pilot.press(key)
        await pilot.pause()
        slowest = max(slowest, time.process_time() - start)
    return slowest
