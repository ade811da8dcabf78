"""A JMFTS appliance for tests: PostgreSQL and the server, on free ports of 127.0.0.1, in a folder
of its own. It is run as a program that lives as long as its input is open, so that whatever ends
the tests ends the appliance too.

    PYTHON -m tests.jmfts.appliance PYTHON_OF_JMFTS [--embeddings]

prints {"url", "token", "psql": [command], "pids": [server, PostgreSQL]} on one line once the server
answers. A guard of its own cleans up behind it where it is killed: PostgreSQL is a daemon, which
outlives whoever started it.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TOKEN = "test-token-of-the-owner"
_SERVER_PID = "server.pid"
_POSTGRES_PID = "postgres/.pg0/instances/*/data/postmaster.pid"
_TRIES = 5  # to empty the database
_READY_AFTER = 180  # seconds until a server that does not answer is given up
# The data are thrown away: nothing needs to survive a crash.
_POSTGRES = (
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "shared_buffers=256MB",
    "max_connections=60",
)
_MODEL = Path(__file__).parent / "model.py"
# What 20 vectors and an index need: an extension built for another processor dies of it.
_PROBE = """
CREATE EXTENSION IF NOT EXISTS vector; CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TEMP TABLE probe(e vector(8));
INSERT INTO probe SELECT (SELECT array_agg(random()) FROM generate_series(1, 8) WHERE n = n)::vector
  FROM generate_series(1, 20) n;
CREATE INDEX ON probe USING hnsw (e vector_cosine_ops);
SELECT count(*) FROM (SELECT 1 FROM probe ORDER BY e <=> (SELECT e FROM probe LIMIT 1)) found;
"""
_RESET = """
TRUNCATE documents RESTART IDENTITY CASCADE; TRUNCATE search_term_stats;
DELETE FROM search_indexes WHERE name <> 'default';
UPDATE search_indexes SET total_docs = 0, avg_doc_length = 0;
TRUNCATE search_contexts, predicates, principals RESTART IDENTITY CASCADE;
"""


@dataclass
class Appliance:
    """A running server as tests see it."""

    url: str
    token: str
    psql: list[str]
    pids: list[int]
    process: subprocess.Popen[str] = field(repr=False)

    def reset(self) -> None:
        """Empty the database; ids begin at 1 again."""
        for _ in range(_TRIES):
            try:
                self.sql(_RESET)
                return
            except RuntimeError as error:  # the server may still be at what nobody waits for
                if "deadlock detected" not in str(error):
                    raise
        raise RuntimeError("the database cannot be emptied: the server is never done with it")

    def sql(self, statements: str) -> str:
        """Run statements in the database; returns what they print. Raises RuntimeError, with what
        the database says."""
        run = subprocess.run(self.psql, input=statements, text=True, capture_output=True)
        if run.returncode:
            raise RuntimeError(f"psql: {run.stderr.strip()}")
        return run.stdout

    def cpu(self) -> float:
        """CPU seconds that the server and PostgreSQL have taken so far, both with what they
        started."""
        ticks = 0
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has just ended
                _, parent, *rest = status.read_text().rpartition(")")[2].split()
                if {int(parent), int(status.parent.name)} & {*self.pids}:
                    ticks += sum(map(int, rest[9:13]))  # its own, and of children that have ended
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End the server and remove all that it stored."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def start(python: Path, *, embeddings: bool = False) -> Appliance:
    """An appliance of its own, ready. `python`: that of an environment with JMFTS in it.

    Raises RuntimeError, with what was printed, where it cannot start.
    """
    command = [sys.executable, "-m", "tests.jmfts.appliance", str(python)]
    process = subprocess.Popen(
        [*command, *(["--embeddings"] if embeddings else [])],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the JMFTS appliance did not start: see above ({process.wait()})")
    return Appliance(**json.loads(line), process=process)


def _main(python: Path, *, embeddings: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C ends the tests, and they end this
    home = Path(tempfile.mkdtemp(prefix="jmfts-"))
    home.chmod(0o755)  # PostgreSQL runs as another user where the tests run as root
    try:
        with _guarded(home), _postgres(home, python) as (port, psql, postgres):
            environment = _server_environment(port)
            if embeddings:
                model = home / "model"
                subprocess.run([python, _MODEL, model], check=True)
                environment |= _embedding_environment(model)
            subprocess.run(
                [python.parent / "jmfts-init-db"],
                cwd=home,
                env=environment,
                check=True,
                stdout=sys.stderr,
            )
            with _server(home, python, environment) as (url, server):
                told = {"url": url, "token": _TOKEN, "psql": psql, "pids": [server, postgres]}
                print(json.dumps(told), flush=True)
                sys.stdin.read()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def _guarded(home: Path) -> Iterator[None]:
    """A process that waits for the end of a pipe which only we hold open."""
    command = [sys.executable, __file__, "--guard", str(home)]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    assert guard.stdin is not None
    try:
        yield
    finally:
        guard.stdin.close()
        guard.wait()


def _guard(home: Path) -> None:
    """Once whoever started this is gone, end what it left behind."""
    sys.stdin.read()
    for file in [home / _SERVER_PID, *home.glob(_POSTGRES_PID)]:
        with contextlib.suppress(OSError, ValueError):
            _end(_pid_in(file))
    # a PostgreSQL that has only just begun ends by itself once its folder is gone
    shutil.rmtree(home, ignore_errors=True)


def _pid_in(file: Path) -> int:
    return int(file.read_text().splitlines()[0])


def _end(pid: int) -> None:
    """End a process at once, and wait for that. Raises OSError once it is gone."""
    for how in (signal.SIGQUIT, signal.SIGKILL):  # PostgreSQL takes its helpers along, if it may
        os.kill(pid, how)
        for _ in range(200):
            time.sleep(0.05)
            os.kill(pid, 0)


@contextlib.contextmanager
def _postgres(home: Path, python: Path) -> Iterator[tuple[int, list[str], int]]:
    """PostgreSQL with an empty database; gives its port, the command that talks to it, and its
    pid."""
    folder = home / "postgres"
    folder.mkdir()
    program = home / "pg0"
    shutil.copy2(next(python.parents[1].glob("lib/python3*/site-packages/pg0/bin/pg0")), program)
    program.chmod(0o755)
    options: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def pg0(*words: str) -> None:
        subprocess.run(
            [program, *words],
            cwd="/",
            env=os.environ | {"HOME": str(folder)},
            check=True,
            stdout=sys.stderr,
            stdin=subprocess.DEVNULL,
            **options,
        )

    port = _free_port()
    settings = [word for setting in _POSTGRES for word in ("-c", setting)]
    named = ["--name", "jmfts"]
    login = ["-u", "jmfts", "-P", "jmfts", "-n", "jmfts"]
    pg0("start", *named, "--port", str(port), *login, *settings)
    try:
        psql = next((folder / ".pg0" / "installation").glob("*/bin/psql"))
        place = f"postgresql://jmfts:jmfts@127.0.0.1:{port}/jmfts"
        command = [str(psql), "-qAt", "-v", "ON_ERROR_STOP=1", place]
        subprocess.run(command, input=_PROBE, text=True, check=True, stdout=subprocess.DEVNULL)
        yield port, command, _pid_in(next(home.glob(_POSTGRES_PID)))
    finally:
        pg0("stop", *named)


@contextlib.contextmanager
def _server(home: Path, python: Path, environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The JMFTS server; gives its URL once it answers, and its pid."""
    port = _free_port()
    log = home / "server.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [
                python.parent / "jmfts-server",
                "--host",
                "127.0.0.1",
                f"--port={port}",
                "--no-reload",
            ],
            cwd=home,  # it reads a .env where it is started
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    url = f"http://127.0.0.1:{port}"
    (home / _SERVER_PID).write_text(str(process.pid))
    try:
        deadline = time.monotonic() + _READY_AFTER
        while not _answers(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"jmfts-server:\n{log.read_text()[-4000:]}")
            time.sleep(0.1)
        yield url, process.pid
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        (home / _SERVER_PID).unlink()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as response:
            return bool(json.load(response)["database"] == "connected")
    except (OSError, ValueError):
        return False


def _server_environment(port: int) -> dict[str, str]:
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("JMFTS_")}
    return inherited | {
        "JMFTS_DB_HOST": "127.0.0.1",
        "JMFTS_DB_PORT": str(port),
        "JMFTS_DB_NAME": "jmfts",
        "JMFTS_DB_USER": "jmfts",
        "JMFTS_DB_PASSWORD": "jmfts",
        "JMFTS_API_TOKEN": _TOKEN,
        "JMFTS_DEBUG": "false",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _embedding_environment(model: Path) -> dict[str, str]:
    return {
        "JMFTS_EMBEDDING_MODEL": str(model),
        "JMFTS_EMBEDDING_DOC_WINDOW": "512",  # all that MiniLM has positions for
        "JMFTS_EMBEDDING_TOKEN_WINDOW": "512",
        "JMFTS_EMBEDDING_DEVICE": "cpu",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__" and sys.argv[1] == "--guard":
    _guard(Path(sys.argv[2]))
elif __name__ == "__main__":
    _main(Path(sys.argv[1]), embeddings="--embeddings" in sys.argv[2:])
