"""The columns of an event's row: its tags, numbers, stage and severity, and its signal."""

from __future__ import annotations

from tau_browser.model.payload import Record, event_of
from tau_browser.model.signal import severity_of, signal_of
from tau_browser.model.text import safe_line
from tau_browser.tui.rows_view import Piece

_LONGEST = 24  # characters of one
_WIDTHS = {"signal": 50, "stage": 72, "metrics": 96, "tags": 110}
"""Columns of the pane from which each is shown."""
_FAILURE = 5


def event_badges(record: Record, width: int) -> list[Piece]:
    """What stands at the right of an event's row, what matters most last; [] for other entries."""
    event = event_of(record)
    if not event:
        return []
    badges: list[Piece] = []
    if width >= _WIDTHS["tags"]:
        badges += [(f"#{_short(tag)}", "dim") for tag in _texts(event.get("tags"))]
    if width >= _WIDTHS["metrics"] and isinstance(metrics := event.get("metrics"), dict):
        badges += [(_short(f"{name} {_number(value)}"), "dim") for name, value in metrics.items()]
    if width >= _WIDTHS["stage"] and isinstance(stage := event.get("stage"), str) and stage:
        badges.append((_short(stage), "dim"))
    if width >= _WIDTHS["signal"]:
        severity, signal = severity_of(record), signal_of(record)
        style = "error" if severity >= _FAILURE else "dim"
        badges.append((f"s{severity}", style))
        value = f"{signal.value:.2f}".removeprefix("0")
        badges.append((value, "dim" if signal.agrees else "warning"))
    return badges


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _short(text: str) -> str:
    return safe_line(text[:_LONGEST])
