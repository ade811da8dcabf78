"""For tests of changes that end in the middle: the state before and after, and a command that is
killed at a request."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

from tau_browser.model.session import Session
from tau_browser.stores.jmfts.store import JmftsStore
from tests.cli.conftest import PROGRAM, environment
from tests.jmfts.appliance import Appliance
from tests.jmfts.proxy import Proxy, whole

CHANGING = ("POST /documents", "PATCH ", "DELETE ")


def state(appliance: Appliance) -> str:
    """All that the server stores."""
    return appliance.sql(
        "SELECT id, parent_id, usetype, title, content, structured_content FROM documents"
        " ORDER BY id"
    )


def said(session: Session) -> list[tuple[str, str | None]]:
    """What each entry says and what the one above it does, whatever their numbers are."""
    parents = session.tree.parent
    words = [
        session.text(at) if session.kind(at) == "message" else session.kind(at)
        for at in range(len(session))
    ]
    told = [
        (words[at], words[int(parents[at])] if parents[at] >= 0 else None)
        for at in range(len(session))
    ]
    return sorted(told, key=str)


def session_at(store: JmftsStore, root: int) -> Session:
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    return last.session


def killed_at(
    proxy: Proxy,
    nth: int,
    home: Path,
    appliance: Appliance,
    *words: str,
    how: signal.Signals = signal.SIGKILL,
) -> tuple[int, str]:
    """Run the command and, once the server has answered its nth request that changes something,
    kill it: how it then ends, and what it said of it."""
    first = len(proxy.asked)

    def kill(number: int, client: socket.socket, answer: bytes) -> bool:
        changing = [each for each in proxy.asked[first:] if each.startswith(CHANGING)]
        if len(changing) == nth and proxy.asked[number].startswith(CHANGING):
            os.kill(process.pid, how)
        return whole(number, client, answer)

    proxy.spoil = kill
    there = {"JMFTS_API_URL": proxy.url, "JMFTS_API_TOKEN": appliance.token}
    process = subprocess.Popen(
        [*PROGRAM, *words, "--store", "jmfts"],
        env=environment(home) | there,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _, err = process.communicate(timeout=60)
    proxy.spoil = whole
    return process.returncode, err.decode()


def long_ago(appliance: Appliance) -> None:
    """Nobody writes: what was made was made long before."""
    appliance.sql(
        "ALTER TABLE documents DISABLE TRIGGER trigger_documents_updated_at;"
        "UPDATE documents SET updated_at = now() - interval '1 hour';"
        "ALTER TABLE documents ENABLE TRIGGER trigger_documents_updated_at;"
    )
