"""A package that registers an adapter, installed beside the program in its own environment."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tau_browser.stores.store import Adapter, OpenSession, Store
from tests.conftest import DATA

_NAME = "notes_store-1.0"
_FILES = {
    "notes_store.py": (DATA / "notes-store" / "notes_store.py").read_text("utf-8"),
    f"{_NAME}.dist-info/METADATA": "Metadata-Version: 2.1\nName: notes-store\nVersion: 1.0\n",
    f"{_NAME}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{_NAME}.dist-info/entry_points.txt": "[tau_browser.stores]\nnotes = notes_store:NotesStore\n",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the program, what it needs, and the other package."""
    base = tmp_path_factory.mktemp("environment")
    wheel = base / f"{_NAME}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in _FILES.items():
            archive.writestr(name, text)
        record = "".join(f"{name},,\n" for name in [*_FILES, f"{_NAME}.dist-info/RECORD"])
        archive.writestr(f"{_NAME}.dist-info/RECORD", record)
    venv.create(base / "venv", with_pip=False)
    python = base / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-qq"]
    subprocess.run([*install, "--no-index", "--no-deps", wheel], check=True)
    (packages,) = (base / "venv" / "lib").glob("*/site-packages")
    ours = [str(DATA.parents[1]), *(path for path in sys.path if path.endswith("site-packages"))]
    (packages / "program.pth").write_text("\n".join(ours))
    return python


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "monday.notes").write_text("the tide table is wrong\nasked the harbour\n")
    return folder


def run(python: Path, home: Path, *argv: object, code: int = 0, **env: str) -> Any:
    """What the command prints, as JSON."""
    command = "from tau_browser.cli import main; raise SystemExit(main())"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"} | env
    done = subprocess.run(
        [python, "-c", command, *map(str, argv), "--json"], env=env, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_path_opens_with_the_adapter_that_recognises_it(
    python: Path, notes: Path, tmp_path: Path
) -> None:
    (session,) = run(python, tmp_path, "ls", notes)["sessions"]
    assert (session["store"], session["id"], session["entries"]) == ("notes", "monday", 2)
    shown = run(python, tmp_path, "show", notes / "monday.notes")
    assert "the tide table is wrong" in json.dumps(shown)
    assert run(python, tmp_path, "find", notes, "harbour")["hits"]


def test_named_store_is_looked_for_where_its_program_keeps_it(
    python: Path, notes: Path, tmp_path: Path
) -> None:
    listing = run(python, tmp_path, "ls", "--store", "notes", NOTES_HOME=str(notes))
    assert [session["id"] for session in listing["sessions"]] == ["monday"]


def test_doctor_names_it(python: Path, notes: Path, tmp_path: Path) -> None:
    report = run(python, tmp_path, "doctor", NOTES_HOME=str(notes))
    (found,) = (store for store in report["stores"] if store["name"] == "notes")
    assert found["sessions"] == 1 and found["places"][0]["exists"]


def test_the_example_has_all_that_the_protocols_ask_for(notes: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {}
    exec(_FILES["notes_store.py"], given)
    kind = given["NotesStore"]
    store = kind([str(notes)], tmp_path)
    opened = store.open(str(notes / "monday.notes"))
    for protocol, made in ((Adapter, kind), (Store, store), (OpenSession, opened)):
        members = protocol.__annotations__.keys() | vars(protocol).keys()
        lacks = [name for name in members if name[0] != "_" and not hasattr(made, name)]
        assert not lacks, protocol.__name__
