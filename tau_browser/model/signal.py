"""How much an entry is worth remembering: a number from 0 to 1, and the four parts it is made of.

The formula is aethergraph's, whose events store the number. For all other entries it is derived
the same way, and is always said to be derived.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeGuard

from tau_browser.model.columns import Flag
from tau_browser.model.decoder import flags_of
from tau_browser.model.heads import head_of
from tau_browser.model.payload import Record, event_of, message_of, text_of

_BASE = 0.15
_PER_SEVERITY = 0.1
_TEXT_FULL, _TEXT_MOST = 400, 0.4  # characters; from 160 on, more text adds nothing
_METRICS = 0.2
_LARGEST = 1e9  # what is larger, or no number at all, is no signal
SAME = 0.0005  # a stored value this close to the formula agrees with it

# What aethergraph's own writers give to events that are like ours.
_FAILED, _RESULT, _USUAL = 5, 3, 2


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal. stored: the value an event stores, or None: then the value is derived ·
    severity: from 1 (chatter) to 5 (a failure) by use, any number by right."""

    severity: int
    text: float
    metrics: float
    stored: float | None

    @property
    def parts(self) -> dict[str, float]:
        """What the formula adds up."""
        return {
            "base": _BASE,
            "severity": _PER_SEVERITY * self.severity,
            "text": self.text,
            "metrics": self.metrics,
        }

    @property
    def formula(self) -> float:
        """The value by the formula."""
        return _clamped(sum(self.parts.values()))

    @property
    def value(self) -> float:
        """The stored value, or else that of the formula."""
        return self.formula if self.stored is None else self.stored

    @property
    def agrees(self) -> bool:
        """Whether a stored value is that of the formula."""
        return abs(self.value - self.formula) < SAME


def formula(severity: int, characters: int, has_metrics: bool) -> float:
    """The value that the formula gives to something with so many characters of text."""
    text = characters / _TEXT_FULL if characters < _TEXT_FULL * _TEXT_MOST else _TEXT_MOST
    return _clamped(_BASE + _PER_SEVERITY * severity + text + (_METRICS if has_metrics else 0.0))


def signal_from(
    severity: int, characters: int, *, has_metrics: bool, stored: float | None = None
) -> Signal:
    """The signal of something with so many characters of text."""
    text = min(characters / _TEXT_FULL, _TEXT_MOST)
    return Signal(severity, text, _METRICS if has_metrics else 0.0, stored)


def signal_of(record: Record) -> Signal:
    """The signal of an entry."""
    event = event_of(record)
    if event:
        stored = event.get("signal")
        text = event.get("text")
        return signal_from(
            severity_of(record),
            len(text) if isinstance(text, str) else 0,
            has_metrics=bool(event.get("metrics")),
            stored=float(stored) if _is_finite(stored) else None,
        )
    message = message_of(record)
    return signal_from(
        severity_of(record),
        len(text_of(record)),
        has_metrics=any(_numbers(message.get("usage"))),
    )


def hundredths(value: float) -> int:
    """A signal as it is filtered by: in hundredths, rounded down, but not by what a sum of binary
    fractions lacks."""
    return math.floor(value * 100 + 1e-6)


def severity_of(record: Record) -> int:
    """The severity that an event stores, or else what aethergraph gives to entries like this."""
    stored = event_of(record).get("severity")
    if isinstance(stored, int) and abs(stored) < _LARGEST:
        return stored
    if flags_of(head_of(record)[0]) & Flag.ERROR:
        return _FAILED
    is_result = "toolResult" in (message_of(record).get("role"), record.get("type"))
    return _RESULT if is_result else _USUAL


def facets_of(record: Record) -> tuple[str, ...]:
    """What filters may ask of an event, as "name:value": its kind, stage, tags and metrics.

    () for entries that were made from none.
    """
    event = event_of(record)
    named = [(name, event.get(field)) for name, field in (("event", "kind"), ("stage", "stage"))]
    tags, metrics = event.get("tags"), event.get("metrics")
    named += [("tag", tag) for tag in tags] if isinstance(tags, list) else []
    named += [("metric", metric) for metric in metrics] if isinstance(metrics, dict) else []
    return tuple(f"{name}:{value}" for name, value in named if isinstance(value, str) and value)


def _clamped(value: float) -> float:
    return 0.0 if value < 0 else 1.0 if value > 1 else value


def _is_finite(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and abs(value) < _LARGEST


def _numbers(usage: Any) -> list[Any]:
    return [value for value in usage.values() if value] if isinstance(usage, dict) else []
