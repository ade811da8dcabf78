"""Numbers as options take them."""

from __future__ import annotations

import argparse
import re

NUMBER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")


def count(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)


def signal_of(text: str) -> int:
    """A signal, in hundredths."""
    if not NUMBER.fullmatch(text) or float(text) > 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {text!r}")
    return round(float(text) * 100)
