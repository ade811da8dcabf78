"""What the tests of the contract share: a sample on the disk, and what is read from it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tau_browser.model.session import Session
from tau_browser.stores.store import Listed, OpenSession, Store
from tests.stores.samples import Sample


class Made(NamedTuple):
    """A sample on the disk."""

    sample: Sample
    folder: Path
    sessions: dict[str, int]
    store: Store


def make(sample: Sample, tmp_path: Path) -> Made:
    """A sample in a folder of its own."""
    folder = tmp_path / "store"
    folder.mkdir()
    sessions = sample.make(folder)
    return Made(sample, folder, sessions, sample.adapter([str(folder)], tmp_path / "cache"))


def listed(store: Store) -> dict[str, Listed]:
    """The sessions of a store by their ids."""
    found = {}
    for item in store.scan():
        assert isinstance(item, Listed), item
        found[store.identify(item)] = item
    return found


def opened(made: Made, session_id: str) -> OpenSession:
    """A session of a sample, open."""
    return made.store.open(listed(made.store)[session_id].path)


def read(session_or_opened: OpenSession) -> Session:
    """The session, read to the end."""
    *_, last = session_or_opened.load()
    assert last.session is not None and last.done == last.total
    return last.session


def entries(session_or_opened: OpenSession) -> list[str]:
    """The ids of the entries, read to the end."""
    session = read(session_or_opened)
    return session.ids(range(len(session)))


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Bytes and time of every file."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }
