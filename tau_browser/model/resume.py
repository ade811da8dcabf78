"""How a session is continued from a shell."""

from __future__ import annotations

import shlex


def resume_command(session: str, cwd: str) -> str:
    """The shell command with which τ continues a session, named by its id or by the path of its
    file (tau-ui 1), quoted for sh."""
    resume = f"tau --mode repl --session {shlex.quote(session)}"
    return f"cd {shlex.quote(cwd)} && {resume}" if cwd else resume
