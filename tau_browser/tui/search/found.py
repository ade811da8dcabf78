"""What a search found, as the browser walks through it: session after session, hit after hit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tau_browser.model.columns import Places
from tau_browser.model.session import Session
from tau_browser.search.answers import is_as_typed
from tau_browser.search.find import Pattern, Span
from tau_browser.search.highlight import Highlighter, spans_of
from tau_browser.search.matching import pattern_for
from tau_browser.search.results import Asking, Hit


class QueryPattern(Pattern):
    """Where the terms of a query stand in a text. Holding one of them is enough to match."""

    regex = False

    def __init__(self, asking: Asking) -> None:
        self.query = asking.query.text
        self._spans_of = _spans_of(asking)

    def matches(self, text: str) -> bool:
        return bool(self.spans(text))

    def spans(self, text: str) -> list[Span]:
        return self._spans_of(text)


class Found:
    """The hits of a search by session: the session with the best hit first. What stands in none
    is left out.

    starts: by the path of a session, the first byte of every hit in it.
    """

    def __init__(self, asking: Asking, hits: Sequence[Hit]) -> None:
        self.pattern = QueryPattern(asking)
        self.starts: dict[str, list[int]] = {}
        for hit in (each for each in hits if each.standing.path):
            self.starts.setdefault(hit.standing.path, []).append(hit.standing.start)

    def places(self, session: Session, path: str) -> Places:
        """The hits of one session by place, ascending."""
        return session.places_at(self.starts.get(path, []))

    def beyond(self, path: str, step: int) -> str:
        """The session after (1) or before (-1) another; after the last comes the first."""
        paths = list(self.starts)
        return paths[(paths.index(path) + step) % len(paths)]

    def position(self, path: str) -> str:
        """Which of the sessions this is, in words; "" if there is no other."""
        paths = list(self.starts)
        if len(paths) == 1:
            return ""
        return f"{paths.index(path) + 1} of {len(paths):,} sessions found"


def _spans_of(asking: Asking) -> Callable[[str], list[Span]]:
    if is_as_typed(asking.method):
        (term,) = asking.query.terms
        return pattern_for(term).spans
    highlighter = Highlighter(asking.query)
    return lambda text: spans_of(highlighter.marks(text))
