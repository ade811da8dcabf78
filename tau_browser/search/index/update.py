"""Bringing an index up to date with its store: what is new is added, what is gone is removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tau_browser.search.index.catalog import FileRow
from tau_browser.search.index.entries import FileEntries
from tau_browser.search.index.folder import Files
from tau_browser.search.index.freshness import FileIdentity
from tau_browser.search.index.writer import Damaged, Full, Writer, forget, writing
from tau_browser.search.logs import Logs
from tau_browser.stores.files import words_of
from tau_browser.stores.store import Listed, Store, StoreError, Unreadable


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an update has come. Sizes in bytes, of the files that need looking into."""

    files_done: int
    files: int
    bytes_done: int
    bytes: int


@dataclass(slots=True)
class Report:
    """What an update did.

    added: entries that were indexed, some of them again · files: those that had changed ·
    removed: files that are no longer there · skipped: (path, why) of what cannot be read ·
    rebuilt: why the index was made anew, "" if it was not · problem: why the update stopped
    early, "" if it did not · cancelled: whether it was told to stop
    """

    added: int = 0
    files: int = 0
    removed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    rebuilt: str = ""
    problem: str = ""
    cancelled: bool = False


def update(
    store: Store,
    folder: Path,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    rebuild: bool = False,
) -> Report:
    """Index what is not indexed yet, the sessions that changed last first.

    May be stopped at any time, and goes on from there the next time. Raises IndexBusy.
    """
    reason = "it was asked for" if rebuild else ""
    report = Report()
    for _ in range(2):  # the second time for an index that turned out to be damaged
        try:
            with writing(Files(folder), rebuild=reason) as writer:
                report = Report(rebuilt=writer.rebuilt)
                _Update(store, writer, report, progress, cancelled).run()
            return report
        except Full as error:
            report.problem = f"the index cannot be written: {error}"
            return report
        except Damaged as error:
            reason = report.problem = str(error)
    return report


class _Update:
    """One run over a store."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        report: Report,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self._store = store
        self._logs = Logs(store)
        self._writer = writer
        self._report = report
        self._progress = progress
        self._cancelled = cancelled
        self._changed = False  # beyond what is in the files

    def run(self) -> None:
        found = self._find_files()
        rows = self._match(found)
        due = [
            (row, found[path])
            for path, row in rows.items()
            if row.state is None or row.state.identity != found[path]
        ]
        total = sum(identity[2] for _, identity in due)
        done = 0
        for at, (row, identity) in enumerate(due):

            def tell(share: float, at: int = at, done: int = done, size: int = identity[2]) -> None:
                self._progress(Progress(at, len(due), done + int(share * size), total))

            tell(0)
            if self._cancelled() or not self._index(row, identity, tell):
                self._report.cancelled = True
                break
            done += identity[2]
        else:
            self._progress(Progress(len(due), len(due), total, total))
        if due or self._changed:
            self._writer.commit()
            self._writer.write_words()
            self._writer.commit()

    def _find_files(self) -> dict[str, FileIdentity]:
        """The files of the store and their present states."""
        found: dict[str, FileIdentity] = {}
        for item in self._store.scan():
            if isinstance(item, Unreadable):
                self._report.skipped.append((item.path, item.reason))
            else:
                self._add(found, item)
        return found

    def _add(self, found: dict[str, FileIdentity], item: Listed) -> None:
        try:
            found[item.path] = self._logs.identity(item.path)
        except OSError as error:
            self._report.skipped.append((item.path, words_of(error)))
        except StoreError as error:
            reason = str(error).removeprefix(f"{item.path}: ")
            self._report.skipped.append((item.path, reason))

    def _match(self, found: dict[str, FileIdentity]) -> dict[str, FileRow]:
        """The catalog's row of every file: moved with it, made for a new one, dropped for one
        that is gone."""
        catalog = self._writer.catalog
        known = {row.path: row for row in catalog.files()}
        missing = [row for path, row in known.items() if path not in found]
        by_file = {row.state.identity[:2]: row for row in missing if row.state}
        rows: dict[str, FileRow] = {}
        for path, identity in found.items():
            row = known.get(path)
            if row is None and (moved := by_file.pop(identity[:2], None)):
                catalog.set_path(moved.id, path)
                self._changed = True
                row = replace(moved, path=path)
                missing.remove(moved)
            rows[path] = row or FileRow(catalog.add_file(path), path)
        for row in missing:
            self._forget(row.id)
        self._report.removed = len(missing)
        self._changed |= bool(missing)
        return rows

    def _forget(self, file: int) -> None:
        self._writer.touch(file)
        self._writer.drop(forget(self._writer.catalog, file))

    def _index(self, row: FileRow, identity: FileIdentity, tell: Callable[[float], None]) -> bool:
        """Index what is new in a file, telling what share is done; False if cancelled before its
        end."""
        self._writer.touch(row.id)
        try:
            entries = FileEntries(self._writer, row, identity, self._logs)
        except (StoreError, OSError) as error:
            self._skip(row, identity, str(error).removeprefix(f"{row.path}: "))
            return True
        self._report.files += 1
        for added in entries.index():
            self._report.added += added
            tell(entries.share)
            if self._writer.is_due:
                self._writer.commit()
                self._writer.touch(row.id)
            if self._cancelled():
                return False
        return True

    def _skip(self, row: FileRow, identity: FileIdentity, reason: str) -> None:
        """Remember that a file cannot be read; it is tried again every time."""
        self._report.skipped.append((row.path, reason))
        self._writer.drop(forget(self._writer.catalog, row.id))
        file = self._writer.catalog.add_file(row.path)
        self._writer.catalog.set_file(FileRow(file, row.path, problem=reason))
