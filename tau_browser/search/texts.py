"""The records behind hits, read from the session files in which they stand."""

from __future__ import annotations

from collections import OrderedDict

from tau_browser.model.heads import decode_record
from tau_browser.model.payload import Record, text_of
from tau_browser.search.documents import content_of
from tau_browser.search.index.reader import Reader, Standing
from tau_browser.stores.files import FileSource
from tau_browser.stores.store import StoreError

_MOST_OPEN = 32


class Texts:
    """Reads what hits say. Keeps some files open; for one thread at a time."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._sources: OrderedDict[str, FileSource] = OrderedDict()

    def record(self, content: int, standing: Standing) -> Record:
        """The record of a content where it stands; {} if something else is there by now."""
        try:
            raw = self._source(standing.path).read(standing.start, standing.stop)
        except (OSError, StoreError):
            return {}
        record = decode_record(raw)
        return record if self._reader.number_of(content_of(record)) == content else {}

    def text(self, content: int) -> str:
        """What a content says, wherever it still stands; "" if nowhere."""
        for standing in self._reader.standings([content]).get(content, []):
            if record := self.record(content, standing):
                return text_of(record)
        return ""

    def close(self) -> None:
        """Let go of the files."""
        while self._sources:
            self._sources.popitem()[1].close()

    def _source(self, path: str) -> FileSource:
        if path not in self._sources:
            self._sources[path] = FileSource(path)
            if len(self._sources) > _MOST_OPEN:
                self._sources.popitem(last=False)[1].close()
        self._sources.move_to_end(path)
        return self._sources[path]
