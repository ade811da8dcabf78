"""How a session is continued from a shell."""

from __future__ import annotations

import shlex


def resume_command(session: str, cwd: str, store: str = "tau") -> str:
    """The shell command with which τ continues a session, named by its id, by the path of its
    file (tau-ui 1), or by the document of its root where the store is "jmfts"; quoted for sh."""
    where = " --store jmfts" if store == "jmfts" else ""
    resume = f"tau{where} --mode repl --session {shlex.quote(session)}"
    return f"cd {shlex.quote(cwd)} && {resume}" if cwd else resume
