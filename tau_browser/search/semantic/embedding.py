"""Which contents of an index have vectors, and giving vectors to those that have none.

Beside the vectors lie the numbers of their contents, a row each, and a small file that says how
many rows count. That file is replaced last, at once, so a writer that is killed loses no row that
counted. Contents are numbered in the order in which they are indexed: what is not embedded yet
has the higher numbers, and embedding goes on there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from tau_browser.search.documents import pieces
from tau_browser.search.semantic.table import TABLE_SHA256, static_table
from tau_browser.search.semantic.vectors import Vectors, VectorsDamaged, VectorWriter

_STATE = "embedded.json"
_CONTENTS = "contents.i64"
_BATCH = 512
# What comes later in a long output is found by its words, not by its meaning.
_MOST_PIECES = 32


class Embedded(msgspec.Struct, frozen=True):
    """How far embedding has come. `index`: which index the numbers are of; `next`: the first
    content that has not been looked at; `rows`: vectors that count; `contents`: with a vector."""

    index: int
    table: str = TABLE_SHA256
    next: int = 0
    rows: int = 0
    contents: int = 0


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of an index, for reading."""

    state: Embedded
    vectors: Vectors
    contents: npt.NDArray[np.int64]  # the content of each row

    def nearest(
        self, text: str, count: int, allowed: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Up to `count` contents and their cosines to a text, the nearest first, each by its
        nearest piece. `allowed`: only these contents."""
        vector = static_table().encode([text])[0]
        if not len(self.vectors) or not vector.any():
            return []
        mask = None if allowed is None else np.isin(self.contents, np.asarray(allowed, np.int64))
        rows, cosines = self.vectors.nearest(vector, 4 * count, mask)
        best: dict[int, float] = {}
        for content, cosine in zip(self.contents[rows].tolist(), cosines.tolist(), strict=True):
            best.setdefault(content, cosine)
        return list(best.items())[:count]


def read_embeddings(folder: Path, index: int) -> Embeddings | None:
    """The vectors of an index; None if there are none of it, or none that can be trusted."""
    state = _read_state(folder)
    if state is None or state.index != index or state.table != TABLE_SHA256:
        return None
    try:
        contents = np.fromfile(folder / _CONTENTS, np.int64, state.rows)
        vectors = Vectors(folder, state.rows)
    except (OSError, VectorsDamaged):
        return None
    return Embeddings(state, vectors, contents) if len(contents) == state.rows else None


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
    known = read_embeddings(folder, index)
    state = known.state if known else Embedded(index)
    left = [content for content in contents if content >= state.next]
    with VectorWriter(folder, state.rows if known else 0) as writer:
        for at in range(0, len(left), _BATCH):
            if cancelled():
                return
            state = _embed_batch(folder, writer, state, left[at : at + _BATCH], text_of)
            yield state


def _embed_batch(
    folder: Path,
    writer: VectorWriter,
    state: Embedded,
    batch: Sequence[int],
    text_of: Callable[[int], str],
) -> Embedded:
    texts, owners = [], []
    for content in batch:
        text = text_of(content)
        for start, stop in pieces(text)[:_MOST_PIECES]:
            texts.append(text[start:stop])
            owners.append(content)
    vectors = static_table().encode(texts)
    some = vectors.any(axis=1)
    writer.append(vectors[some])
    _write_owners(folder, state.rows, np.array(owners, np.int64)[some])
    writer.flush()
    after = Embedded(
        state.index,
        next=batch[-1] + 1,
        rows=len(writer),
        contents=state.contents + len(set(np.array(owners)[some].tolist())),
    )
    _write_state(folder, after)
    return after


def _write_owners(folder: Path, rows: int, owners: npt.NDArray[np.int64]) -> None:
    handle = os.open(folder / _CONTENTS, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.seek(rows * owners.itemsize)
        file.write(owners.tobytes())
        file.flush()
        os.fsync(file.fileno())


def _read_state(folder: Path) -> Embedded | None:
    try:
        return msgspec.json.decode((folder / _STATE).read_bytes(), type=Embedded)
    except (OSError, msgspec.DecodeError):
        return None


def _write_state(folder: Path, state: Embedded) -> None:
    handle, temporary = tempfile.mkstemp(dir=folder)  # made 0600
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.encode(state))
    os.replace(temporary, folder / _STATE)
