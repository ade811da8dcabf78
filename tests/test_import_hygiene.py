"""What must not be imported where. The import rules say it of the code; this says it of a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import DATA

SESSION = str(DATA / "tau" / "02-forked-tree.jsonl")
RECALL = str(DATA / "tau" / "20-recall-file-backed.jsonl")
SCREEN = {"textual", "rich", "httpx"}
HEAVY = SCREEN | {"numpy", "msgspec", "regex", "asyncio", "argcomplete", "platformdirs"}


def imported_by(code: str, tmp_path: Path) -> set[str]:
    """The packages that a fresh interpreter has imported after running some code."""
    code = f"import sys\n{code}\nprint('\\n' + ' '.join(sys.modules))"
    env = {"HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    return {name.partition(".")[0] for name in run.stdout.splitlines()[-1].split()}


def command(*argv: str) -> str:
    return f"from tau_browser.cli import main\nassert main({list(argv)!r}) == 0"


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["show", "--help"]], ids=" ".join)
def test_help_costs_next_to_nothing(argv: list[str], tmp_path: Path) -> None:
    assert not imported_by(command(*argv), tmp_path) & HEAVY


@pytest.mark.parametrize(
    "argv",
    [["ls", SESSION], ["show", SESSION], ["find", SESSION, "jmfts"], ["recalls", RECALL]],
    ids=lambda argv: argv[0],
)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["people", "json"])
def test_printing_needs_no_screen(argv: list[str], options: list[str], tmp_path: Path) -> None:
    assert not imported_by(command(*argv, *options), tmp_path) & (SCREEN | {"asyncio"})


def test_rooms_below_the_screen_do_not_import_it(tmp_path: Path) -> None:
    code = """
import pkgutil, importlib
for room in ("model", "stores", "search", "audit", "actions"):
    package = importlib.import_module(f"tau_browser.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if ".jmfts" not in module.name and ".server" not in module.name:  # those speak HTTP
            importlib.import_module(module.name)
"""
    imported = imported_by(code, tmp_path)
    assert "numpy" in imported and not imported & SCREEN


def test_configuration_is_light(tmp_path: Path) -> None:
    assert not imported_by("import tau_browser.config", tmp_path) & HEAVY


def test_the_first_frame_waits_for_textual_alone(tmp_path: Path) -> None:
    code = (
        "from tau_browser.stores.targets import Target, store_over\n"
        "from tau_browser.tui.app import BrowserApp\n"
        f"list(store_over([{SESSION!r}], None).scan())"
    )
    late = {"numpy", "regex", "httpx", "pygments", "markdown_it", "tau_browser.model.session"}
    assert not imported_by(code, tmp_path) & late
