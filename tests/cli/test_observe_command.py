"""`tau-browse observe`: follows a session that is being written, until it is told to stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tau_browser.cli import main
from tests.actions.observe.sessions import call, calls, held, write
from tests.conftest import log_of


def test_takes_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, repo = write(tmp_path / "s.jsonl", calls(3)), tmp_path / "repo"
    assert main(["observe", str(path), "--into", str(repo), "--once"]) == 0
    assert "3 calls captured, 1 session read, 0 known already, 1 commit" in capsys.readouterr().out
    assert main(["observe", str(path), "--into", str(repo), "--once", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["captured"], told["known"], told["commits"]) == (0, 3, [])


def test_only_tells_what_there_is_to_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, repo = write(tmp_path / "s.jsonl", calls(3)), tmp_path / "repo"
    command = ["observe", str(path), "--into", str(repo), "--dry-run"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "3 calls, oldest first" in shown and "semantic: read path=f1" in shown
    assert not repo.exists()
    assert main([*command, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert (plan["verb"], plan["way"], plan["adding"]) == ("observe", "new", ["a0", "a1", "a2"])
    assert main([*command[:-1], "--once"]) == 0
    capsys.readouterr()
    assert main(command) == 0
    assert "3 calls captured already" in capsys.readouterr().out


def test_a_repository_is_not_captured_into_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, repo = write(tmp_path / "s.jsonl", calls(1)), tmp_path / "repo"
    assert main(["observe", str(path), "--into", str(repo), "--once"]) == 0
    for more in (["--once"], ["--dry-run"]):
        assert main(["observe", str(repo), "--into", str(repo), *more]) == 2
        assert "captured into itself" in capsys.readouterr().err
    assert len(held(repo)) == 1


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "s.jsonl", calls(1))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").touch()
    assert main(["observe", str(path), "--into", str(tmp_path / "mine"), "--once"]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["observe", str(path), "--into", "x", "--every", "0"]) == 2
    assert "must be seconds" in capsys.readouterr().err
    assert main(["observe", str(path)]) == 2
    assert "--into" in capsys.readouterr().err


def _following(path: Path, repo: Path) -> subprocess.Popen[str]:
    """A capture that has taken what is there: it says so when it has committed."""
    words = ["observe", str(path), "--into", str(repo), "--every", "0.05", "--batch", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tau_browser", *words, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(repo.parent / "cache")},
    )
    assert process.stderr is not None
    while "committed" not in (line := process.stderr.readline()):
        assert line, "it ended"
    return process


def test_follows_until_it_is_told_to_stop(tmp_path: Path) -> None:
    path, repo = write(tmp_path / "s.jsonl", calls(1)), tmp_path / "repo"
    process = _following(path, repo)
    assert process.stderr is not None
    with path.open("ab") as log:
        log.write(log_of(call(1, "read", {}, "more"), None))
    assert "committed" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    told = json.loads(out)
    assert process.returncode == 0 and told["captured"] == 2 and len(held(repo)) == 2
    session = json.loads((repo / ".mem/daemon_session.json").read_text())
    assert session["session_id"] == told["session"] and session["ended_at"]


def test_killed_and_started_again_it_goes_on(tmp_path: Path) -> None:
    path, repo = write(tmp_path / "s.jsonl", calls(2)), tmp_path / "repo"
    process = _following(path, repo)
    process.kill()
    process.communicate()
    before = json.loads((repo / ".mem/daemon_session.json").read_text())
    assert "ended_at" not in before
    assert main(["observe", str(path), "--into", str(repo), "--once"]) == 0
    after = json.loads((repo / ".mem/daemon_session.json").read_text())
    assert after["session_id"] == before["session_id"] and after["ended_at"]
    assert len(held(repo)) == len(set(held(repo))) == 2
