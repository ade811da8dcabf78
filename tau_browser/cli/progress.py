"""How a long change is watched on the command line: one line of progress, and Ctrl+C stops it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tau_browser.actions.progress import Meter, Progress, Stopped, Tell
from tau_browser.cli.output import Failure

STOPPED = 130
"""The exit code of what was stopped."""


@contextmanager
def watched(stops: str = "stopping") -> Iterator[Tell]:
    """What a change tells how far it has come, which a person at a terminal sees. The first Ctrl+C
    stops it, as Esc does on the screen; a second one ends the command at once. stops: what is said
    then.

    Raises Failure where it was stopped.
    """
    meter, stopping = Meter(), False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True
        signal.signal(signal.SIGINT, usual)
        _show(stops)

    def tell(progress: Progress) -> None:
        if stopping and not progress.final:
            _show("")
            raise Stopped
        is_over = progress.done == progress.total
        said = meter.words(progress) + " · too late to stop" * progress.final
        _show("" if is_over else said)

    usual = signal.signal(signal.SIGINT, stop)
    try:
        yield tell
    except Stopped as stopped:
        raise Failure(str(stopped), STOPPED) from stopped
    finally:
        signal.signal(signal.SIGINT, usual)
        _show("")


def _show(text: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
