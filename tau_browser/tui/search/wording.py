"""What the search screen says of queries, results and coverage. All of it is safe text."""

from __future__ import annotations

import shlex

from rich.cells import cell_len

from tau_browser.model.text import counted, safe_line
from tau_browser.search.query import BadQuery, Kind, Query, Term
from tau_browser.search.results import Coverage, Results

_ENOUGH = 50  # cells of a message that tell what is wrong
_SHOWN = {
    Kind.WORD: "{}",
    Kind.PREFIX: "{}…",
    Kind.PHRASE: '"{}"',
    Kind.REGEX: "/{}/",
}


def meaning_of(query: Query) -> str:
    """A query in words: what is sought, under which conditions, and how."""
    if query.is_blank:
        return ""
    wanted = [_shown(term) for term in query.sought]
    without = [_shown(term) for term in query.terms if term.negated]
    conditions = [query.text[each.start : each.stop] for each in query.filters]
    parts = [" + ".join(wanted)] if wanted else ["everything"]
    parts += [f"without {' or '.join(without)}"] if without else []
    parts += [f"only {' '.join(conditions)}"] if conditions else []
    if wanted:
        parts.append("exactly so" if query.is_exact else "by words and by meaning")
    return safe_line(" · ".join(parts))


def fault_of(error: BadQuery, text: str, width: int) -> str:
    """What is wrong with a query, under the place where it is wrong if there is room for most of
    it. width: cells, of which the query has the same."""
    before = cell_len(safe_line(text[: error.start]))
    carets = "^" * max(1, cell_len(safe_line(text[error.start : error.stop])))
    said = safe_line(str(error))
    if before + len(carets) + min(cell_len(said), _ENOUGH) <= width:
        return f"{' ' * before}{carets} {said}"
    return f"at character {error.start + 1}: {said}"


def found_in(results: Results) -> str:
    """How much was found, and how much of it is shown."""
    shown = len(results.hits)
    sessions = counted(len({hit.standing.path for hit in results.hits}), "session")
    parts = [counted(results.total, "hit")]
    if results.similar:
        parts.append(f"{results.similar:,} similar")
    if shown >= results.total + results.similar:
        parts[-1] += f" in {sessions}"
    else:
        parts.append(f"{shown:,} shown, in {sessions}")
    return " · ".join(parts)


def covered(coverage: Coverage) -> str:
    """What was searched, and what could not be."""
    parts = [
        counted(coverage.sessions, "session"),
        counted(coverage.entries, "entry"),
        f"{coverage.embedded:,} of {coverage.indexed:,} embedded",
    ]
    if coverage.skipped:
        parts.append(f"{counted(len(coverage.skipped), 'session')} skipped")
    return " · ".join(parts)


def command_line(query: str) -> str:
    """The command that prints what is found, for sh."""
    end_of_options = "-- " if query.startswith("-") else ""
    return f"tau-browse search {end_of_options}{shlex.quote(query)}"


def _shown(term: Term) -> str:
    return _SHOWN[term.kind].format(term.text)
