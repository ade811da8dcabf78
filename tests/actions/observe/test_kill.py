"""kill -9 at any point loses nothing and doubles nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tau_browser.stores.agmem.integrity import audit
from tau_browser.stores.agmem.origin import Repository
from tau_browser.stores.verdict import Verdict
from tests.actions.observe.sessions import calls, capture_once, held, history, write

_STEPS = ("open", "write", "fsync", "replace", "rename", "unlink", "chmod", "mkdir")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process leaves what it wrote to the system, on the disk or not yet."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _deadly(step: int, half: bool) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The system's calls, of which the one numbered `step` is the last of the process: it is never
    made, or, where it writes, only half of it."""
    numbers = count()

    def wrap(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if next(numbers) == step:
                if half and name == "write":
                    real(args[0], args[1][: len(args[1]) // 2])
                _die()
            return real(*args, **kwargs)

        return call

    for name in _STEPS:
        yield name, wrap(getattr(os, name), name)


def _killed_at(step: int, half: bool, work: Callable[[], object]) -> bool:
    """Do the work in a process that is killed at a step; False if it ended before."""
    child = os.fork()
    if child == 0:
        try:
            for name, deadly in list(_deadly(step, half)):
                setattr(os, name, deadly)
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.slow
@pytest.mark.parametrize("half", [False, True], ids=["before", "half written"])
def test_killed_at_every_step(tmp_path: Path, half: bool) -> None:
    path = write(tmp_path / "s.jsonl", calls(5))
    capture_once(path, tmp_path / "never killed", batch=2)
    expected = sorted(held(tmp_path / "never killed"))
    for step in count():
        repo = tmp_path / f"repo-{step}"
        if not _killed_at(step, half, lambda to=repo: capture_once(path, to, batch=2)):
            break
        capture_once(path, repo, batch=2)
        _is_whole(repo, expected)
    assert step > 100


@pytest.mark.slow
def test_killed_again_while_it_recovers(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", calls(3))
    capture_once(path, tmp_path / "never killed", batch=2)
    expected = sorted(held(tmp_path / "never killed"))
    for step in range(20, 140, 7):
        repo = tmp_path / f"repo-{step}"
        for again in range(0, 60, 9):
            _killed_at(step, False, lambda to=repo: capture_once(path, to, batch=2))
            _killed_at(again, True, lambda to=repo: capture_once(path, to, batch=2))
        capture_once(path, repo, batch=2)
        _is_whole(repo, expected)


def _is_whole(repo: Path, expected: list[str]) -> None:
    assert sorted(held(repo)) == expected
    found = history(repo)
    assert [line.kind for line in found.lines] == ["branch"]  # and no commit beside it
    (line,) = found.lines
    assert [move.new for move in found.refs.reflog] == line.commits
    report = audit(str(repo), Repository(str(repo)).history())
    assert not [check for check in report.checks if check.verdict is Verdict.BROKEN], report.checks
    assert not report.remarks
    mem = repo / ".mem"
    assert {path.name for path in mem.iterdir() if path.is_file()} == {
        "HEAD",
        "config.json",
        "daemon_session.json",
    }
    assert not [path for path in (repo / "current").rglob(".*")]
    files = [path for path in (repo / "current").rglob("*.md")]
    assert len(files) == len(expected)
