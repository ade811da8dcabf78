"""Objects that `agmem gc --repack` put into packs, which agmem itself can no longer read.

A pack is "PACK", version and count, then items: a type byte, the size of what follows, for a
delta the first half of its base's id, and zlib data; the sha256 of all that at the end. An index
is "agidx", version and count, then a record per object: id, type, offset, and in the files that
agmem writes 32 bytes more; its sha256 at the end. Numbers are 32 bits, the largest byte first.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, replace

from tau_browser.stores.files import FileSource, words_of
from tau_browser.stores.store import StoreError

KINDS = ("blob", "tree", "commit", "tag")
LARGEST = 256 * 1024 * 1024
"""Bytes of an object, unpacked, beyond which it is not read: a small file can hold any number."""

_DELTA = 5
_HEAD, _SUM = 12, 32  # bytes before and after the items of a pack
_INDEX_HEAD = 13
_RECORDS = (37, 69)
_DEEPEST = 50  # deltas upon deltas


class Damaged(StoreError):
    """An object that is not what it should be. The message says how, without naming it."""


@dataclass(frozen=True, slots=True)
class _Item:
    """Where an object lies in its pack: `start` and `stop` of its zlib data; the beginning of its
    base's id, if it is a delta."""

    kind: str
    start: int
    stop: int
    base: str


class Pack:
    """One pack. Raises StoreError if it cannot be read at all; `notes`: what was odd about it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.notes: list[str] = []
        try:
            self._source = FileSource(path)
            size = self._source.status().st_size
        except OSError as error:
            raise StoreError(f"{path}: {words_of(error)}") from error
        if self._source.read(0, 4) != b"PACK":
            raise StoreError(f"{path}: not a pack")
        self._end = size - _SUM
        self.items = self._indexed() or self._scanned()

    def read(self, object_id: str) -> bytes:
        """An object with its header. Raises KeyError, Damaged."""
        return self._whole(self.items[object_id])

    def _whole(self, item: _Item) -> bytes:
        chain = [item]
        while chain[-1].base:
            if len(chain) > _DEEPEST:
                raise Damaged("made of too many deltas")
            chain.append(self._base_of(chain[-1]))
        whole = self._unpacked(chain.pop())
        while chain:
            whole = apply_delta(whole, self._unpacked(chain.pop()))
        return whole

    def _base_of(self, item: _Item) -> _Item:
        found = next((it for id, it in self.items.items() if id.startswith(item.base)), None)
        if found is None:
            raise Damaged(f"a delta upon {item.base[:8]}, which is not in its pack")
        return found

    def _unpacked(self, item: _Item) -> bytes:
        return unpacked(self._source.read(item.start, item.stop))

    def _indexed(self) -> dict[str, _Item]:
        """The items as the index beside the pack tells; {} where it does not hold."""
        path = self.path.removesuffix(".pack") + ".idx"
        try:
            index = FileSource(path)
            data = index.read(0, index.status().st_size)
        except (OSError, StoreError):
            self.notes.append("its index cannot be read: found by going through the pack")
            return {}
        count = int.from_bytes(data[9:_INDEX_HEAD])
        room = len(data) - _INDEX_HEAD - _SUM
        width = room // count if count else 0
        if not data.startswith(b"agidx") or width not in _RECORDS or width * count != room:
            self.notes.append("its index is damaged: found by going through the pack")
            return {}
        if width != _RECORDS[0]:
            self.notes.append("agmem cannot read its index: records of 69 bytes, not of 37")
        if hashlib.sha256(data[:-_SUM]).digest() != data[-_SUM:]:
            self.notes.append("the checksum of its index is wrong")
        items = {}
        for at in range(_INDEX_HEAD, len(data) - _SUM, width):
            item = self._item_at(int.from_bytes(data[at + 33 : at + 37]))
            if item is None:
                self.notes.append("its index points outside the pack: found by going through it")
                return {}
            kind = data[at + 32]
            name = KINDS[kind - 1] if 0 < kind <= len(KINDS) else item.kind
            items[data[at : at + 32].hex()] = _Item(name, item.start, item.stop, item.base)
        return items

    def _scanned(self) -> dict[str, _Item]:
        """The items in the order of the pack, their ids worked out from what they hold. A base may
        come after its deltas."""
        self.items = found = dict[str, _Item]()
        due, at = list[_Item](), _HEAD
        while item := self._item_at(at):
            due.append(item)
            at = item.stop
        while due:
            left = []
            for item in due:
                try:
                    whole = self._whole(item)
                except Damaged as error:
                    left.append((item, error))
                    continue
                kind = whole.partition(b" ")[0].decode("ascii", "replace")
                found[hashlib.sha256(whole).hexdigest()] = replace(item, kind=kind)
            if len(left) == len(due):
                self.notes += [
                    f"an object at byte {item.start:,} is lost: {error}" for item, error in left
                ]
                break
            due = [item for item, _ in left]
        return found

    def _item_at(self, at: int) -> _Item | None:
        head = self._source.read(at, at + 21)
        if len(head) < 5 or not _HEAD <= at < self._end:
            return None
        is_delta = head[0] == _DELTA
        start = at + (21 if is_delta else 5)
        stop = start + int.from_bytes(head[1:5])
        if stop > self._end or not (is_delta or 0 < head[0] <= len(KINDS)):
            return None
        kind = "" if is_delta else KINDS[head[0] - 1]
        return _Item(kind, start, stop, head[5:21].hex() if is_delta else "")


def unpacked(data: bytes) -> bytes:
    """What zlib data holds. Raises Damaged."""
    unpack = zlib.decompressobj()
    try:
        whole = unpack.decompress(data, LARGEST)
    except zlib.error as error:
        raise Damaged(f"not zlib data ({error})") from error
    if not unpack.eof:
        too_large = bool(unpack.unconsumed_tail)
        raise Damaged("larger than 256 MB, unpacked" if too_large else "cut short")
    return whole


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """What a delta makes of its base: copies (0, offset, length) and insertions (1, length, bytes)
    up to an end mark (2). Raises Damaged."""
    pieces, at, size = [], 0, 0
    while at < len(delta) and delta[at] != 2:
        operation, at = delta[at], at + 1
        if operation == 0:
            offset, length = (int.from_bytes(delta[at + k : at + k + 4]) for k in (0, 4))
            piece, at = base[offset : offset + length], at + 8
        elif operation == 1:
            length, at = int.from_bytes(delta[at : at + 4]), at + 4
            piece, at = delta[at : at + length], at + length
        else:
            raise Damaged("a delta that is none")
        size += len(piece)
        if len(piece) != length or size > LARGEST:
            raise Damaged("a delta that does not fit its base")
        pieces.append(piece)
    return b"".join(pieces)
