"""The entries of one file, compared with what is indexed of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tau_browser.model.calls import ResultNames
from tau_browser.model.columns import Flag, Int32s, Int64s
from tau_browser.model.context import states
from tau_browser.model.payload import Record
from tau_browser.model.session import records_at
from tau_browser.search.documents import content_of, document_of, is_error
from tau_browser.search.index.catalog import FileRow, StandingRow
from tau_browser.search.index.freshness import Digest, FileIdentity, FileState
from tau_browser.search.index.groups import NONE, Groups, models_of, own_model
from tau_browser.search.index.writer import Writer
from tau_browser.search.logs import FILES, Logs
from tau_browser.stores.store import StoreError

_SLICE = 2000  # entries


class FileEntries:
    """One file about to be indexed. Raises StoreError and OSError if it cannot be read."""

    def __init__(
        self, writer: Writer, row: FileRow, identity: FileIdentity, logs: Logs = FILES
    ) -> None:
        self._writer = writer
        self._catalog = writer.catalog
        self._row = row
        self._identity = identity
        self._logs = logs
        self._log = logs.of(row.path)
        self._session = logs.load(row.path)
        self._digest = Digest(self._session.source)
        self._names = ResultNames(self._session)
        self._old = self._catalog.standings(row.id)
        self._content, self._group = self._indexed_before()
        self.share = 0.0
        """How much of what is to be indexed is, from 0 to 1."""

    def index(self) -> Iterator[int]:
        """Index what is new, slice by slice; yields how many entries each slice indexed.

        What a slice did may be committed before the next one.
        """
        row, session = self._row, self._session
        self._catalog.set_file(FileRow(row.id, row.path, None, session.id, self._cwd()))
        groups = Groups(
            self._catalog.groups(row.id),
            lambda state, model: self._catalog.add_group(row.id, state, model),
            self._catalog.set_state,
        )
        state = states(session, session.leaf)
        before = self._group
        self._group = groups.regroup(before, state)
        model, model_names = models_of(session)

        due = np.flatnonzero((before == NONE) | (before != self._group)).astype(np.int32)
        due = due[np.argsort(session.columns.start[due], kind="stable")]
        for first in range(0, len(due), _SLICE):
            places = due[first : first + _SLICE]
            records = [self._log.record(raw) for raw in self._raw(places)]
            for place, record in zip(places.tolist(), records, strict=True):
                if self._group[place] == NONE:
                    name = model_names[model[place]] or own_model(record)
                    self._group[place] = groups.find(int(state[place]), name)
            self.share = (first + len(places)) / len(due)
            yield self._put(places, records)
        self._remove_gone()
        size = session.size
        seen = FileState((*self._identity[:2], size, *self._identity[3:]), self._digest.to(size))
        plain = self._digest.is_plain and self._is_one_file
        done = FileRow(row.id, row.path, seen, session.id, self._cwd(), is_plain=plain)
        self._catalog.set_file(done)

    def _indexed_before(self) -> tuple[Int64s, Int64s]:
        """Number and group of each entry that is indexed and whose bytes are untouched, by place;
        NONE for others."""
        columns = self._session.columns
        content = np.full(len(columns), NONE, np.int64)
        group = np.full(len(columns), NONE, np.int64)
        state = self._row.state
        if (
            state
            and self._is_one_file
            and self._session.size >= state.size
            and self._digest.to(state.size) == state.digest
        ):
            by_range = {(row.start, row.stop): row for row in self._old}
            ranges = zip(columns.start.tolist(), columns.stop.tolist(), strict=True)
            for place, range_ in enumerate(ranges):
                if row := by_range.get(range_):
                    content[place], group[place] = row.content, row.group
        return content, group

    @property
    def _is_one_file(self) -> bool:
        """Whether its bytes follow one another, so that what was appended is what is new."""
        return len(self._log.files) == 1

    def _raw(self, places: Int32s) -> Iterator[bytes]:
        return records_at(self._session.source, self._session.columns, places)

    def _put(self, places: Int32s, records: list[Record]) -> int:
        """Index these entries; returns how many were written."""
        columns = self._session.columns
        new = self._number(places, records)
        contents = self._content[places].tolist()
        known = [content for content in contents if content not in new]
        before = _groups_by_content(self._catalog.standings_of(known))
        rows = [
            StandingRow(self._row.id, start, stop, content, group)
            for start, stop, content, group in zip(
                columns.start[places].tolist(),
                columns.stop[places].tolist(),
                contents,
                self._group[places].tolist(),
                strict=True,
            )
        ]
        self._catalog.put_standings(rows)
        after = _groups_by_content(rows)
        after |= _groups_by_content(self._catalog.standings_of(known))
        due = {
            content: at
            for at, content in enumerate(contents)
            if before.get(content) != after[content]
        }
        self._writer.drop(due.keys() - new)
        errors = (columns.flags[places] & Flag.ERROR) != 0
        for content, at in due.items():
            record = self._names.named(int(places[at]), records[at])
            document = document_of(record, is_error=bool(errors[at]))
            self._writer.put(content, after[content], document)
        return len(due)

    def _number(self, places: Int32s, records: list[Record]) -> set[int]:
        """Give each entry the number of its content; returns the numbers that are new."""
        hashes = [
            content_of(record) if self._content[place] == NONE else NONE
            for place, record in zip(places.tolist(), records, strict=True)
        ]
        wanted = [hash_ for hash_ in hashes if hash_ != NONE]
        numbers = self._catalog.numbers(wanted)
        new = {hash_: self._writer.number() for hash_ in wanted if hash_ not in numbers}
        self._catalog.add_contents(new.items())
        numbers |= new
        for place, hash_ in zip(places.tolist(), hashes, strict=True):
            if hash_ != NONE:
                self._content[place] = numbers[hash_]
        return set(new.values())

    def _remove_gone(self) -> None:
        """Take out what the file no longer holds."""
        starts = set(self._session.columns.start.tolist())
        gone = [row.start for row in self._old if row.start not in starts]
        self._catalog.remove_standings(self._row.id, gone)
        lost = {(row.content, row.group) for row in self._old}
        lost -= set(zip(self._content.tolist(), self._group.tolist(), strict=True))
        contents = sorted({content for content, _ in lost})
        left: dict[int, list[StandingRow]] = {}
        for row in self._catalog.standings_of(contents):
            left.setdefault(row.content, []).append(row)
        for content in contents:
            if content in left:
                self._write_again(content, left[content])
        self._writer.drop([content for content in contents if content not in left])

    def _write_again(self, content: int, standings: list[StandingRow]) -> None:
        """Index a content that no longer stands where it stood, from where it stands still."""
        paths = {row.id: row.path for row in self._catalog.files()}
        for standing in standings:
            try:
                log = self._logs.of(paths[standing.file])
                record = log.record(log.source().read(standing.start, standing.stop))
            except (OSError, StoreError):  # its own update will tell
                continue
            if self._catalog.numbers([content_of(record)]).get(content_of(record)) == content:
                groups = {row.group for row in standings}
                document = document_of(record, is_error=is_error(record))
                self._writer.drop([content])
                self._writer.put(content, groups, document)
                return

    def _cwd(self) -> str:
        value = self._session.header.get("cwd")
        return value if isinstance(value, str) else ""


def _groups_by_content(rows: list[StandingRow]) -> dict[int, set[int]]:
    groups: dict[int, set[int]] = {}
    for row in rows:
        groups.setdefault(row.content, set()).add(row.group)
    return groups
