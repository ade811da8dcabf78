"""Completing what a server can search by: vectors, pieces of what is too long, words.

What is to be done is told by the server's own state, document by document, so that it can be
stopped anywhere and goes on from there; and where nothing is left, nothing is done.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from tau_browser.model.columns import Flag
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.times import parse_time
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import Document
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.storing import content_of, is_piece

SECONDS = 0.7
"""About what a vector costs on a server without a graphics card; as a first guess only."""

_KINDS = ("message", "customMessage", "compaction", "branch_summary", "elide")
_LEAST = 10  # characters that say anything (tau-format 4.8)
_WORDS = 220  # of a piece
_BATCH = 30  # documents that are asked about at once
_REWRITTEN = 2  # milliseconds from making to changing a document, from which it was changed
_WORD = re.compile("[a-z0-9]{2,}")
_DEFAULT = "default"


@dataclass(slots=True)
class Survey:
    """What is to be done in some conversations, by documents.

    embed: entries that lack a vector · pieces: pieces that lack one · stale: pieces that were
    copied from another conversation, and go · index: entries of which an index holds not what they
    say · skipped: how many entries there is nothing to do for, by reason.
    """

    embed: list[int] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)
    stale: list[int] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def steps(self) -> int:
        """Requests that change something; cutting up what is too long takes some more."""
        return len(self.embed) + len(self.pieces) + len(self.stale) + len(self.index)


@dataclass(frozen=True, slots=True)
class Step:
    """Something was done. problem: why it was not, or ""."""

    document: int
    did: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Entry:
    document: int
    text: str
    pieces: list[int]
    stale: list[int]


def surveyed(
    client: Client, session: Session, index: str | None = None
) -> Generator[int, None, Survey]:
    """Look at a conversation; yields how many of its entries were looked at. index: a BM25 index
    that is to hold all of them; None: the usual one is only repaired. Raises JmftsError."""
    survey = Survey()
    entries = list(_entries(session, survey))
    for at in range(0, len(entries), _BATCH):
        yield at
        thread.run(_look(client, entries[at : at + _BATCH], survey, index))
    yield len(entries)
    return survey


def enriched(client: Client, survey: Survey, index: str | None = None) -> Iterator[Step]:
    """Do what a survey says; yields each thing done. Raises JmftsError where going on is no use."""
    if index is not None:
        thread.run(client.create_index(index))
    for document in survey.stale:
        yield _done(document, "removed", client.delete(document))
    for document in survey.pieces:
        yield _done(document, "embedded", client.embed(document))
    for document in survey.embed:
        yield from _embedded(client, document)
    for document in survey.index:
        yield _done(document, "indexed", client.index(index or _DEFAULT, document))


def _entries(session: Session, survey: Survey) -> Iterator[_Entry]:
    """The entries that say something, with their pieces."""
    pieces: dict[int, list[int]] = {}
    stale: dict[int, list[int]] = {}
    for at in session.places_of_kind("jmfts:document"):
        record = session.record(at)
        if is_piece(record):
            parent, number = int(session.tree.parent[at]), int(session.entry_id(at))
            of = _chunked_from(record)
            mine = of is None or str(of) == session.entry_id(parent)
            (pieces if mine else stale).setdefault(parent, []).append(number)
    for at in range(len(session)):
        if session.kind(at) not in _KINDS:
            continue
        text = content_of(session.record(at)).strip()
        if session.has(at, Flag.INCOMPLETE):
            survey.skipped["still being written"] += 1
        elif len(text) <= _LEAST:
            survey.skipped["nothing said, or too little"] += 1
        else:
            number = int(session.entry_id(at))
            yield _Entry(number, text, pieces.get(at, []), stale.get(at, []))


def _chunked_from(record: Record) -> object:
    stored = record.get("structured_content")
    return stored.get("chunked_from") if isinstance(stored, dict) else None


async def _look(client: Client, entries: list[_Entry], survey: Survey, index: str | None) -> None:
    numbers = [number for entry in entries for number in (entry.document, *entry.pieces)]
    found = dict(zip(numbers, await asyncio.gather(*map(client.embedded, numbers)), strict=True))
    checked = [
        entry for entry in entries if index is not None or _was_rewritten(found[entry.document])
    ]
    held = await asyncio.gather(*(_holds(client, entry, index) for entry in checked))
    survey.index += [
        entry.document for entry, holds in zip(checked, held, strict=True) if not holds
    ]
    for entry in entries:
        survey.stale += entry.stale
        lacking = [piece for piece in entry.pieces if not found[piece].has_vector]
        survey.pieces += lacking
        if found[entry.document].has_vector or (entry.pieces and not lacking):
            survey.skipped["embedded already"] += 1
        elif not entry.pieces:
            survey.embed.append(entry.document)


def _was_rewritten(document: Document) -> bool:
    """Whether a document was changed after it was made, which the index does not notice."""
    made, changed = parse_time(document.created_at), parse_time(document.updated_at)
    return changed - made > _REWRITTEN


async def _holds(client: Client, entry: _Entry, index: str | None) -> bool:
    """Whether an index holds an entry as it is: it then knows the word that comes up last."""
    words = _WORD.findall(entry.text.lower())
    if not words:
        return True
    last = max(set(words), key=words.index)
    body = {"query": last, "limit": 100, "usetype": [f"tau:{kind}" for kind in _KINDS]}
    answer = await client.search("bm25", body, index)
    return any(scored.document.id == entry.document for scored in answer.results)


def _embedded(client: Client, document: int) -> Iterator[Step]:
    """Give an entry its vectors; what is too long is cut up once, and its pieces get theirs."""
    try:
        thread.run(client.embed(document))
    except JmftsError as error:
        if not error.is_too_long:
            yield _failed(document, error)
            return
    else:
        yield Step(document, "embedded")
        return
    pieces = [child.id for child in thread.run(client.children(document, "jmfts:chunk"))]
    if not pieces:  # nobody has cut it up in the meantime
        pieces = [chunk.document_id for chunk in thread.run(client.chunk(document, _WORDS)).chunks]
    yield Step(document, f"cut into {len(pieces)} pieces")
    for piece in pieces:
        yield _done(piece, "embedded", client.embed(piece))


def _done(document: int, did: str, asked: Coroutine[Any, Any, None]) -> Step:
    try:
        thread.run(asked)
    except JmftsError as error:
        return _failed(document, error)
    return Step(document, did)


def _failed(document: int, error: JmftsError) -> Step:
    """Something that one document cannot have; what stands in the way of all of them is raised."""
    if error.status in (0, 401, 403, 501):
        raise error
    return Step(document, "", str(error))
