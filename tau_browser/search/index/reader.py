"""An index as it is searched: a snapshot of the last commit, never in a writer's way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tantivy

from tau_browser.model.state import State
from tau_browser.search.index import catalog as tables
from tau_browser.search.index.catalog import Catalog, FileRow, StandingRow
from tau_browser.search.index.folder import Files, NoIndex
from tau_browser.search.index.postings import KEY, STEM, open_postings, tools_in
from tau_browser.search.index.selection import GroupFacts, Selection, select
from tau_browser.search.index.writer import Damaged, Full, translated
from tau_browser.search.logs import FILES, Logs
from tau_browser.search.query import Query
from tau_browser.search.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an entry stands: its bytes in a file, its session, its state and model there.

    On a server, `path` is the number of the conversation's root ("" for what belongs to none),
    `start` minus that of the entry's document, and `state` None until the conversation is read.
    """

    path: str
    start: int
    stop: int
    session: str
    cwd: str
    state: State | None
    model: str
    group: int


@dataclass(frozen=True, slots=True)
class _Groups:
    """The catalog's files and groups as of one commit."""

    files: dict[int, FileRow]
    facts: dict[int, GroupFacts]
    models: dict[int, str]  # as written
    states: dict[int, State]


class Reader:
    """A snapshot of an index. For one thread at a time.

    Whatever goes wrong while reading is a NoIndex; a damaged index is then made anew by the next
    update.
    """

    def __init__(self, folder: Path, store: str = "tau", logs: Logs = FILES) -> None:
        self._store = store
        self._logs = logs
        self._files = Files(folder)
        self._inode = self._changes = 0
        self._selected: tuple[object, Selection] | None = None
        self._chosen: tuple[Selection, list[int]] | None = None
        self._open()

    def refresh(self) -> bool:
        """Go on to the last commit; returns whether there was a new one. Raises NoIndex."""
        with self.guarded(querying=False):
            if self._inode != self._files.catalog.stat().st_ino:  # made anew meanwhile
                self.close()
                self._open()
                return True
            if self._changes == self.catalog.changes():
                return False
            self._load()
            return True

    def close(self) -> None:
        """Let go of the files."""
        self.catalog.close()

    def select(self, query: Query, paths: Collection[str] | None = None) -> Selection:
        """What a query's filters leave of some session files, or of all."""
        filters = {(each.name, each.value, each.negated) for each in query.filters}
        asked = filters, None if paths is None else frozenset(paths)
        with self.guarded():
            if self._selected is None or self._selected[0] != asked:  # as words are typed it stays
                selection = select(query, lambda: self._groups.facts.values(), self.tools, paths)
                self._selected = asked, selection
            return self._selected[1]

    def tools(self) -> list[str]:
        """The names of all tools that are called or answered, folded."""
        return tools_in(self.searcher)

    def contents(self, selection: Selection) -> list[int] | None:
        """The numbers of all contents of a selection, or None if it is everything."""
        if selection.condition is None:
            return None
        if self._chosen is None or self._chosen[0] is not selection:  # as above
            with self.guarded():
                found = self.searcher.search(
                    selection.condition, max(1, self.searcher.num_docs), count=False
                )
                self._chosen = selection, self.keys([address for _, address in found.hits])
        return self._chosen[1]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the index, as of when they were last written down."""
        try:
            return Vocabulary(self._files.words.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return Vocabulary("")

    @cached_property
    def entries(self) -> int:
        """How many entries there are, each copy counted."""
        with self.guarded():
            return self.catalog.count("standings")

    @property
    def count(self) -> int:
        """How many contents there are."""
        return self.searcher.num_docs

    def having(self, stem: str) -> int:
        """How many contents hold a word of this stem."""
        return self.searcher.doc_freq(STEM, stem)

    @property
    def made(self) -> int:
        """A number that tells this index from one that was made anew in its place."""
        return self._inode

    def numbers(self) -> list[int]:
        """The numbers of all contents that ever stood somewhere, in the order of indexing."""
        with self.guarded():
            return self.catalog.all_numbers()

    def keys(self, addresses: list[tantivy.DocAddress]) -> list[int]:
        """The numbers of contents."""
        return [int(value or 0) for value in self.searcher.fast_field_values(KEY, addresses)]

    def standings(
        self, contents: Sequence[int], groups: Collection[int] | None = None
    ) -> dict[int, list[Standing]]:
        """Where contents stand, in these groups or in any: on a path before elsewhere, then in
        the order in which files were indexed. One that stands nowhere any more is left out."""
        found: dict[int, list[Standing]] = {}
        with self.guarded():
            for row in self.catalog.standings_of(contents):
                facts = self._groups.facts.get(row.group)
                if facts is not None and (groups is None or row.group in groups):
                    file = self._groups.files[row.file]
                    standing = Standing(
                        file.path,
                        row.start,
                        row.stop,
                        file.session,
                        file.cwd,
                        self._groups.states[row.group],
                        self._groups.models[row.group],
                        row.group,
                    )
                    found.setdefault(row.content, []).append(standing)
        for standings in found.values():
            standings.sort(key=lambda standing: standing.state or 0)
        return found

    def content_at(self, path: str, start: int) -> int | None:
        """The content of the entry that starts at a byte of a file; None if not indexed."""
        file = self._file_ids.get(path)
        with self.guarded():
            return None if file is None else self.catalog.content_at(file, start)

    def number_of(self, content_hash: int) -> int | None:
        """The number of the content with this hash (`documents.content_of`)."""
        with self.guarded():
            return self.catalog.numbers([content_hash]).get(content_hash)

    def stands(self, content_hash: int) -> bool:
        """Whether the content with this hash is indexed and stands somewhere."""
        number = self.number_of(content_hash)
        with self.guarded():
            return number is not None and bool(self.catalog.standings_of([number]))

    def rows(self, path: str) -> list[StandingRow]:
        """The entries of a file that are indexed."""
        file = self._file_ids.get(path)
        with self.guarded():
            return [] if file is None else self.catalog.standings(file)

    def plain_paths(self) -> set[str]:
        """Files that spell their texts in one way only, and are as they were when indexed."""
        return {
            row.path
            for row in self.files()
            if row.is_plain and row.state and self._logs.is_now(row.path, row.state.identity)
        }

    def files(self) -> list[FileRow]:
        """The files of the store as they are indexed."""
        return list(self._groups.files.values())

    @contextmanager
    def guarded(self, *, querying: bool = True) -> Iterator[None]:
        """Errors of the libraries as NoIndex. querying: see `translated`."""
        try:
            with translated(querying=querying):
                yield
        except Damaged as error:
            self._files.mark_damaged(str(error))
            raise NoIndex(f"the index is damaged and will be made anew: {error}") from error
        except Full as error:
            raise NoIndex(f"the index cannot be read: {error}") from error

    def _open(self) -> None:
        if not self._files.catalog.exists():
            raise NoIndex("nothing is indexed yet")
        with self.guarded(querying=False):
            self._inode = self._files.catalog.stat().st_ino
            self.catalog = Catalog(self._files.catalog)
            if self.catalog.meta("version") != tables.VERSION:
                raise NoIndex("the index is of another version")
            self._load()

    def _load(self) -> None:
        self._changes = self.catalog.changes()
        self.searcher = open_postings(str(self._files.postings)).searcher()
        self._selected = self._chosen = None
        for cached in ("_groups", "vocabulary", "entries"):
            self.__dict__.pop(cached, None)

    @cached_property
    def _groups(self) -> _Groups:
        with self.guarded():
            files = {row.id: row for row in self.catalog.files()}
            groups = [group for group in self.catalog.groups() if group.file in files]
        facts = {
            group.id: GroupFacts(
                group.id,
                files[group.file].path,
                self._store.casefold(),
                files[group.file].cwd.casefold(),
                State(group.state).word,
                group.model.casefold(),
            )
            for group in groups
        }
        models = {group.id: group.model for group in groups}
        return _Groups(files, facts, models, {group.id: State(group.state) for group in groups})

    @property
    def _file_ids(self) -> dict[str, int]:
        return {row.path: row.id for row in self._groups.files.values()}
