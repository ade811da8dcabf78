"""Where and how a search looks and what each ranker counts, changed while the results are in
view."""

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
from tau_browser.search.manner import Manner, Preset
from tau_browser.search.results import Asking
from tau_browser.tui.search.within import Choices, Within

_T = TypeVar("_T")
_USUAL = "usual"
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
        width: 68; max-width: 100%; height: auto; margin: 0 0 2 0;
        background: $panel; border: round $primary; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(
        self,
        asking: Asking,
        manner: Manner,
        unable: Mapping[str, str],
        within: Choices,
        changed: Callable[[Asking], None],
    ) -> None:
        """`unable`: rankers that are not to be had now, and why · `within`: where a search may
        look."""
        super().__init__()
        self._manner = manner
        self._unable = unable
        self._within = within
        usual = Preset(manner.weights, fusion.Method.CONVEX)
        self._mixtures = {_USUAL: usual, **manner.presets} if manner.presets else {}
        mixture = ["mixture"] * bool(self._mixtures)
        self._rows = ("where", "method", *mixture, "fusion", *manner.rankers)
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
        if name == "where":
            asking = self._within[_beyond([*self._within], self._where(), step)].put(asking)
        elif name == "method":
            asking = replace(asking, method=_beyond([*self._manner.methods], asking.method, step))
        elif name == "mixture":
            mixture = self._mixtures[_beyond([*self._mixtures], self._mixture(), step)]
            asking = replace(asking, weights=mixture.weights, fused_by=mixture.fused_by)
        elif name == "fusion":
            asking = replace(asking, fused_by=_beyond([*_FUSIONS], asking.fused_by, step))
        else:
            weight = round(asking.weights[name] + step * _STEP, 1)
            weights = {**asking.weights, name: min(max(weight, 0.0), _MOST)}
            asking = replace(asking, weights=weights)
        self._show(asking)

    def action_reset(self) -> None:
        """All as it is by default."""
        self._show(Asking(self._asking.query, weights=self._manner.weights))

    def _show(self, asking: Asking) -> None:
        if asking != self._asking:
            self._asking = asking
            self._changed(asking)
            self.query_one(Static).update(self._text())

    def _where(self) -> str:
        now = Within.of(self._asking)
        return next(name for name, within in self._within.items() if within == now)

    def _mixture(self) -> str:
        """The name of the mixture; "own" where a person has made one."""
        now = Preset(self._asking.weights, self._asking.fused_by)
        return next((name for name, mixture in self._mixtures.items() if mixture == now), "own")

    def _values(self) -> dict[str, tuple[str, str]]:
        """By row, what is set, and what that means."""
        asking = self._asking
        method = self._manner.methods[asking.method]
        if why := self._unable.get(asking.method.value):
            method = f"not to be had: {safe_line(why)}"
        where = self._where()
        others = [name for name in self._within if name != where]
        values = {
            "where": (where, f"or {', '.join(others)}" if others else ""),
            "method": (asking.method.value, method),
            "mixture": (self._mixture(), f"or {', '.join(self._mixtures)}"),
            "fusion": (asking.fused_by.value, _FUSIONS[asking.fused_by]),
        }
        for ranker, meaning in self._manner.rankers.items():
            usual = self._manner.weights[ranker]
            changed = "" if asking.weights[ranker] == usual else f" (usually {usual:g})"
            if why := self._unable.get(ranker):
                meaning, changed = f"not to be had: {why}", ""
            values[ranker] = f"{asking.weights[ranker]:g}", safe_line(meaning) + changed
        return values

    def _text(self) -> Text:
        values = self._values()
        text = Text("Where and how to search, and what each ranker counts\n", "bold")
        for row, name in enumerate(self._rows):
            value, meaning = values[name]
            sign = ">" if row == self._row else " "
            style = "reverse" if row == self._row else ""
            style = "dim strike" if name in self._unable else style
            text.append(f"{sign} {name:<9}{value:<13}", style)
            text.append(f" {meaning}\n", "dim")
        text.append("j k row · h l change · 0 as usual · Esc back", "dim")
        return text


def _beyond(values: list[_T], value: _T, step: int) -> _T:
    """The next of some values, or the one before; the first where there is another now."""
    at = values.index(value) + step if value in values else 0
    return values[at % len(values)]
