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
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import Embedded
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.storing import content_of, is_indexable, is_piece

NO_MODEL = "the server has no model that makes vectors"
"""Why an entry is left without a vector, and is to be told of."""

_KINDS = ("message", "customMessage", "compaction", "branch_summary", "elide")
_LEAST = 10  # characters that say anything (tau-format 4.8)
_WORDS = 220  # of a piece
_AT_ONCE = 350  # words that a model takes at once, about
_PER_VECTOR, _PER_STEP = 0.7, 0.05  # seconds without a graphics card, as a first guess only
_BATCH = 30  # documents that are asked about at once
_MOST = 100  # documents that a search gives
_WORD = re.compile("[a-z0-9]{2,}")
_DEFAULT = "default"


@dataclass(slots=True)
class Survey:
    """What is to be done in a conversation, by documents.

    embed: entries that lack a vector · vectors: about how many that makes, as what is too long is
    cut up · pieces: pieces that lack one · stale: pieces that were copied from another
    conversation, and go · index: entries of which the index `into` holds not what they say ·
    skipped: how many entries there is nothing to do for, by reason · can_embed: whether the server
    makes vectors.
    """

    into: str = _DEFAULT
    can_embed: bool = True
    embed: list[int] = field(default_factory=list)
    vectors: int = 0
    pieces: list[int] = field(default_factory=list)
    stale: list[int] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def steps(self) -> int:
        """Requests that change something; cutting up what is too long takes some more."""
        return len(self.embed) + len(self.pieces) + len(self.stale) + len(self.index)

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        vectors = self.vectors + len(self.pieces)
        return vectors * _PER_VECTOR + (len(self.stale) + len(self.index)) * _PER_STEP


@dataclass(frozen=True, slots=True)
class Step:
    """Something was done. did: what, in a word · more: how many steps more come of it · problem:
    why it was not done, or ""."""

    document: int
    did: str
    problem: str = ""
    more: int = 0


@dataclass(frozen=True, slots=True)
class _Entry:
    document: int
    text: str
    pieces: list[int]
    stale: list[int]

    @property
    def vectors(self) -> int:
        words = len(self.text.split())
        return 1 if words <= _AT_ONCE else -(-words // _WORDS)


def surveyed(
    client: Client, root: int, session: Session, index: str | None = None
) -> Generator[tuple[int, int], None, Survey]:
    """Look at a conversation; yields how many of how many entries were looked at. index: a BM25
    index that is to hold all of them; None: the usual one is only repaired. Raises JmftsError."""
    can_embed = thread.run(client.capabilities()).embedding.can_embed
    names = [each.name for each in thread.run(client.indexes())]
    into = index if index is not None else thread.run(_usual_index(client, root, names))
    survey = Survey(into, can_embed)
    entries = list(_entries(session, survey))
    for at in range(0, len(entries), _BATCH):
        yield at, len(entries)
        batch = entries[at : at + _BATCH]
        found = thread.run(_look(client, batch, survey))
        if index is None:
            batch = [entry for entry in batch if found[entry.document].was_rewritten]
        if into in names:
            batch = thread.run(_unheld(client, batch, found, into))
        for entry in batch:
            if is_indexable(entry.text):
                survey.index.append(entry.document)
            else:
                survey.skipped["a word too long for the server's index"] += 1
    yield len(entries), len(entries)
    return survey


def enriched(client: Client, survey: Survey) -> Iterator[Step]:
    """Do what a survey says; yields each thing done. Raises JmftsError where going on is no use."""
    for document in survey.stale:
        yield _done(document, "removed", client.delete(document))
    try:
        for document in survey.pieces:
            yield _done(document, "embedded", client.embed(document))
        for document in survey.embed:
            yield from _embedded(client, document)
    except JmftsError as error:
        if error.status != 501:
            raise
        # its model is not at hand: then it makes no vector at all, but words need none
        yield Step(document, "", str(error))
    if survey.index and survey.into != _DEFAULT:
        thread.run(client.create_index(survey.into))
    for document in survey.index:
        yield _done(document, "indexed", client.index(survey.into, document))


async def _usual_index(client: Client, root: int, names: list[str]) -> str:
    """The index in which the server keeps the words of a conversation: the one that covers it most
    closely, else the default."""
    named = [name for name in names if name != _DEFAULT]
    if not named:
        return _DEFAULT
    above = [*(await client.entry(root)).path, root]
    roots = await asyncio.gather(*map(client.index_roots, named))
    covering = [
        (above.index(covered), name)
        for name, found in zip(named, roots, strict=True)
        for covered in found
        if covered in above
    ]
    return max(covering)[1] if covering else _DEFAULT


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


async def _look(client: Client, entries: list[_Entry], survey: Survey) -> dict[int, Embedded]:
    """Note what of some entries lacks a vector; gives their documents and those of their pieces."""
    numbers = [number for entry in entries for number in (entry.document, *entry.pieces)]
    found = dict(zip(numbers, await asyncio.gather(*map(client.embedded, numbers)), strict=True))
    for entry in entries:
        survey.stale += entry.stale
        lacking = [piece for piece in entry.pieces if not found[piece].has_vector]
        if found[entry.document].has_vector or (entry.pieces and not lacking):
            survey.skipped["embedded already"] += 1
        elif not survey.can_embed:
            survey.skipped[NO_MODEL] += 1
        elif entry.pieces:
            survey.pieces += lacking
        else:
            survey.embed.append(entry.document)
            survey.vectors += entry.vectors
    return found


async def _unheld(
    client: Client, entries: list[_Entry], found: dict[int, Embedded], index: str
) -> list[_Entry]:
    """Those of some entries of which an index does not hold what they say."""
    held = await asyncio.gather(
        *(_holds(client, entry, found[entry.document], index) for entry in entries)
    )
    return [entry for entry, holds in zip(entries, held, strict=True) if not holds]


async def _holds(client: Client, entry: _Entry, document: Embedded, index: str) -> bool:
    """Whether an index holds an entry as it is: it then knows the word that comes up last.

    A search gives no more than some documents. It is held to those below the same parent that were
    there when the entry was made: in a chain, to the entry alone.
    """
    words = _WORD.findall(entry.text.lower())
    if not words:
        return True
    body = {
        "query": max(set(words), key=words.index),
        "limit": _MOST,
        "usetype": [f"tau:{kind}" for kind in _KINDS],
        "parent_id": document.parent_id,
        "as_of": document.event_time or document.created_at,
    }
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
    yield Step(document, "cut up", more=len(pieces))
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
