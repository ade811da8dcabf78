"""The program in a real terminal: started, walked, searched and left through tmux."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.actions.observe.sessions import calls, held, write
from tests.conftest import DATA

pytestmark = pytest.mark.terminal

_PATIENCE = 30  # seconds until a screen that does not come is a failure


class Terminal:
    """A tmux session of its own server, so that nobody's configuration takes part."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._socket = f"tau-browse-{uuid.uuid4().hex[:8]}"
        self._folder = folder
        self._size = ["-x", str(width), "-y", str(height)]

    def start(self, *command: str) -> None:
        """Run a command, then wait for a key, so that what it leaves on the screen can be read."""
        environment = {
            "HOME": str(self._folder),
            "TAU_HOME": "",
            "TERM": "tmux-256color",
            "LC_ALL": "C.UTF-8",
            "PATH": os.environ["PATH"],
        }
        settings = [f"{name}={value}" for name, value in environment.items()]
        line = " ".join(f"'{part}'" for part in command)
        shell = f"{line}; echo exit $?; cat"
        self._tmux(
            "-f",
            os.devnull,
            "new-session",
            "-d",
            *self._size,
            "env",
            "-i",
            *settings,
            "sh",
            "-c",
            shell,
        )

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type some text as it is."""
        self._tmux("send-keys", "-l", text)

    def screen(self) -> str:
        """What stands on the screen."""
        return self._tmux("capture-pane", "-p")

    def wait_for(self, what: str | Callable[[str], bool]) -> str:
        """The screen as soon as it shows a text, or is as asked for."""
        is_there = what if callable(what) else lambda screen: what in screen
        end = time.monotonic() + _PATIENCE
        screen = ""
        while time.monotonic() < end:
            screen = self.screen()
            if is_there(screen):
                return screen
            time.sleep(0.05)  # between two looks at the screen: not a wait for anything
        raise AssertionError(f"{what!r} does not come:\n{screen}")

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], capture_output=True)

    def _tmux(self, *arguments: str) -> str:
        run = subprocess.run(
            ["tmux", "-L", self._socket, *arguments], capture_output=True, text=True, check=True
        )
        return run.stdout


@pytest.fixture(params=[(120, 40), (80, 24)], ids=["120x40", "80x24"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    assert shutil.which("tmux"), "tmux is needed: install it with the system's package manager"
    opened = Terminal(tmp_path, *request.param)
    yield opened
    opened.close()


def test_walk_search_and_quit(terminal: Terminal) -> None:
    path = DATA / "tau" / "02-forked-tree.jsonl"
    terminal.start(sys.executable, "-m", "tau_browser", str(path))
    terminal.wait_for("Documents in PostgreSQL")
    terminal.press("-")
    terminal.wait_for("+15")
    terminal.press("g")
    terminal.wait_for("1/6")
    terminal.type("/pgvector")
    terminal.wait_for("1 hit")
    terminal.press("Enter")
    terminal.press("n")
    terminal.wait_for("hit 1 of 1")
    terminal.press("Escape")
    terminal.wait_for(lambda screen: "hit 1 of 1" not in screen)
    terminal.press("?")
    terminal.wait_for("Everywhere")
    terminal.press("Escape")
    terminal.wait_for(lambda screen: "Everywhere" not in screen)
    terminal.press("q")
    terminal.wait_for("exit 0")


def test_a_capture_ends_with_the_program(terminal: Terminal, tmp_path: Path) -> None:
    path, repo = write(tmp_path / "s.jsonl", calls(3)), tmp_path / "repo"
    terminal.start(sys.executable, "-m", "tau_browser", str(path))
    terminal.wait_for("create_branch")
    terminal.press("M")
    terminal.wait_for("not here")
    terminal.press("o")
    terminal.wait_for("repository to capture into")
    terminal.type(str(repo))
    terminal.press("Enter")
    terminal.wait_for("3 calls, oldest first")
    terminal.press("Enter")
    terminal.wait_for("3 calls captured")
    terminal.press("q")
    terminal.wait_for("exit 0")
    assert len(held(repo)) == 3
    assert json.loads((repo / ".mem" / "daemon_session.json").read_bytes())["ended_at"]


def test_the_demo_opens_where_there_are_no_sessions(terminal: Terminal) -> None:
    terminal.start(sys.executable, "-m", "tau_browser")
    terminal.wait_for("harbor")
    terminal.press("q")
    terminal.wait_for("exit 0")


def test_hostile_text_does_not_reach_the_terminal(terminal: Terminal) -> None:
    path = next((DATA / "bugcases" / "39-terminal-injection").rglob("*s1.jsonl"))
    terminal.start(sys.executable, "-m", "tau_browser", str(path))
    terminal.wait_for("entries")
    terminal.press("+")
    for _ in range(30):
        terminal.press("k")
    terminal.press("g")
    terminal.wait_for("1/")
    title = terminal._tmux("display-message", "-p", "#{pane_title}")
    assert "FAKE" not in title and "pwned" not in title.lower()
    assert not terminal._tmux("list-buffers").strip()
    terminal.press("q")
    terminal.wait_for("exit 0")
