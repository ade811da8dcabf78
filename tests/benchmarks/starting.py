"""What it costs to start, in processes of their own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.table import Figure

_ROUNDS = 7

_BARE = """
import asyncio
from textual.app import App
async def main():
    async with App().run_test(size=(120, 40)):
        pass
asyncio.run(main())
"""

_OURS = """
import asyncio, sys
from pathlib import Path
from tau_browser.config import Settings
from tau_browser.stores.targets import Target, store_over
from tau_browser.tui.app import BrowserApp
class FirstFrame(BrowserApp):
    def _load_browser(self):  # what comes after the first frame
        pass
async def main():
    target = Target(store_over([sys.argv[1]], None))
    async with FirstFrame(target, Settings(Path("none")), {}).run_test(size=(120, 40)):
        pass
asyncio.run(main())
"""


def figures(sessions: Path) -> list[Figure]:
    """The first frame against an app that shows nothing; --help against an interpreter."""
    least = {name: float("inf") for name in ("bare", "ours", "python", "help")}
    commands = {
        "bare": ["-c", _BARE],
        "ours": ["-c", _OURS, str(sessions)],
        "python": ["-c", "import argparse"],
        "help": ["-m", "tau_browser", "--help"],
    }
    for _ in range(_ROUNDS):
        for name, command in commands.items():
            least[name] = min(least[name], _cpu(command))
    return [
        Figure(
            "CPU to the first frame / of a Textual app that shows nothing",
            least["ours"] / least["bare"],
            1.2,
        ),
        Figure(
            "CPU of --help / of an interpreter with argparse", least["help"] / least["python"], 3.5
        ),
    ]


def _cpu(command: list[str]) -> float:
    before = _spent()
    subprocess.run(
        [sys.executable, *command],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TEXTUAL_ANIMATIONS": "none"},
    )
    return _spent() - before


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
