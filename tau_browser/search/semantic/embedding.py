"""Which contents of an index have vectors, and giving vectors to those that have none.

Beside the vectors lies a small file that says how many of their rows count. It is replaced last,
at once, so a writer that is killed loses no row that counted. Contents are numbered in the order
in which they are indexed: what is not embedded yet has the higher numbers, and embedding goes on
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np

from tau_browser.search.documents import pieces
from tau_browser.search.index.folder import replace_file
from tau_browser.search.semantic.table import TABLE_SHA256, static_table
from tau_browser.search.semantic.vectors import (
    Vectors,
    VectorsDamaged,
    VectorWriter,
    identities,
)

_STATE = "embedded.json"
_BATCH = 512
# What comes later in a long output is found by its words, not by its meaning.
_MOST_PIECES = 32


class Embedded(msgspec.Struct, frozen=True):
    """How far embedding has come. `index`: which index the numbers are of · `next`: the first
    content that has not been looked at · `rows`: vectors that count · `contents`: how many
    contents they are of."""

    index: int
    table: str = TABLE_SHA256
    next: int = 0
    rows: int = 0
    contents: int = 0


def embedded(folder: Path, index: int) -> Embedded:
    """How far the embedding of an index has come; nowhere, where what is there is of another
    index or of another table."""
    try:
        state = msgspec.json.decode((folder / _STATE).read_bytes(), type=Embedded)
    except (OSError, msgspec.DecodeError):
        return Embedded(index)
    return state if (state.index, state.table) == (index, TABLE_SHA256) else Embedded(index)


def vectors_of(folder: Path, index: int) -> Vectors | None:
    """The vectors of an index; None if there are none, or none that can be read. They stay open
    while their files are the same: to map a million rows anew takes longer than to search them."""
    state = embedded(folder, index)
    try:
        return _opened(folder, state.rows, identities(folder)) if state.rows else None
    except (OSError, VectorsDamaged):
        return None


@lru_cache(maxsize=1)
def _opened(folder: Path, rows: int, _identities: tuple[tuple[int, int], ...]) -> Vectors:
    return Vectors(folder, rows, static_table().spread)


def embed(
    folder: Path,
    index: int,
    contents: Sequence[int],
    text_of: Callable[[int], str],
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Embedded]:
    """Give vectors to contents, in ascending order of their numbers; yields how far it has come.

    May be stopped between any two steps, and goes on from there. One writer at a time: the caller
    holds the lock of the index. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    state = embedded(folder, index)
    if state.rows and vectors_of(folder, index) is None:  # damaged: made anew
        state = Embedded(index)
    left = [content for content in contents if content >= state.next]
    with VectorWriter(folder, state.rows, static_table().spread) as writer:
        for at in range(0, len(left), _BATCH):
            if cancelled():
                return
            state = _embed(writer, state, left[at : at + _BATCH], text_of)
            replace_file(folder / _STATE, msgspec.json.encode(state).decode())
            yield state


def _embed(
    writer: VectorWriter, state: Embedded, batch: Sequence[int], text_of: Callable[[int], str]
) -> Embedded:
    texts, owners = [], []
    for content in batch:
        text = text_of(content)
        for start, stop in pieces(text)[:_MOST_PIECES]:
            texts.append(text[start:stop])
            owners.append(content)
    vectors = static_table().encode(texts)
    has_words = vectors.any(axis=1)
    keys = np.array(owners, np.int64)[has_words]
    writer.append(keys, vectors[has_words])
    writer.flush()
    return Embedded(
        state.index,
        next=batch[-1] + 1,
        rows=len(writer),
        contents=state.contents + len(np.unique(keys)),
    )
