"""One writer at a time: a file that only one process can create, with who it is.

The same is told in agmem's own pid file, so that its daemon does not start beside us. A process is
known by its id and by when it started: ids are given out again.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import uuid
from pathlib import Path

from tau_browser.actions.observe.disk import TEMPORARY, put
from tau_browser.stores.store import StoreError


class Lock:
    """Holds a repository for this process. Raises StoreError where another has it."""

    def __init__(self, mem: Path) -> None:
        self._path = mem / "tau-browse.lock"
        self._pid_file = mem / "daemon.pid"

    def take(self) -> None:
        """Take it, from a process that is no more too."""
        while True:
            try:
                handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                self._clear_stale()
                continue
            with os.fdopen(handle, "w") as file:
                json.dump({"pid": os.getpid(), "started": _started(os.getpid())}, file)
            break
        try:
            self._tell_agmem()
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let go of it."""
        if _number(self._pid_file) == os.getpid():
            self._pid_file.unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)

    def require_free(self) -> None:
        """Raises StoreError where another has it; touches nothing."""
        try:
            holder = json.loads(self._path.read_bytes())
            pid, started = int(holder["pid"]), str(holder["started"])
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            pid, started = 0, ""  # killed between creating and writing it, or somebody else's
            if _age(self._path) < 5:
                raise StoreError(f"{self._path}: another capture is starting; try again") from None
        if pid and _started(pid) == started:
            raise StoreError(
                f"{self._path}: process {pid} captures into this repository; "
                "end it first, or name another"
            )

    def _clear_stale(self) -> None:
        """Put aside the lock of a process that is no more. Of several that try, one succeeds."""
        self.require_free()
        aside = self._path.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
        with contextlib.suppress(FileNotFoundError):
            os.rename(self._path, aside)
            aside.unlink()

    def _tell_agmem(self) -> None:
        pid = _number(self._pid_file)
        if pid and pid != os.getpid() and _is_agmem(pid):
            raise StoreError(
                f"{self._pid_file}: process {pid} may be agmem's daemon; end it, or delete the "
                "file if it is none"
            )
        put(self._pid_file, str(os.getpid()).encode())


def _number(path: Path) -> int:
    try:
        return int(path.read_text(encoding="ascii", errors="replace").strip())
    except (OSError, ValueError):
        return 0


def _age(path: Path) -> float:
    """Seconds since a file was written; many if it is gone."""
    import time

    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 1e9


def _started(pid: int) -> str:
    """When a process started, in any spelling that stays the same; "" if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[19]
    except (OSError, IndexError):
        pass
    if Path("/proc/self/stat").exists():
        return ""
    told = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return told.stdout.strip()


def _is_agmem(pid: int) -> bool:
    """Whether a live process may be agmem's: it runs Python. Its pid file has no start time."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return bool(_started(pid))
    return b"python" in command or b"agmem" in command
