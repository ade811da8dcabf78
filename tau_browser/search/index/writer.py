"""The one writer of an index: both parts are committed together, or neither counts.

Postings are committed first, then the catalog, which has the last word. A process that dies
between the two leaves a journal of the files concerned; the next writer takes those files out of
both parts and indexes them anew. Everything else a dead writer leaves is never looked at.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress

import tantivy

from tau_browser.search.documents import Document
from tau_browser.search.index import catalog as tables
from tau_browser.search.index.catalog import Catalog
from tau_browser.search.index.folder import Files, replace_file
from tau_browser.search.index.postings import KEY, open_postings, schema, writer, written
from tau_browser.search.vocabulary import words_of

_COMMIT_DOCUMENTS = 50_000
_COMMIT_CHARACTERS = 128 << 20
_STALE = 1.1  # times as many entries as when the words were written down

# Errors of SQLite that say nothing about the catalog itself.
_OUTSIDE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_NOMEM,
}


class Damaged(Exception):
    """The index cannot be used as it is. The message says why; it can be made anew."""


class Full(Exception):
    """The index cannot be written: no space, no right. What was committed before stays good."""


class Writer:
    """Writes contents and commits them. `rebuilt`: why it began with an empty index, or ""."""

    def __init__(self, files: Files, catalog: Catalog, rebuilt: str) -> None:
        self.catalog = catalog
        self.rebuilt = rebuilt
        self._files = files
        self._postings = open_postings(str(files.postings))
        self._writer = writer(self._postings)
        self._touched: set[int] = set()
        self._documents = self._characters = 0
        self.catalog.begin()
        self._repair()
        self._next = max(1, catalog.meta("next"))

    def number(self) -> int:
        """The number of a new content."""
        self._next += 1
        return self._next - 1

    def touch(self, file: int) -> None:
        """Say that the entries of a file are about to change."""
        self._touched.add(file)

    def put(self, content: int, groups: Iterable[int], document: Document) -> None:
        """Index a content whose number is new, or was dropped."""
        self._writer.add_document(written(content, groups, document))
        self._documents += 1
        self._characters += sum(len(text) for _, text in document.texts)

    def drop(self, contents: Collection[int]) -> None:
        """Take contents out of the postings."""
        if (
            contents
        ):  # by a query: the library takes a number for a term to be signed, and it is not
            which = tantivy.Query.term_set_query(schema(), KEY, [*contents])
            self._writer.delete_documents_by_query(which)

    @property
    def is_due(self) -> bool:
        """Whether enough is waiting to be committed."""
        return self._documents >= _COMMIT_DOCUMENTS or self._characters >= _COMMIT_CHARACTERS

    def commit(self) -> None:
        """Make all so far what readers see."""
        self._write_journal()
        stamp = self._writer.commit()
        self.catalog.set_meta("stamp", stamp)
        self.catalog.set_meta("next", self._next)
        self.catalog.commit()
        self._files.journal.unlink(missing_ok=True)
        self.catalog.begin()
        self._files.close_to_others()
        self._documents = self._characters = 0
        self._touched.clear()

    def write_words(self) -> None:
        """Write down the words of the index anew, if it has grown enough for it to be worth it."""
        self._postings.reload()
        searcher = self._postings.searcher()
        if searcher.num_docs > _STALE * self.catalog.meta("words"):
            replace_file(self._files.words, words_of(searcher))
            self.catalog.set_meta("words", searcher.num_docs)

    def close(self) -> None:
        """Commit nothing more and wait until merged segments are in place."""
        try:
            self.catalog.rollback()
            self.catalog.close()
        finally:
            self._writer.wait_merging_threads()
        self._files.close_to_others()

    def _write_journal(self) -> None:
        replace_file(self._files.journal, json.dumps(sorted(self._touched)))

    def _repair(self) -> None:
        """Undo a commit that reached the postings but not the catalog."""
        is_torn = self._writer.commit_opstamp != self.catalog.meta("stamp")
        try:
            touched = json.loads(self._files.journal.read_bytes())
        except FileNotFoundError:
            if is_torn:
                raise Damaged("its two parts do not fit together") from None
            return
        if is_torn:
            number = max(1, self.catalog.meta("next"))
            beyond = tantivy.Query.range_query(
                schema(), KEY, tantivy.FieldType.Unsigned, lower_bound=number
            )
            self._writer.delete_documents_by_query(beyond)
            for row in self.catalog.files():
                if row.id in touched:
                    self.drop(forget(self.catalog, row.id))
            self._next = number
            self.commit()
        self._files.journal.unlink(missing_ok=True)


def forget(catalog: Catalog, file: int) -> list[int]:
    """Take a file out of the catalog; returns the contents that stand nowhere any more."""
    contents = sorted({row.content for row in catalog.standings(file)})
    catalog.forget_file(file)
    elsewhere = {row.content for row in catalog.standings_of(contents)}
    return [content for content in contents if content not in elsewhere]


@contextmanager
def writing(files: Files, *, rebuild: str = "") -> Iterator[Writer]:
    """The writer of an index, made anew where it is missing, damaged or of another version.

    rebuild: why to make it anew in any case. Raises IndexBusy; Full and Damaged, also from within
    the block, as what they mean for the index. What was committed stays.
    """
    try:
        files.make_folder()
        with files.locked():
            with translated():
                opened = _open(files, rebuild)
            try:
                with translated():
                    yield opened
            finally:
                with suppress(sqlite3.Error, ValueError, OSError):
                    opened.close()
    except OSError as error:
        raise Full(str(error)) from error


@contextmanager
def translated(*, querying: bool = False) -> Iterator[None]:
    """Errors of the two libraries as what they mean for the index: Full or Damaged.

    querying: a ValueError of tantivy may also come of a query, and then says nothing of the kind.
    """
    try:
        yield
    except OSError as error:
        raise Full(str(error)) from error
    except sqlite3.DatabaseError as error:
        is_outside = getattr(error, "sqlite_errorcode", 0) & 0xFF in _OUTSIDE
        raise (Full if is_outside else Damaged)(str(error)) from error
    except ValueError as error:  # all that tantivy raises
        if "os error" in str(error):
            raise Full(str(error)) from error
        if querying and "corrupt" not in str(error).lower():
            raise
        raise Damaged(str(error)) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # tantivy met what it thinks impossible
            raise Damaged(str(error)) from error
        raise


def _open(files: Files, rebuild: str) -> Writer:
    reason = rebuild or _unusable(files)
    if reason is None:
        try:
            with translated():
                return Writer(files, Catalog(files.catalog, writable=True), "")
        except Damaged as error:
            reason = str(error)
    files.wipe()
    tables.create(files.catalog)
    opened = Writer(files, Catalog(files.catalog, writable=True), reason)
    opened.commit()
    return opened


def _unusable(files: Files) -> str | None:
    """Why an index must be made anew: "" because there is none; None if it need not be."""
    if files.damaged.exists():
        return files.damaged.read_text(encoding="utf-8", errors="replace") or "it is damaged"
    if not files.catalog.exists():
        return ""
    try:
        with translated():
            catalog = Catalog(files.catalog)
            version = catalog.meta("version")
            catalog.close()
    except Damaged as error:
        return str(error)
    if version != tables.VERSION:
        return f"it is of version {version}, not {tables.VERSION}"
    return None
