"""The signals of all entries of a session, and what a threshold leaves of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tau_browser.model.columns import Bools, Places
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import event_of
from tau_browser.model.session import Session, records_at
from tau_browser.model.signal import hundredths, signal_of

_SLICE = 2000  # entries


@dataclass(frozen=True, slots=True)
class Signals:
    """values: by place, in hundredths, NaN for the groups of a hierarchy, which are shown for what
    they hold · derived: which of the others no store keeps."""

    values: npt.NDArray[np.float32]
    derived: Bools

    def above(self, threshold: int) -> Places:
        """The places that are worth this many hundredths at least."""
        return np.flatnonzero(self.values >= threshold)

    @property
    def is_derived(self) -> bool:
        """Whether no store keeps any of them."""
        return bool(self.derived[~np.isnan(self.values)].all())


def read_signals(session: Session) -> Iterator[tuple[int, Signals | None]]:
    """The signals of a session: how many entries were looked at, again and again; the last time
    with all of them."""
    places = np.arange(len(session), dtype=np.int32)
    has_children = np.isin(places, session.tree.parent)
    values = np.full(len(places), np.nan, np.float32)
    derived = np.zeros(len(places), np.bool_)
    for first in range(0, len(places), _SLICE):
        some = places[first : first + _SLICE]
        raws = records_at(session.source, session.columns, some)
        for place, raw in zip(some.tolist(), raws, strict=True):
            record = session.format.record(decode_record(raw))
            if not (session.is_nested and has_children[place]) or event_of(record):
                signal = signal_of(record)
                values[place] = hundredths(signal.value)
                derived[place] = signal.stored is None
        yield min(first + _SLICE, len(places)), None
    yield len(places), Signals(values, derived)
