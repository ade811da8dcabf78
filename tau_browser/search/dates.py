"""What people call a time in a query: 2026-03-01, 2d, yesterday."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

SPELLINGS = (
    "a date such as 2026-03-01, a time such as 2026-03-01T14:30, 12h, 2d, 3w, today, yesterday"
)

_AGO = re.compile(r"(\d{1,5})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DAY = timedelta(days=1)


def read_time(text: str, now: datetime, *, end: bool) -> int | None:
    """Milliseconds since 1970 of a time as typed, or None if it is none.

    now: its zone is the one that days are counted in; without one, that of this machine.
    end: of a whole day its end, not its start.
    """
    try:
        moment = _moment(text.strip(), now, end)
        return None if moment is None else round(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):  # what no calendar or clock can show
        return None


def _moment(text: str, now: datetime, end: bool) -> datetime | None:
    if ago := _AGO.fullmatch(text.lower()):
        return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
    if (day := _day(text.lower(), now)) is not None:
        return datetime.combine(day + _DAY if end else day, time(), now.tzinfo)
    if not text[:1].isdigit():
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


def _day(text: str, now: datetime) -> date | None:
    if text == "today":
        return now.date()
    if text == "yesterday":
        return now.date() - _DAY
    return date.fromisoformat(text) if _DATE.fullmatch(text) else None
