"""A search as the command that prints what it finds, for sh."""

from __future__ import annotations

import shlex
from collections.abc import Collection

from tau_browser.search import fusion
from tau_browser.search.fusion import DEFAULT_WEIGHTS
from tau_browser.search.results import Method, Reach
from tau_browser.search.saved import Saved

_REACHES = {Reach.BRANCH: "--branch", Reach.ALL: "--everything"}


def command_line(
    search: Saved, paths: Collection[str] | None = None, reach: Reach = Reach.BELOW
) -> str:
    """The command, with such options only as differ from what is usual. paths, reach: where it
    looks."""
    options = [f"--in {shlex.quote(path)}" for path in paths or ()]
    options += [_REACHES[reach]] if reach in _REACHES else []
    if search.method is not Method.HYBRID:
        options.append(f"--method {search.method.value}")
    if search.weights != DEFAULT_WEIGHTS:
        options.append(f"--weights {weights_text(search.weights)}")
    if search.fused_by is not fusion.Method.CONVEX:
        options.append(f"--fusion {search.fused_by.value}")
    options += ["--"] if search.query.startswith("-") else []
    return " ".join(["tau-browse search", *options, shlex.quote(search.query)])


def weights_text(weights: dict[str, float]) -> str:
    """Weights as the command takes them."""
    return ",".join(f"{ranker}={weight:g}" for ranker, weight in weights.items())
