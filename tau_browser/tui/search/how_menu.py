"""How a search looks and what each ranker counts, changed while the results are in view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from tau_browser.model.text import safe_line
from tau_browser.search import fusion
from tau_browser.search.manner import Manner
from tau_browser.search.results import Asking

_T = TypeVar("_T")
_STEP = 0.1
_MOST = 5.0
_FUSIONS = {
    fusion.Method.CONVEX: "sum of scores",
    fusion.Method.RRF: "sum of reciprocal ranks",
}


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

    def __init__(
        self,
        asking: Asking,
        manner: Manner,
        unable: Mapping[str, str],
        changed: Callable[[Asking], None],
    ) -> None:
        """`unable`: rankers that are not to be had now, and why."""
        super().__init__()
        self._manner = manner
        self._unable = unable
        self._rows = ("method", "fusion", *manner.rankers)
        self._asking = asking
        self._changed = changed
        self._row = 0

    def compose(self) -> ComposeResult:
        yield Static(self._text())

    def action_move(self, step: int) -> None:
        self._row = (self._row + step) % len(self._rows)
        self.query_one(Static).update(self._text())

    def action_change(self, step: int) -> None:
        name, asking = self._rows[self._row], self._asking
        if name == "method":
            asking = replace(asking, method=_beyond([*self._manner.methods], asking.method, step))
        elif name == "fusion":
            asking = replace(asking, fused_by=_beyond([*_FUSIONS], asking.fused_by, step))
        else:
            weight = round(asking.weights[name] + step * _STEP, 1)
            weights = {**asking.weights, name: min(max(weight, 0.0), _MOST)}
            asking = replace(asking, weights=weights)
        self._show(asking)

    def action_reset(self) -> None:
        """All as it is by default."""
        usual = Asking(self._asking.query, weights=self._manner.weights)
        self._show(usual)

    def _show(self, asking: Asking) -> None:
        if asking != self._asking:
            self._asking = asking
            self._changed(asking)
            self.query_one(Static).update(self._text())

    def _text(self) -> Text:
        asking = self._asking
        values = {
            "method": (asking.method.value, self._manner.methods[asking.method]),
            "fusion": (asking.fused_by.value, _FUSIONS[asking.fused_by]),
        }
        for ranker, meaning in self._manner.rankers.items():
            usual = self._manner.weights[ranker]
            changed = "" if asking.weights[ranker] == usual else f" (usually {usual:g})"
            if why := self._unable.get(ranker):
                meaning, changed = f"not to be had: {why}", ""
            values[ranker] = f"{asking.weights[ranker]:g}", safe_line(meaning) + changed
        text = Text("How to search, and what each ranker counts\n", "bold")
        for row, name in enumerate(self._rows):
            value, meaning = values[name]
            sign = ">" if row == self._row else " "
            style = "reverse" if row == self._row else ""
            style = "dim strike" if name in self._unable else style
            text.append(f"{sign} {name:<8}{value:<10}", style)
            text.append(f" {meaning}\n", "dim")
        text.append("j k row · h l change · 0 as usual · Esc back", "dim")
        return text


def _beyond(values: list[_T], value: _T, step: int) -> _T:
    return values[(values.index(value) + step) % len(values)]
