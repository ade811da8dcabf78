"""How a search looks and what each ranker counts, changed while the results are in view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from tau_browser.search import fusion
from tau_browser.search.fusion import DEFAULT_WEIGHTS
from tau_browser.search.results import Asking, Method

_T = TypeVar("_T")
_STEP = 0.1
_MOST = 5.0
_RANKERS = {
    "bm25": "words",
    "static": "meaning, of all entries",
    "neural": "meaning, of the first hits",
}
_METHODS = {
    Method.HYBRID: "by words and by meaning",
    Method.BM25: "by words",
    Method.VECTOR: "by meaning",
    Method.SUBSTRING: "the query as it is, character by character",
    Method.REGEX: "the query is a regular expression",
}
_FUSIONS = {
    fusion.Method.CONVEX: "sum of scores",
    fusion.Method.RRF: "sum of reciprocal ranks",
}
_ROWS = ("method", "fusion", *_RANKERS)


class HowMenu(ModalScreen[None]):
    """A row per setting; every change is told at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,w,enter", "dismiss", "back", show=False),
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("l,right,plus,equals_sign", "change(1)", show=False),
        Binding("h,left,minus", "change(-1)", show=False),
        Binding("0", "reset", show=False),
    ]
    DEFAULT_CSS = """
    HowMenu { align: right bottom; background: $background 0%; }
    HowMenu > Static {
        width: 64; max-width: 100%; height: auto; margin: 0 0 2 0;
        background: $panel; border: round $primary; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self, asking: Asking, changed: Callable[[Asking], None]) -> None:
        super().__init__()
        self._asking = asking
        self._changed = changed
        self._row = 0

    def compose(self) -> ComposeResult:
        yield Static(self._text())

    def action_move(self, step: int) -> None:
        self._row = (self._row + step) % len(_ROWS)
        self.query_one(Static).update(self._text())

    def action_change(self, step: int) -> None:
        name, asking = _ROWS[self._row], self._asking
        if name == "method":
            asking = replace(asking, method=_beyond([*_METHODS], asking.method, step))
        elif name == "fusion":
            asking = replace(asking, fused_by=_beyond([*_FUSIONS], asking.fused_by, step))
        else:
            weight = round(asking.weights[name] + step * _STEP, 1)
            weights = {**asking.weights, name: min(max(weight, 0.0), _MOST)}
            asking = replace(asking, weights=weights)
        self._show(asking)

    def action_reset(self) -> None:
        """All as it is by default."""
        usual = Asking(self._asking.query)
        self._show(usual)

    def _show(self, asking: Asking) -> None:
        if asking != self._asking:
            self._asking = asking
            self._changed(asking)
            self.query_one(Static).update(self._text())

    def _text(self) -> Text:
        asking = self._asking
        values = {
            "method": (asking.method.value, _METHODS[asking.method]),
            "fusion": (asking.fused_by.value, _FUSIONS[asking.fused_by]),
        }
        for ranker, meaning in _RANKERS.items():
            usual = DEFAULT_WEIGHTS[ranker]
            changed = "" if asking.weights[ranker] == usual else f" (usually {usual:g})"
            values[ranker] = f"{asking.weights[ranker]:g}", meaning + changed
        text = Text("How to search, and what each ranker counts\n", "bold")
        for row, name in enumerate(_ROWS):
            value, meaning = values[name]
            sign = ">" if row == self._row else " "
            style = "reverse" if row == self._row else ""
            text.append(f"{sign} {name:<8}{value:<10}", style)
            text.append(f" {meaning}\n", "dim")
        text.append("j k row · h l change · 0 as usual · Esc back", "dim")
        return text


def _beyond(values: list[_T], value: _T, step: int) -> _T:
    return values[(values.index(value) + step) % len(values)]
