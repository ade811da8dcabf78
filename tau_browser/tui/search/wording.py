"""What the search screen says of queries, results and coverage. All of it is safe text."""

from __future__ import annotations

from collections.abc import Collection

from rich.cells import cell_len

from tau_browser.model.text import counted, safe_line
from tau_browser.search.engine import may_rerank
from tau_browser.search.query import BadQuery, Kind, Query, Term
from tau_browser.search.results import NEWEST, Asking, Coverage, Hit, Method, Results
from tau_browser.search.semantic.minilm import INSTALL, is_installed

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
    else:
        parts.append("newest first")
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
    paths = {hit.standing.path for hit in results.hits if hit.standing.path}
    sessions = counted(len(paths), "session")
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
    indexed = f"{coverage.indexed:,}"
    if coverage.what != "entry":
        indexed = counted(coverage.indexed, coverage.what)
    parts = [
        counted(coverage.sessions, "session"),
        counted(coverage.entries, "entry"),
        f"{coverage.embedded:,} of {indexed} embedded",
    ]
    if coverage.unindexed is None:
        parts.append("cannot tell what the index of words lacks")
    elif coverage.unindexed:
        parts.append(f"{coverage.unindexed:,} not indexed, or without text")
    if coverage.scanned:
        parts.append(f"{counted(coverage.scanned, 'session')} scanned")
    if coverage.skipped:
        parts.append(f"{counted(len(coverage.skipped), 'session')} skipped")
    return " · ".join(parts)


def manner_of(asking: Asking, unable: Collection[str] = ()) -> str:
    """How a search looks, and what each ranker counts. unable: those that are not to be had."""
    if asking.method is not Method.HYBRID:
        return asking.method.value
    weights = " · ".join(
        f"no {ranker}" if ranker in unable else f"{ranker} {weight:g}"
        for ranker, weight in asking.weights.items()
    )
    return f"{weights} · {asking.fused_by.value}"


def reason_of(hit: Hit) -> str:
    """Why a hit stands where it does: what each ranker says of it, and what that adds up to, or its
    time where that is all; which words matched."""
    why = "found by a scan, not ranked"
    if hit.is_by_time:
        why = f"{NEWEST} #{hit.parts[0].rank:,} · {hit.time or 'without a time'}"
    elif hit.score is not None:
        parts = [
            f"{part.ranker} #{part.rank:,} {part.raw:.3g} → {part.norm:.2f}×{part.weight:g}"
            for part in hit.parts
        ]
        why = f"{hit.score:.2f} = {' + '.join(parts)}"
    words = ", ".join(hit.terms)
    if hit.likely:
        words = f"≈ {likely_in(hit)}, by late interaction"
    return safe_line(f"{why} · {words}" if words else why)


def likely_in(hit: Hit) -> str:
    """The words of a hit that are near to those of the query, and how near."""
    return ", ".join(it.told for it in hit.likely)


def outside(hit: Hit) -> str:
    """What a hit is that stands in no session, and so in no tree."""
    document = hit.document or {}
    title, kind = (document.get(name) or "none" for name in ("title", "usetype"))
    return safe_line(f"document {hit.entry} belongs to no session · title: {title} · kind: {kind}")


def reranked_in(results: Results, *, is_last: bool) -> str:
    """Whether the model of the extra had its say; "" where it has none. is_last: no better answer
    follows."""
    if not results.hits or not may_rerank(results.asking):
        return ""
    if results.reranked:
        return "re-ranked"
    if not is_installed():
        return f"not re-ranked: {INSTALL}"
    return "" if is_last else "re-ranking"


def _shown(term: Term) -> str:
    return _SHOWN[term.kind].format(term.text)
