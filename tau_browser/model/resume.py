"""How a session is continued from a shell."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tau_browser.model.session import Session

_COMMANDS = {
    "tau": "tau --mode repl --session {path}",
    "jmfts": "tau --store jmfts --mode repl --session {path}",
    "pi": "pi --session {path}",
    "claude-code": "claude --resume {id}",
    "codex": "codex resume {id}",
}


def resume_command(store: str, session: Session, path: str) -> str:
    """The shell command with which the program of a store continues a session, quoted for sh; ""
    where no program does. path: of its file, or the document of its root on a server."""
    if (command := _COMMANDS.get(store)) is None:
        return ""
    resume = command.format(path=shlex.quote(path), id=shlex.quote(session.id))
    cwd = session.header.get("cwd")
    return f"cd {shlex.quote(cwd)} && {resume}" if cwd and isinstance(cwd, str) else resume
