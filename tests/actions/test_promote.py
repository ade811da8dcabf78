"""What is promoted: filters in the words of a search."""

from __future__ import annotations

import pytest

from tau_browser.actions.plan import Refused
from tau_browser.actions.promote.choosing import (
    PromoteRequest,
    candidates,
    filter_of,
    filters_in,
)
from tau_browser.model.memory import MemoryType
from tests.conftest import DATA, load

TOOLS = DATA / "tau" / "01-linear-tools.jsonl"


def promoted(request: PromoteRequest) -> list[str]:
    found, _ = candidates(load(TOOLS), request, store="tau", path=str(TOOLS))
    return [each.title for each in found]


def test_filters_are_those_of_searches() -> None:
    request = filter_of("event:checkpoint role:tool memory:semantic tag:retry signal:0.35")
    assert request == PromoteRequest(
        kinds=frozenset({"checkpoint", "toolResult"}),
        memories=frozenset({MemoryType.SEMANTIC}),
        facets=frozenset({"tag:retry"}),
        min_signal=35,
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("", "nothing: give filters"),
        ("signal:0.5 hello", "hello: give filters"),
        ("since:2d", "since:2d: give filters"),
        ("-role:user", "-role:user: give filters"),
        ("memory:none", "memory:none: "),
    ],
)
def test_what_is_no_filter_is_refused(words: str, named: str) -> None:
    with pytest.raises(Refused, match=named):
        filter_of(words)


def test_of_a_search_the_filters_that_hold_for_an_entry_are_taken() -> None:
    assert filters_in('"a phrase" role:user since:2d -tag:x signal:0.5') == "role:user signal:0.5"
    assert filters_in("words alone") == filters_in("memory:none") == ""


def test_filters_choose_entries() -> None:
    results = promoted(filter_of("role:tool"))
    assert len(results) == 5
    semantic = promoted(filter_of("role:tool memory:semantic"))
    assert [title for title in semantic if "read" in title] == semantic != []
    assert len(promoted(filter_of("kind:message"))) > len(results)
