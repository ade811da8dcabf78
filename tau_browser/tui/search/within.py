"""Where a search looks, as a person chooses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tau_browser.search.results import Asking, Reach
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.store import Listed


@dataclass(frozen=True, slots=True)
class Within:
    """Paths of sessions, or None for all, and how far to go from them."""

    paths: tuple[str, ...] | None = None
    reach: Reach = Reach.BELOW

    @classmethod
    def of(cls, asking: Asking) -> Within:
        """Where it is asked."""
        return cls(None if asking.paths is None else tuple(asking.paths), asking.reach)

    def put(self, asking: Asking) -> Asking:
        """The same question, asked here."""
        return replace(asking, paths=self.paths, reach=self.reach)


ALL_SESSIONS = "all sessions"
Choices = Mapping[str, Within]
"""By what a person calls them."""


def choices(store: str, sessions: Mapping[str, Listed], path: str, entry: str) -> Choices:
    """What there is to choose from. path, entry: of the session that is open and of the entry that
    is selected in it; "" if there is none."""
    found = {ALL_SESSIONS: Within()}
    if store == JMFTS:
        found["everything"] = Within(reach=Reach.ALL)
    if path:
        found["this session"] = Within((path,))
    if store == JMFTS and (together := _of_one_project(sessions, path)):
        found["this project"] = Within(together)
    if store == JMFTS and entry.isdecimal():
        found["this branch"] = Within((entry,), Reach.BRANCH)
    return found


def _of_one_project(sessions: Mapping[str, Listed], path: str) -> tuple[str, ...]:
    """The sessions that worked in the same directory as one; () if that is not known."""
    cwds = {each: it.summary.cwd for each, it in sessions.items() if it.summary}
    cwd = cwds.get(path)
    return tuple(each for each, its in cwds.items() if its == cwd) if cwd else ()
