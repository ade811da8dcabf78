"""`tau-browse compact REF -o FOLDER`: a corpus without what is in it twice, as a new one.

JSON: as in snapshot.py; "gone": [{"id", "what", "why", "into"}]
"""

from __future__ import annotations

import argparse

from tau_browser.cli import snapshot
from tau_browser.cli.output import Printer


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Write the new corpus. Raises Failure, ConfigError and StoreError."""
    return snapshot.carry_out(args, printer, compact=True)
