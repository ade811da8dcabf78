"""From what was found to hits: entries read where they stand, with what matched marked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from tau_browser.model.label import speaker_of
from tau_browser.model.payload import Record, text_of
from tau_browser.model.summary import stamp_text
from tau_browser.model.tools import tools_of
from tau_browser.search.documents import content_of
from tau_browser.search.filtering import ReadSessions
from tau_browser.search.find import QueryError, Snippet
from tau_browser.search.fusion import Fused
from tau_browser.search.highlight import Mark, spans_of
from tau_browser.search.index.reader import Reader, Standing
from tau_browser.search.index.recent import Recent
from tau_browser.search.logs import FILES, Logs
from tau_browser.search.results import Hit, Place
from tau_browser.search.scan import Hit as Scanned
from tau_browser.search.snippets import snippet_of
from tau_browser.search.texts import Texts
from tau_browser.stores.store import StoreError


class Entries:
    """What keys stand for: contents of the index from 0, entries in memory below."""

    def __init__(self, reader: Reader, recent: Recent | None, logs: Logs = FILES) -> None:
        self.reader = reader
        self.recent = recent
        self._texts = Texts(reader, logs)

    def text(self, key: int) -> str:
        """What an entry says, wherever it still stands; "" if nowhere."""
        return self._texts.text(key) if key >= 0 else self._in_memory.text(key)

    def record(self, key: int, standing: Standing) -> Record:
        """The record of an entry where it stands; {} if something else is there by now."""
        if key >= 0:
            return self._texts.record(key, standing)
        return self._in_memory.record(key)

    def standings(
        self, keys: Sequence[int], groups: Collection[int] | None = None
    ) -> dict[int, list[Standing]]:
        """Where entries stand, in these groups or in any. Those in memory were asked already."""
        found = self.reader.standings([key for key in keys if key >= 0], groups)
        return found | {key: [self._in_memory.standing(key)] for key in keys if key < 0}

    def holds(self, hit: Scanned) -> bool:
        """Whether an entry can be found without a scan."""
        in_memory = self.recent is not None and (hit.path, hit.start) in self.recent
        return in_memory or self.reader.stands(content_of(hit.record))

    def close(self) -> None:
        """Let go of the files."""
        self._texts.close()
        self.reader.close()

    @property
    def _in_memory(self) -> Recent:
        assert self.recent is not None, "keys below zero are those of entries in memory"
        return self.recent


class HitMaker:
    """Makes the hits of one answer.

    entries: None where there is no index · marks: where the terms stand in a text · unmarked: the
    snippet of a text in which none does
    """

    def __init__(
        self,
        store: str,
        logs: Logs,
        entries: Entries | None,
        marks: Callable[[str], list[Mark]],
        unmarked: Callable[[str], Snippet],
    ) -> None:
        self._store = store
        self._logs = logs
        self._entries = entries
        self._marks_of = marks
        self._unmarked = unmarked

    def ranked(self, fused: Sequence[Fused[int]], groups: Collection[int] | None) -> list[Hit]:
        """Hits of what was ranked. `groups`: where they must stand, or None for anywhere."""
        if self._entries is None or not fused:
            return []
        keys = [each.key for each in fused]
        everywhere = self._entries.standings(keys)
        inside = everywhere if groups is None else self._entries.standings(keys, groups)
        hits: list[Hit] = []
        for each in fused:
            if standings := inside.get(each.key):
                others = [one for one in everywhere[each.key] if one != standings[0]]
                record = self._entries.record(each.key, standings[0])
                hits.append(self._hit(record, standings[0], others, each))
        return hits

    def scanned(self, places: Iterable[Place]) -> list[Hit]:
        """Hits of what a scan found; not those that have gone since."""
        sessions = ReadSessions(self._logs)
        hits = []
        for place in places:
            if record := self._record_at(place):
                standing, others = self._standings_at(place, record)
                if standing is None:
                    found = Scanned(place.path, place.start, place.stop, record)
                    standing = sessions.standing(found)
                hits.append(self._hit(record, standing, others))
        return hits

    def _record_at(self, place: Place) -> Record:
        """The record at a place; {} if there is none any more."""
        try:
            log = self._logs.of(place.path)
            return log.record(log.source().read(place.start, place.stop))
        except (OSError, StoreError):
            return {}

    def _standings_at(self, place: Place, record: Record) -> tuple[Standing | None, list[Standing]]:
        """What the index knows of the entry at a place, and of its copies."""
        if self._entries is None:
            return None, []
        number = self._entries.reader.number_of(content_of(record))
        known = [] if number is None else self._entries.standings([number]).get(number, [])
        here = [each for each in known if (each.path, each.start) == (place.path, place.start)]
        return (here[0] if here else None), [each for each in known if each not in here]

    def _hit(
        self,
        record: Record,
        standing: Standing,
        others: list[Standing],
        fused: Fused[int] | None = None,
    ) -> Hit:
        text = text_of(record)
        marks = self._marks(text)
        return Hit(
            store=self._store,
            standing=standing,
            entry=str(record.get("id") or ""),
            speaker=speaker_of(record),
            time=stamp_text(record.get("timestamp")),
            rank=0,
            parts=fused.parts if fused else (),
            spans=spans_of(marks),
            terms=list(dict.fromkeys(mark.term.text for mark in marks)),
            snippet=snippet_of(text, marks) if marks else self._unmarked(text),
            tools=tuple(dict.fromkeys(tools_of(record))),
            also_in=others,
        )

    def _marks(self, text: str) -> list[Mark]:
        try:
            return self._marks_of(text)
        except QueryError:  # an expression that takes too long on this one text
            return []


def numbered(hits: Iterable[Hit]) -> list[Hit]:
    """Hits with their ranks, from 1."""
    return [replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)]
