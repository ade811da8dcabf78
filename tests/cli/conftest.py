"""The command as a script meets it: what it writes, what it returns, and a home of its own."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tau_browser.cli import main
from tests.conftest import DATA
from tests.stores.conftest import locked

__all__ = ["locked"]


PROGRAM = [sys.executable, "-c", "from tau_browser.cli import main; raise SystemExit(main())"]


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


def environment(home: Path) -> dict[str, str]:
    """What a process of its own finds around it."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(DATA.parents[1])}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nothing in it, whatever the machine has."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    names = "TAU_HOME TAU_PORTABLE_BASE XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME _ARGCOMPLETE"
    names += " JMFTS_API_URL JMFTS_API_TOKEN"
    for name in names.split():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in this process."""

    def run(*argv: Any) -> Result:
        capsys.readouterr()
        code = main([str(word) for word in argv])
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def locked_out(run: Run, request: pytest.FixtureRequest) -> Path:
    """The store of which not all may be read. What the command imports only when it is needed is
    imported before: afterwards that may not be readable either."""
    for verb in ("ls", "doctor"):
        run(verb)
    root: Path = request.getfixturevalue("locked")
    return root
