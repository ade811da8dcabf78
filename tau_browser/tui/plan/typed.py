"""Numbers as a person types them into a question of the plan screen."""

from __future__ import annotations

import re

from tau_browser.actions.plan import Refused

_SIGNAL = re.compile(r"0?\.[0-9]{1,6}|[01]")


def whole(text: str) -> int:
    """A whole number from 1. Raises Refused."""
    if not re.fullmatch("[1-9][0-9]{0,8}", text.strip(), re.ASCII):
        raise Refused(f"{text.strip() or 'nothing'}: give a whole number from 1")
    return int(text)


def signal(text: str) -> int:
    """A signal from 0 to 1, in hundredths; nothing is 0. Raises Refused."""
    if text.strip() and not _SIGNAL.fullmatch(text.strip()):
        raise Refused(f"{text.strip()}: give a signal from 0 to 1, such as 0.5")
    return round(float(text or 0) * 100)
