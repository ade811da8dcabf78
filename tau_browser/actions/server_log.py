"""The log of a conversation as its writer needs it: its records with the parents that the tree has,
what differs between two, and a copy of it in the trash."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping

from tau_browser.actions.journal import Journal
from tau_browser.actions.references import references_of, with_reference
from tau_browser.model.decoder import Decoder
from tau_browser.model.payload import Record
from tau_browser.model.session import Session, session_of
from tau_browser.model.text import counted
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.files import FileSource, words_of
from tau_browser.stores.jmfts.storing import is_indexable, is_piece, is_searched_in_part, says
from tau_browser.stores.store import StoreError

_CHUNK = 1024 * 1024


def pieces_of(session: Session) -> Iterator[bytes]:
    """The bytes of a log from its start."""
    for at in range(0, session.size, _CHUNK):
        yield session.source.read(at, min(at + _CHUNK, session.size))


def ids_of(session: Session) -> set[str]:
    """The ids of all entries."""
    return {session.entry_id(at) for at in range(len(session))}


def records_of(session: Session) -> Iterator[Record]:
    """The entries of a session, each with its parent as the tree has it."""
    for at in range(len(session)):
        yield session.record(at) | {"parentId": parent_id(session, at)}


def without_pieces(records: Iterable[Record]) -> list[Record]:
    """Records that are stored anew: what was made of them for search is made anew, too. What hangs
    below such a piece hangs below the entry that it was cut from."""
    above: dict[str, str | None] = {}
    found = []
    for record in records:
        parent = record["parentId"]
        record |= {"parentId": above.get(parent, parent)}
        if is_piece(record):
            above[record["id"]] = record["parentId"]
        else:
            found.append(record)
    return found


def shortcomings(session: Session) -> Iterator[str]:
    """What of a session a server does not store, or does not search by."""
    pieces = endless = in_part = 0
    for record in map(session.record, range(len(session))):
        if is_piece(record):
            pieces += 1
            continue
        endless += not is_indexable(says(record))
        in_part += is_searched_in_part(record)
    if pieces:
        yield f"{counted(pieces, 'piece')} made for search left out: enrich makes them"
    if endless:
        yield f"{counted(endless, 'entry')} with a word too long for BM25: fulltext finds them"
    if in_part:
        yield f"{counted(in_part, 'entry')} with too many words: the server searches how they begin"


def parent_id(session: Session, place: int) -> str | None:
    """The id of the entry above one; None at the top."""
    parent = int(session.tree.parent[place])
    return None if parent == NOWHERE else session.entry_id(parent)


def changed(source: Session, result: Session) -> Iterator[Record]:
    """The entries of a result that are not as they were."""
    for at in range(len(result)):
        record = result.record(at)
        (place,) = source.find(str(record["id"]))
        if source.record(place) != record:
            yield record


def referring_to(record: Record, made: Mapping[str, int]) -> Record:
    """A record whose references name documents; what names nothing that was made stays."""
    for field, target in references_of(record).items():
        if target in made:
            record = with_reference(record, field, str(made[target]))
    return record


def keep(session: Session, journal: Journal) -> str:
    """Put the log of a session into the trash; returns its digest. Raises StoreError."""
    digest = hashlib.sha256()
    for piece in pieces_of(session):
        digest.update(piece)
    name = digest.hexdigest()
    try:
        with open(journal.trash / name, "wb", opener=_private) as file:
            file.writelines(pieces_of(session))
    except OSError as error:
        raise StoreError(f"{journal.trash}: {words_of(error)}: nothing was changed") from error
    return name


def kept_in(journal: Journal, name: str) -> Session:
    """A session whose log is in the trash."""
    source = FileSource(str(journal.trash / name))
    decoder = Decoder()
    at = 0
    while data := source.read(at, at + _CHUNK):
        decoder.feed(data)
        at += len(data)
    return session_of(decoder.log(), source)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
