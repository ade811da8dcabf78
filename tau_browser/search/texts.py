"""The records behind hits, read from the session files in which they stand."""

from __future__ import annotations

from collections import OrderedDict

from tau_browser.model.payload import Record, text_of
from tau_browser.search.documents import content_of
from tau_browser.search.index.reader import Reader, Standing
from tau_browser.search.logs import FILES, Logs
from tau_browser.stores.files import FileSources
from tau_browser.stores.session_log import SessionLog
from tau_browser.stores.store import StoreError

_MOST_OPEN = 32


class Texts:
    """Reads what hits say. Keeps some files open; for one thread at a time."""

    def __init__(self, reader: Reader, logs: Logs = FILES) -> None:
        self._reader = reader
        self._logs = logs
        self._opened: OrderedDict[str, tuple[SessionLog, FileSources]] = OrderedDict()

    def record(self, content: int, standing: Standing) -> Record:
        """The record of a content where it stands; {} if something else is there by now."""
        try:
            log, source = self._log(standing.path)
        except (OSError, StoreError):
            return {}
        record = log.record(source.read(standing.start, standing.stop))
        return record if self._reader.number_of(content_of(record)) == content else {}

    def text(self, content: int) -> str:
        """What a content says, wherever it still stands; "" if nowhere."""
        for standing in self._reader.standings([content]).get(content, []):
            if record := self.record(content, standing):
                return text_of(record)
        return ""

    def close(self) -> None:
        """Let go of the files."""
        while self._opened:
            self._opened.popitem()[1][1].close()

    def _log(self, path: str) -> tuple[SessionLog, FileSources]:
        if path not in self._opened:
            log = self._logs.of(path)
            self._opened[path] = log, log.source()
            if len(self._opened) > _MOST_OPEN:
                self._opened.popitem(last=False)[1][1].close()
        self._opened.move_to_end(path)
        return self._opened[path]
