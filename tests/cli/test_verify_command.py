"""`tau-browse verify`: verdicts for people and for programs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tau_browser.cli import main
from tests.conftest import DATA


@pytest.fixture(scope="module")
def agmem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agmem")
    zipfile.ZipFile(DATA / "agmem.zip").extractall(folder)
    return folder


def test_sound_and_broken(agmem: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(agmem / "repo")]) == 0
    out = capsys.readouterr().out
    assert f"{agmem / 'repo'}: consistent but unsigned" in out
    assert "commit 88570e8f Auto-commit: 6 observations from 5 tools: verified" in out
    assert main(["verify", str(agmem / "bugs" / "b15-verify")]) == 1
    assert "broken at its own object" in capsys.readouterr().out


def test_json(agmem: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(agmem / "bugs"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "broken"
    by_name = {Path(each["path"]).name: each for each in told["sessions"]}
    assert by_name["b52-verify2"]["verdict"] == "broken"
    (check,) = [c for c in by_name["b15-verify"]["checks"] if c["verdict"] == "broken"]
    assert check["entry"].startswith("04978438")


def test_refusals(agmem: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(agmem / "bugs"), "--anchor", "x"]) == 2
    assert "--anchor is of one session" in capsys.readouterr().err
    assert main(["verify", "--demo", "nothing"]) != 0
    (tmp_path / "a.jsonl").write_text('{"type": "session", "id": "a"}\n')
    assert main(["verify", str(tmp_path / "a.jsonl")]) == 2
    assert "hold nothing to verify them by" in capsys.readouterr().err
