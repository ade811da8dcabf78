"""The arguments of the verbs for repositories of agmem's and stores like them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tau_browser.cli.completers import complete_with, nothing, references

VERBS = {
    "verify": "tell whether what a store holds is what was written",
}


def add(verbs: Mapping[str, argparse.ArgumentParser]) -> None:
    """Give each of the verbs its arguments."""
    _add_verify(verbs["verify"])


def _add_verify(verify: argparse.ArgumentParser) -> None:
    ref = verify.add_argument("ref", metavar="PATH", help="a repository, or a folder of them")
    complete_with(ref, references)
    anchor = verify.add_argument(
        "--anchor", metavar="HASH", help="an anchor of an earlier report, which must still hold"
    )
    complete_with(anchor, nothing)
