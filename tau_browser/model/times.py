"""Timestamps as τ writes them, to and from milliseconds since 1970 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard

NO_TIME = -(2**63)
"""Stands for "no readable time"."""

# A number above this is milliseconds, below it seconds: 1e11 s is the year 5138.
_SECONDS_END = 10**11
_EARLIEST = -62135596800000  # the year 1
_LATEST = 253402300800000  # the year 10000, past what a calendar can show
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def parse_time(value: Any) -> int:
    """Milliseconds of one timestamp in any spelling seen in the wild, or NO_TIME."""
    if _is_number(value):
        if not -_LATEST < value < _LATEST:
            return NO_TIME
        return round(value * 1000 if abs(value) < _SECONDS_END else value)
    if not isinstance(value, str):
        return NO_TIME
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return NO_TIME
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def format_time(milliseconds: int) -> str | None:
    """The timestamp in τ's spelling, or None for NO_TIME."""
    if not _EARLIEST <= milliseconds < _LATEST:
        return None
    moment = _EPOCH + milliseconds * _MILLISECOND
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
