"""Tokens and money: of one entry, of its turn, of everything below it (tau-format 1.5).

Nothing is counted twice. The two lines of an assistant message are one entry; an entry that a
branch or a paste copied was paid for where it was copied from. What a compaction's summary cost
belongs to the compaction. What has no price stays unknown: it is never taken for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tau_browser.model.columns import Bools, Flag, Int32s, Int64s, Places
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE

Prices = Mapping[str, Mapping[str, float]]
"""USD per million tokens by configuration name, then by bucket (one of `BUCKETS`)."""

BUCKETS = ("input", "output", "cache_read", "cache_write")
"""The kinds of tokens, which do not overlap, in the order of a session's usage table."""

_CHARACTERS_PER_TOKEN = 4
_MILLION = 1_000_000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Numbers of tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """All tokens together."""
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Spend:
    """What some entries used.

    priced: USD of the entries whose model has a price · entries: how many stored their usage ·
    unpriced: how many of those have no price · copies: copied entries, which are not counted.
    """

    tokens: Tokens
    priced: float
    entries: int
    unpriced: int
    copies: int

    @property
    def cost(self) -> float | None:
        """USD of all of it, or None where a part has no price."""
        return None if self.unpriced else self.priced


class Ledger:
    """The usage of a session's entries, summed up once, on first use."""

    def __init__(self, session: Session, prices: Prices) -> None:
        self._session = session
        self._prices = prices

    def entry(self, place: int) -> Spend:
        """What one entry stored about its own usage, even if it is a copy."""
        books = self._books
        return books.total(np.flatnonzero(books.place == place))

    def turn(self, place: int) -> Spend | None:
        """What the turn of an entry used, on the entry's own branch; None if it is in no turn."""
        outline, tree, books = self._session.outline, self._session.tree, self._books
        turn = int(outline.turn[place])
        if turn == NOWHERE:
            return None
        start = int(tree.position[turn])
        rows = np.arange(*books.rows(start, start + int(outline.size[outline.line[turn]])))
        rows = rows[outline.turn[books.place[rows]] == turn]
        copied = books.copied[rows]
        return books.total(rows[~copied], int(copied.sum()))

    def subtree(self, place: int) -> Spend:
        """What an entry and everything below it used, on all branches."""
        tree = self._session.tree
        start = int(tree.position[place])
        return self._books.between(start, start + int(tree.size[place]))

    @cached_property
    def _books(self) -> _Books:
        session = self._session
        columns = session.columns
        stored = np.flatnonzero(columns.usage >= 0)
        anchors, summaries = _summary_usage(session)
        place = np.concatenate([stored, anchors]).astype(np.int32)
        tokens = np.concatenate([session.usage[columns.usage[stored]], summaries])
        used = tokens.any(axis=1)  # a usage of zeros says nothing
        place, tokens = place[used], tokens[used]
        in_order = np.argsort(session.tree.position[place], kind="stable")
        place, tokens = place[in_order], tokens[in_order]
        return _Books(
            position=session.tree.position[place],
            place=place,
            tokens=tokens,
            cost=_costs(tokens, config_models(session), place, self._prices),
            copied=(columns.flags[place] & Flag.COPIED) != 0,
        )


@dataclass(frozen=True)
class _Books:
    """One row per entry that stored its usage, in the tree's preorder. cost: USD, NaN: unknown."""

    position: Int32s
    place: Int32s
    tokens: Int64s
    cost: Floats
    copied: Bools

    def rows(self, start: int, stop: int) -> tuple[int, int]:
        """The rows of a range of positions."""
        first, end = np.searchsorted(self.position, [start, stop]).tolist()
        return first, end

    def total(self, rows: Places, copies: int = 0) -> Spend:
        """The sum of these rows."""
        counts = [*self.tokens[rows].sum(axis=0).tolist(), len(rows)]
        cost = self.cost[rows]
        return _spend(counts, float(np.nansum(cost)), int(np.isnan(cost).sum()), copies)

    def between(self, start: int, stop: int) -> Spend:
        """The sum of a range of positions, without copies."""
        first, end = self.rows(start, stop)
        counts, cost = self._sums
        *used, unpriced, copies = (counts[end] - counts[first]).tolist()
        return _spend(used, float(cost[end] - cost[first]), unpriced, copies)

    @cached_property
    def _sums(self) -> tuple[Int64s, Floats]:
        """Running sums: (4 buckets, entries, unpriced, copies) and USD."""
        counted = ~self.copied
        unpriced = np.isnan(self.cost)
        columns = [*self.tokens.T * counted, counted, counted & unpriced, self.copied]
        counts = np.zeros((len(self.place) + 1, len(columns)), np.int64)
        np.cumsum(np.array(columns, np.int64).T, axis=0, out=counts[1:])
        cost = np.zeros(len(self.place) + 1)
        np.cumsum(np.where(counted & ~unpriced, self.cost, 0), out=cost[1:])
        return counts, cost


def config_models(session: Session) -> tuple[Int32s, list[str]]:
    """The configuration's model in force at each entry, as an index into the names, or -1.

    What `config_at` tells for one entry, for all at once: a run of the tree takes over what held
    at the end of the run above it.
    """
    runs = session.tree.runs
    setters, values, names = _set_models(session)
    code = np.full(len(session), NOWHERE, np.int32)
    code[setters] = values
    latest = np.full(len(session), NOWHERE, np.int32)  # the last setter, in file order
    latest[setters] = setters
    latest = np.maximum.accumulate(latest)
    own = latest >= np.repeat(runs.start, runs.size)

    last = (runs.start + runs.size - 1).tolist()
    at_end = np.where(own[last], code[latest[last]], NOWHERE).tolist()
    settled = own[last].tolist()
    inherited = [NOWHERE] * len(last)
    for run in runs.order:
        if (over := runs.parent[run]) != NOWHERE:
            inherited[run] = at_end[over]
        if not settled[run]:
            at_end[run] = inherited[run]
    return np.where(own, code[latest], runs.spread(inherited)), names


def estimate_tokens(characters: int) -> int:
    """About how many tokens a text of this length is, for want of a stored number."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _set_models(session: Session) -> tuple[list[int], list[int], list[str]]:
    """The entries that set the configuration's model, what each sets it to, and the names."""
    columns = session.columns
    sets = (columns.flags & Flag.CONFIG) != 0
    sets |= session.kinds.where(columns.kind, "model_change")
    names: dict[str, int] = {}
    places, values = [], []
    for place in np.flatnonzero(sets).tolist():
        settings = _settings(session.record(place))
        if "model" in settings:
            name = settings["model"]
            places.append(place)
            values.append(names.setdefault(name, len(names)) if isinstance(name, str) else NOWHERE)
    return places, values, list(names)


def _settings(record: Record) -> Record:
    """Where an entry may name a configuration. An agent_spec's model is the wire model, not one."""
    if record.get("type") == "model_change":
        return record
    data = record.get("data")
    return data if record.get("customType") == "config" and isinstance(data, dict) else {}


def _summary_usage(session: Session) -> tuple[Int32s, Int64s]:
    """The compactions that say what their summary cost, and how many tokens of each bucket."""
    places, rows = [], []
    for place in session.places_of_kind("compaction"):
        usage = session.record(place).get("summaryUsage")
        if isinstance(usage, dict):
            places.append(place)
            rows.append([_count(usage.get(f"{bucket}_tokens")) for bucket in BUCKETS])
    return np.array(places, np.int32), np.array(rows, np.int64).reshape(-1, len(BUCKETS))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and abs(value) < 2**62 else 0


def _costs(
    tokens: Int64s, models: tuple[Int32s, list[str]], place: Int32s, prices: Prices
) -> Floats:
    """USD of each row; NaN where tokens of a bucket were used that has no price."""
    codes, names = models
    table = np.full((len(names) + 1, len(BUCKETS)), np.nan)  # the last row: no model is set
    for row, name in enumerate(names):
        price = prices.get(name, {})
        table[row] = [price.get(bucket, np.nan) for bucket in BUCKETS]
    costs: Floats = np.where(tokens != 0, tokens * table[codes[place]], 0).sum(axis=1)
    return costs / _MILLION


def _spend(counts: list[int], priced: float, unpriced: int, copies: int) -> Spend:
    """The first four counts are tokens, the fifth the entries."""
    *tokens, entries = counts
    return Spend(Tokens(*tokens), priced, entries, unpriced, copies)
