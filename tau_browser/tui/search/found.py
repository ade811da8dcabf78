"""What a search found, as the browser walks through it: session after session, hit after hit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from tau_browser.model.columns import Places
from tau_browser.model.session import Session
from tau_browser.search.answers import is_as_typed
from tau_browser.search.find import Pattern, Span
from tau_browser.search.highlight import Highlighter, spans_of
from tau_browser.search.matching import pattern_for
from tau_browser.search.results import Asking, Hit, Likely


class QueryPattern(Pattern):
    """Where the terms of a query stand in a text. Holding one of them is enough to match."""

    regex = False

    def __init__(self, asking: Asking) -> None:
        self.query = asking.query.text
        self._spans_of = _spans_of(asking)
        self._near: re.Pattern[str] | None = None
        self._words: set[str] = set()

    def learn(self, likely: Iterable[Likely]) -> None:
        """From now on these words, too, are near to what is sought."""
        self._words |= {it.word for it in likely}
        if self._words:
            words = "|".join(map(re.escape, sorted(self._words)))
            self._near = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)

    def matches(self, text: str) -> bool:
        return bool(self.spans(text))

    def spans(self, text: str) -> list[Span]:
        return self._spans_of(text)

    def near(self, text: str) -> list[Span]:
        if self._near is None:
            return []
        exact = self.spans(text)
        found = (match.span() for match in self._near.finditer(text))
        return [span for span in found if not _overlaps(span, exact)]


class Found:
    """The hits of a search by session: the session with the best hit first. What stands in none
    is left out."""

    def __init__(self, asking: Asking, hits: Sequence[Hit]) -> None:
        self.asking = asking
        self.pattern = QueryPattern(asking)
        self._hits: dict[str, dict[int, Hit]] = {}
        for hit in (each for each in hits if each.standing.path):
            self._hits.setdefault(hit.standing.path, {})[hit.standing.start] = hit

    def places(self, session: Session, path: str) -> Places:
        """The hits of one session by place, ascending."""
        return session.places_at(self._hits.get(path, []))

    def unexplained(self, path: str) -> list[Hit]:
        """The hits of one session of which it is not known what matched."""
        hits = self._hits.get(path, {}).values()
        return [hit for hit in hits if not hit.spans and not hit.likely]

    def learn(self, hit: Hit) -> None:
        """Take a hit of which it is known by now what probably matched."""
        self._hits[hit.standing.path][hit.standing.start] = hit
        self.pattern.learn(hit.likely)

    def likely(self, session: Session, path: str) -> dict[int, Sequence[Likely]]:
        """What probably matched in the hits of one session, by place, as far as that is known."""
        hits = [hit for hit in self._hits.get(path, {}).values() if hit.likely]
        return {
            place: hit.likely
            for hit in hits
            for place in session.places_at([hit.standing.start]).tolist()
        }

    def beyond(self, path: str, step: int) -> str:
        """The session after (1) or before (-1) another; after the last comes the first."""
        paths = list(self._hits)
        return paths[(paths.index(path) + step) % len(paths)]

    def position(self, path: str) -> str:
        """Which of the sessions this is, in words; "" if there is no other."""
        paths = list(self._hits)
        if len(paths) == 1:
            return ""
        return f"{paths.index(path) + 1} of {len(paths):,} sessions found"


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    """Whether a range and one of some others, which are in order and apart, have a part in
    common."""
    start, stop = span
    at = bisect_left(others, (stop, 0))
    return at > 0 and others[at - 1][1] > start


def _spans_of(asking: Asking) -> Callable[[str], list[Span]]:
    if is_as_typed(asking.method):
        (term,) = asking.query.terms
        return pattern_for(term).spans
    highlighter = Highlighter(asking.query)
    return lambda text: spans_of(highlighter.marks(text))
