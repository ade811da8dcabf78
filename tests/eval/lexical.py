"""The lexical ranker of the product, over an index of the corpus as sessions on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tau_browser.search import lexical
from tau_browser.search.fusion import CANDIDATES, Ranking
from tau_browser.search.index.reader import Reader
from tau_browser.search.index.update import update
from tau_browser.search.query import parse
from tau_browser.stores.tau_file import TauFileStore
from tests.conftest import HEADER, message
from tests.eval.corpus import Entry
from tests.eval.rankers import Ranker

_ENTRIES = 500  # in a session
_ROLES = {"assistant": "assistant", "tool": "toolResult", "toolResult": "toolResult"}


def bm25(entries: Sequence[Entry], folder: Path) -> Ranker:
    """BM25 over all entries. The sessions and their index are written into the folder."""
    places = _write_sessions(entries, folder / "sessions")
    update(TauFileStore([str(folder / "sessions")]), folder / "index")
    reader = Reader(folder / "index")
    by_content = {
        content: entry
        for (path, start), entry in places.items()
        if (content := reader.content_at(path, start)) is not None
    }

    def rank(query: str) -> Ranking[str]:
        found = lexical.search(
            reader,
            parse(query),
            limit=CANDIDATES,
            text_of=lambda content: by_content[content].text,
        )
        hits = [(by_content[content].id, score) for content, score in found.hits]
        return Ranking("bm25", hits, complete=len(hits) < CANDIDATES, full=found.full)

    return rank


def _write_sessions(entries: Sequence[Entry], folder: Path) -> dict[tuple[str, int], Entry]:
    """Entries as τ writes them, and which starts at which byte of which file."""
    folder.mkdir(parents=True)
    places = {}
    for first in range(0, len(entries), _ENTRIES):
        path = folder / f"{first}.jsonl"
        data = json.dumps({**HEADER, "id": f"session-{first}"}).encode() + b"\n"
        above = None
        for entry in entries[first : first + _ENTRIES]:
            places[str(path), len(data)] = entry
            record = message(entry.id, above, entry.text, _ROLES.get(entry.role, "user"))
            data += json.dumps(record).encode() + b"\n"
            above = entry.id
        path.write_bytes(data)
    return places
