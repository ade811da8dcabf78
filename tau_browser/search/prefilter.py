"""Which records may hold a text, judged by their bytes alone: decoding each costs far more.

Sound, never exact: a record whose text holds the needle is always kept, others may be. The proof,
which a change to `model.payload.text_of` may break (a property test watches):

- The text of an entry is made of stored strings and of words that `text_of` adds, parted by one of
  `JOINTS`. A **word** is a stretch of the needle without joints; so it lies inside one stored
  string or inside one added word. Needles that could lie in an added word have no filter; kinds
  of entries that add sentences are always kept.
- A stored string stands in the record as it is, but for escapes. A word holds none of the
  characters that must be escaped, so it stands there in one piece, unless an escape or a
  non-ASCII byte spells one of its characters in another way. Records with such are always kept.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tau_browser.model.columns import Bools, Flag
from tau_browser.model.session import Session
from tau_browser.search.folding import Fold, fold_case

JOINTS = r"\x00-\x20\x7f-\U0010ffff" + re.escape("\"'\\/.,:;()[]{}")
WORD = re.compile(f"[^{JOINTS}]+")
_SHORTEST = 3
# How `text_of` spells constants and numbers, which a record may spell in another way.
_ADDED = ("true", "false", "none", "null", "infinity", "nan")
_NUMBER = re.compile(r"[0-9e+-]+", re.IGNORECASE)
_ADDED_SIGN = "≈"
_SENTENCES = ("elide", "navigate", "model_change", "thinking_change")

# Escapes of characters that fold to printable ASCII, by block; the test goes through all of
# Unicode. Kept coarse: a block costs the decoding of a few records too many.
ASCII_ESCAPE = re.compile(
    rb"\\u(?:00[2-7ab]|00df|01[3-9acf]|02[be]|0307|1d[2-9ab]|1e9|1fe|20[3-9a]|21[0-8]|24|2a7|2c7"
    rb"|32[5bc]|33|a7f|fb[0-2]|fe[1-6]|ff[0-5]|d801|d833\\udc[def]|d835|d83c\\udd|d83e\\udf)",
    re.IGNORECASE,
)
LONGEST_ESCAPE = 12
"""Bytes of two escapes, which spell one character together."""

# The same characters as they are, with 0307, which an I may carry (Turkish).
ASCII_SPELLINGS = (
    r"[\x{aa}-\x{be}\x{df}\x{130}-\x{149}\x{17f}\x{1c4}-\x{1cc}\x{1f1}-\x{1f3}\x{2b0}-\x{2b8}"
    r"\x{2e1}-\x{2e3}\x{307}\x{1d2c}-\x{1d65}\x{1d9c}-\x{1da0}\x{1dbb}\x{1e9a}-\x{1e9e}\x{1fef}"
    r"\x{203c}-\x{2049}\x{2070}-\x{20a8}\x{2100}-\x{2189}\x{2460}-\x{24ea}\x{2a74}-\x{2a76}"
    r"\x{2c7c}-\x{2c7d}\x{3250}-\x{325f}\x{32b1}-\x{32cf}\x{3358}-\x{33ff}\x{a7f2}-\x{a7f4}"
    r"\x{fb00}-\x{fb06}\x{fb29}\x{fe15}-\x{fe16}\x{fe33}-\x{fe34}\x{fe4d}-\x{fe6b}"
    r"\x{ff01}-\x{ff5e}\x{107a5}\x{1d400}-\x{1d6a3}\x{1d7ce}-\x{1d7ff}\x{1df95}"
    r"\x{1f100}-\x{1f14f}\x{1f16a}-\x{1f16c}\x{1f190}\x{1fbf0}-\x{1fbf9}]"
)
_ANY_ESCAPE = re.compile(rb"\\u")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Keeps the records that hold `word`, or that may spell it otherwise."""

    word: bytes | None  # None: what is sought is not ASCII, so only other spellings can hold it
    fold: Fold

    def keep(self, data: bytes, starts: list[int], stops: list[int]) -> Bools:
        """Which of the records at these ranges of some bytes, in order, may hold what is sought."""
        kept = np.zeros(len(starts), np.bool_)
        if self.word is None:
            _mark(kept, data, starts, stops, _ANY_ESCAPE.search)
        else:
            word = self.word
            folded = data.lower() if self.fold is fold_case else data
            _mark_at(kept, starts, stops, lambda at: folded.find(word, at))
            _mark(kept, data, starts, stops, ASCII_ESCAPE.search)
        if not data.isascii():
            _mark(kept, data, starts, stops, _NOT_ASCII.search)
        return kept


def is_plain(data: bytes) -> bool:
    """Whether some bytes spell all of their ASCII as it is: then a word is found by its bytes."""
    return data.isascii() and ASCII_ESCAPE.search(data) is None


def prefilter_of(needle: str, fold: Fold) -> Prefilter | None:
    """The filter for a folded needle, or None where the bytes of a record tell nothing."""
    if not needle.isascii():
        return None if _ADDED_SIGN in needle else Prefilter(None, fold)
    usable = [word for word in WORD.findall(needle) if is_usable(word)]
    return Prefilter(max(usable, key=len).encode(), fold) if usable else None


def adds_sentences(session: Session) -> Bools:
    """Which entries, by place, have a text that says more than what is stored in them."""
    columns = session.columns
    sets_config: Bools = (columns.flags & Flag.CONFIG) != 0
    return session.kinds.where(columns.kind, *_SENTENCES) | sets_config


def is_usable(word: str) -> bool:
    """Whether a word is long enough, and can lie in nothing that `text_of` adds."""
    if len(word) < _SHORTEST or _NUMBER.fullmatch(word):
        return False
    return not any(word.lower() in added for added in _ADDED)


def _mark(
    kept: Bools,
    data: bytes,
    starts: list[int],
    stops: list[int],
    search: Callable[[bytes, int], re.Match[bytes] | None],
) -> None:
    def find(at: int) -> int:
        found = search(data, at)
        return found.start() if found else -1

    _mark_at(kept, starts, stops, find)


def _mark_at(kept: Bools, starts: list[int], stops: list[int], find: Callable[[int], int]) -> None:
    """Mark the records in which something is found, searching each to its first find only."""
    at = find(0)
    while at >= 0:
        record = bisect_right(starts, at) - 1
        kept[record] = True
        at = find(max(at + 1, stops[record]))
