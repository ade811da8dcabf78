"""From the bytes of a subtree's answer to its documents, as they arrive.

A conversation is a chain, and every document in it repeats the whole chain above it: of a long
one, nearly all of the answer is that. So the answer is never held as a whole. What has arrived is
cut before the last document that begins in it, and the cut counts only if the piece before it, with
what then ends it, is whole: what a document itself holds cannot forge that, for its own end would
be lacking.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import NamedTuple

import msgspec

from tau_browser.stores.jmfts.documents import Descendants, Document, Subtree

_STRETCH = 256 * 1024  # bytes of an answer that are decoded at once
_BEGIN = b',{"id":'
_NEXT = re.compile(_BEGIN + rb'\d+,"parent_id":')
_decode_first = msgspec.json.Decoder(Subtree).decode
_decode_more = msgspec.json.Decoder(list[Document]).decode
_decode_last = msgspec.json.Decoder(Descendants).decode


class BadAnswer(Exception):
    """The answer is not what a JMFTS sends. The message says in what way."""


class Arrived(NamedTuple):
    """Some documents of an answer, and how many of its bytes came until now, and of how many."""

    documents: Sequence[Document]
    done: int
    total: int


async def split(answer: AsyncGenerator[tuple[bytes, int]]) -> AsyncGenerator[Arrived]:
    """The documents of an answer as they arrive. answer: pieces, each with the length of the
    whole. Raises BadAnswer besides what the answer raises."""
    splitter, done, total = Splitter(), 0, 0
    async with aclosing(answer):
        async for piece, total in answer:
            done += len(piece)
            if documents := splitter.feed(piece):
                yield Arrived(documents, done, total)
    yield Arrived(splitter.finish(), done, total)


class Splitter:
    """Takes an answer in pieces of any size and gives its documents in the order of arrival, the
    one that was asked for first."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # of what is not cut yet
        self._size = 0  # of them all
        self._enough = _STRETCH  # bytes of them without which no cut is tried
        self._count = 0

    def feed(self, data: bytes) -> Sequence[Document]:
        """The documents that these bytes complete."""
        self._pieces.append(data)
        self._size += len(data)
        if self._size < self._enough:
            return ()
        rest = b"".join(self._pieces)
        cut = _last_cut(rest)
        documents = self._whole(rest[:cut]) if cut >= 0 else ()
        self._pieces = [rest[cut + 1 :] if documents else rest]
        self._size = len(self._pieces[0])
        # Doubled, so that all tries in vain cost no more than one more decoding.
        self._enough = _STRETCH if documents else 2 * self._size
        self._count += len(documents)
        return documents

    def finish(self) -> Sequence[Document]:
        """The last documents. Raises BadAnswer where the answer does not end as it should."""
        rest = b"".join(self._pieces)
        try:
            if self._count:
                end = _decode_last(b'{"descendants":[' + rest)
                documents, total = end.descendants, end.total
            else:
                answer = _decode_first(rest)
                documents, total = [answer.root, *answer.descendants], answer.total
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadAnswer(f"it is cut off or no JSON: {error}") from error
        self._count += len(documents)
        if total != self._count:
            raise BadAnswer(f"it says {total:,} documents and holds {self._count:,}")
        return documents

    def _whole(self, piece: bytes) -> Sequence[Document]:
        """The documents of a piece; none where it is not whole."""
        try:
            if self._count:
                return _decode_more(b"[" + piece + b"]")
            first = _decode_first(piece + b'],"total":0}')
        except (msgspec.DecodeError, RecursionError):
            return ()
        return [first.root, *first.descendants]


def _last_cut(data: bytes) -> int:
    """Where the last document may begin, at the comma before it; -1 where none may."""
    cut = data.rfind(_BEGIN)
    while cut >= 0 and not _NEXT.match(data, cut):
        cut = data.rfind(_BEGIN, 0, cut)
    return cut
