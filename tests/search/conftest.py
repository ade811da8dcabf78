"""A store on disk, and its index, for tests of the search."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tau_browser.search.index.reader import Reader
from tau_browser.search.index.recent import Recent
from tau_browser.search.index.update import Report, update
from tau_browser.search.lexical import Matches, search
from tau_browser.search.query import parse
from tau_browser.search.texts import Texts
from tau_browser.stores.tau_file import TauFileStore
from tests.conftest import HEADER, log_of

# Characters that change length, order or neighbours when they are folded.
TRICKY = (
    "iIİıß\u1e9eﬁſK²…é\u0301\u0307\u0323\u0345αΐΪςΣǰŉ\u200d👩💻\ufe0f\u20e3🇩🇪क\u094dष\u09c7\u09be"
    "가\u1100\u1161\u11a8ㄱㅏｱﾞᄀ\uffa1\uffc2´\ud800\n\r ab1"
)


class Indexed:
    """A folder of sessions with an index beside it. Entries are called by their ids."""

    def __init__(self, base: Path) -> None:
        self.root = base / "sessions"
        self.folder = base / "index"
        self.root.mkdir(parents=True, exist_ok=True)
        self._reader: Reader | None = None

    @property
    def store(self) -> TauFileStore:
        return TauFileStore([str(self.root)])

    def write(self, name: str, records: list[Any], **header: Any) -> Path:
        path = self.root / f"{name}.jsonl"
        path.write_bytes(log_of(records, HEADER | {"id": name} | header))
        return path

    def append(self, name: str, records: list[Any]) -> None:
        with (self.root / f"{name}.jsonl").open("ab") as file:
            file.write(log_of(records, None))

    def update(self, **options: Any) -> Report:
        return update(self.store, self.folder, **options)

    @property
    def reader(self) -> Reader:
        if self._reader is None:
            self._reader = Reader(self.folder)
        else:
            self._reader.refresh()
        return self._reader

    def matches(
        self, query: str, *, typing: bool = False, limit: int = 10_000, **options: Any
    ) -> Matches:
        reader = self.reader
        texts = Texts(reader)
        parsed = parse(query, typing=typing)
        return search(reader, parsed, limit=limit, text_of=texts.text, **options)

    def found(self, query: str, **options: Any) -> list[str]:
        """The ids of the entries that match, the best first; each as "session/entry"."""
        return self.ids([key for key, _ in self.matches(query, **options).hits])

    def ids(self, keys: list[int], recent: Recent | None = None) -> list[str]:
        texts = Texts(self.reader)
        standings = self.reader.standings([key for key in keys if key >= 0])
        ids = []
        for key in keys:
            if key < 0:
                assert recent is not None
                standing, record = recent.standing(key), recent.record(key)
            else:
                standing = standings[key][0]
                record = texts.record(key, standing)
            ids.append(f"{standing.session}/{record.get('id')}")
        return ids


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    return Indexed(tmp_path)


@pytest.fixture
def indexed_texts(tmp_path: Path) -> Callable[..., Indexed]:
    """Makes an indexed store of one session "s", an entry "m0", "m1"... per text."""

    def make(*texts: str) -> Indexed:
        from tests.conftest import message

        indexed = Indexed(tmp_path)
        indexed.write("s", [message(f"m{at}", None, text) for at, text in enumerate(texts)])
        indexed.update()
        return indexed

    return make


def spelled(value: Any) -> str:
    """A value as τ writes it."""
    return json.dumps(value)
