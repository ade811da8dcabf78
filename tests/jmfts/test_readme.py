"""The page of the README from nothing to a searched conversation, run as it is written."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

from tests.conftest import DATA
from tests.environments import JMFTS, environment
from tests.jmfts.appliance import Appliance

README = Path(__file__).parents[2] / "README.md"
SESSION = DATA / "tau" / "02-forked-tree.jsonl"


def lines() -> list[str]:
    """The commands of the page."""
    (block,) = re.findall(r"^```\n(pip install jmfts .*?)^```", README.read_text(), re.M | re.S)
    return [line.partition("  #")[0].strip() for line in block.splitlines()]


def test_the_page_leads_to_a_searched_conversation(
    appliance: Appliance, home: Path, tmp_path: Path
) -> None:
    install, database, *commands, browse = lines()
    # what these two bring is here already, on other ports
    assert install.split()[2:] == [name.partition("==")[0] for name in (JMFTS[0], JMFTS[2])]
    assert "5433" in database and browse == "tau-browse --store jmfts"
    script = "\n".join(commands)
    given = {"5433": _port(appliance.psql[-1]), "8100": _free_port(), "SESSION": str(SESSION)}
    given |= {"why did we drop sqlite": "JMFTS"}
    for written, here in given.items():
        assert written in script
        script = script.replace(written, here)
    folders = [Path(sys.executable).parent, environment(*JMFTS).parent]
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("JMFTS_")}
    run = subprocess.run(
        ["bash", "-ec", f"trap 'kill %1' EXIT\n{script}"],
        cwd=tmp_path,
        env=inherited
        | {
            "PATH": ":".join([*map(str, folders), os.environ["PATH"]]),
            "HF_HUB_OFFLINE": "1",  # else the server tries for minutes to fetch a model
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "no problems" in run.stdout  # of doctor
    assert "done: 1" in run.stdout  # of import
    assert "Documents in PostgreSQL with pgvector" in run.stdout  # of search


def _port(place: str) -> str:
    found = re.search(r":(\d+)/", place)
    assert found
    return found[1]


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
