"""From the bytes of a subtree's answer to its documents, as they arrive.

A conversation is a chain, and every document in it repeats the whole chain above it: of a long
one, nearly all of the answer is that. So the answer is never held as a whole. It is cut where a
document may end, and a cut counts only if the piece before it is one whole document: text cannot
forge that, for within a document a piece would lack its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tau_browser.stores.jmfts.documents import Document, Subtree

_HEAD = b'{"root":'
_BETWEEN = b',"descendants":['
_NEXT = re.compile(rb',\{"id":\d+,"parent_id":')
_LONGEST_NEXT = 64  # bytes of what the expression finds, and some more
_decode = msgspec.json.Decoder(Document).decode
_decode_list = msgspec.json.Decoder(list[Document]).decode
_decode_all = msgspec.json.Decoder(Subtree).decode


class BadAnswer(Exception):
    """The answer is not what a JMFTS sends. The message says in what way."""


class Splitter:
    """Takes an answer in pieces of any size and gives its documents in the order of arrival."""

    def __init__(self) -> None:
        self._rest = b""
        self._looked = 0  # bytes of the rest in which no cut was found
        self._in_list = False
        self._count = 0

    def feed(self, data: bytes) -> Iterator[Document]:
        """The documents that these bytes complete."""
        self._rest += data
        start = 0
        if not self._in_list:
            if (head := self._root()) is None:
                return
            root, start = head
            self._in_list, self._looked = True, start
            yield self._counted(root)
        for found in _NEXT.finditer(self._rest, self._looked):
            cut = found.start()
            if (document := _whole(self._rest[start:cut])) is not None:
                start = cut + 1
                yield self._counted(document)
        self._rest = self._rest[start:]
        self._looked = max(0, len(self._rest) - _LONGEST_NEXT)

    def finish(self) -> Iterator[Document]:
        """The last documents. Raises BadAnswer where the answer does not end as it should."""
        if not self._in_list:  # spelled otherwise than by the servers we know
            try:
                answer = _decode_all(self._rest)
            except (msgspec.DecodeError, RecursionError) as error:
                raise BadAnswer(f"it is cut off or no JSON: {error}") from error
            for document in (answer.root, *answer.descendants):
                yield self._counted(document)
            total = answer.total
        else:
            last, found, tail = self._rest.rpartition(b'],"total":')
            try:
                for document in _decode_list(b"[" + last + b"]"):
                    yield self._counted(document)
            except (msgspec.DecodeError, RecursionError) as error:
                raise BadAnswer("it is cut off") from error
            try:
                total = int(tail.rstrip(b"}\r\n "))
            except ValueError:
                found = b""
            if not found:
                raise BadAnswer("it is cut off")
        if total != self._count:
            raise BadAnswer(f"it says {total:,} documents and holds {self._count:,}")

    def _root(self) -> tuple[Document, int] | None:
        """The first document, and where the list of the others begins, once both are there."""
        if not self._rest.startswith(_HEAD):
            return None
        cut = self._rest.find(_BETWEEN, len(_HEAD))
        while cut >= 0:
            if (document := _whole(self._rest[len(_HEAD) : cut])) is not None:
                return document, cut + len(_BETWEEN)
            cut = self._rest.find(_BETWEEN, cut + 1)
        return None

    def _counted(self, document: Document) -> Document:
        self._count += 1
        return document


def _whole(piece: bytes) -> Document | None:
    try:
        return _decode(piece)
    except (msgspec.DecodeError, RecursionError):
        return None
