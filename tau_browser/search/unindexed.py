"""What the index does not hold yet, found by a scan of the files: nothing is ever missed because
an index is not there, or behind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import replace

from tau_browser.search.documents import content_of
from tau_browser.search.filtering import Filtering, ReadSessions
from tau_browser.search.index.catalog import FileRow
from tau_browser.search.logs import FILES, Logs
from tau_browser.search.query import Query
from tau_browser.search.results import Place
from tau_browser.search.scan import Hit as Scanned
from tau_browser.search.scan import scan
from tau_browser.search.words import wanted
from tau_browser.stores.store import Listed, Store

_AT_ONCE = 200  # files, after which it may be cancelled


def session_paths(store: Store, paths: Collection[str] | None = None) -> list[str]:
    """The session files of a store, or those of some, what changed last coming first."""
    listed = (item.path for item in store.scan() if isinstance(item, Listed))
    return [path for path in listed if paths is None or path in paths]


def waiting(paths: Sequence[str], indexed: Sequence[FileRow], logs: Logs = FILES) -> list[str]:
    """Of sessions, those that are not indexed as they are now."""
    known = {row.path: row for row in indexed}
    return [path for path in paths if not _is_done(path, known.get(path), logs)]


def as_scanned(query: Query) -> Query:
    """What a scan looks for: the same without the words that say nothing. All that is left must be
    there, character by character."""
    useful = {each.term for each in wanted(query)}
    words = {term for term in query.sought if not term.is_exact}
    return replace(
        query, terms=tuple(term for term in query.terms if term in useful or term not in words)
    )


def scanned(
    query: Query,
    store: str,
    paths: Sequence[str],
    is_wanted: Callable[[Scanned], bool],
    cancelled: Callable[[], bool],
    plain: Container[str] = (),
    logs: Logs = FILES,
) -> list[Place]:
    """Where entries of these files hold all that a query asks for and pass its filters, in order;
    of copies, the first. Fewer if cancelled. plain: as for `scan`. Raises QueryError if an
    expression takes too long."""
    filtering = Filtering(query, store, ReadSessions(logs).of)
    found: dict[int, Place] = {}
    for first in range(0, len(paths), _AT_ONCE):
        for batch in scan(query, paths[first : first + _AT_ONCE], cancelled, plain, logs):
            for hit in batch:
                if filtering.passes(hit) and is_wanted(hit):
                    content = content_of(hit.record)
                    place = Place(hit.path, hit.start, hit.stop)
                    found[content] = min(place, found.get(content, place))
        if cancelled():
            break
    return sorted(found.values())


def _is_done(path: str, row: FileRow | None, logs: Logs) -> bool:
    """Whether there is nothing to wait for; what cannot be read is told of elsewhere."""
    if row is None:
        return False
    return bool(row.problem) or (row.state is not None and logs.is_now(path, row.state.identity))
