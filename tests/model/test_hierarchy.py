"""Sessions that are a hierarchy: each entry under its parent, findings told by the header."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.columns import Flag
from tau_browser.model.context import states
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.rows import Rows
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.translation import findings_for_header
from tau_browser.model.tree import NOWHERE
from tests.conftest import HEADER, log_of, message, read


def hierarchy(parents: list[int], **header: Any) -> Session:
    """A session of entries that hang under earlier ones, by place (-1: a root)."""
    lines = [
        message(f"e{at}", f"e{parent}" if parent >= 0 else None, f"text {at}")
        for at, parent in enumerate(parents)
    ]
    return read(log_of(lines, header=HEADER | {"nested": True} | header))


@st.composite
def some_parents(draw: st.DrawFn) -> list[int]:
    size = draw(st.integers(1, 30))
    return [draw(st.integers(-1, at - 1)) for at in range(size)]


def naive(parents: list[int]) -> list[tuple[int, int]]:
    """Entries with their depths, in the order in which a person would write them down."""

    def below(parent: int, depth: int) -> list[tuple[int, int]]:
        children = [at for at, over in enumerate(parents) if over == parent]
        return [line for at in children for line in [(at, depth), *below(at, depth + 1)]]

    return below(-1, 0)


@given(some_parents())
def test_is_drawn_as_it_is_nested(parents: list[int]) -> None:
    outline = hierarchy(parents).outline
    assert [*zip(outline.entry.tolist(), outline.depth.tolist(), strict=True)] == naive(parents)


@given(some_parents())
def test_a_group_folds_to_its_head(parents: list[int]) -> None:
    outline = hierarchy(parents).outline
    rows = Rows(outline)
    rows.fold_all()
    roots = [at for at, parent in enumerate(parents) if parent < 0]
    assert [rows.entry(row) for row in range(len(rows))] == roots


def test_has_no_leaf_no_forks_and_nothing_abandoned() -> None:
    session = hierarchy([-1, 0, 0, 2, 0])
    assert session.leaf == NOWHERE
    assert session.forks == []
    assert set(states(session, session.leaf).tolist()) == {State.PATH}


def test_a_lost_parent_is_still_said() -> None:
    session = hierarchy([-1, 0])
    lines = [message("a", None, "a"), message("b", "gone", "b")]
    session = read(log_of(lines, header=HEADER | {"nested": True}))
    assert [finding.severity for finding in session.diagnostics] == [Severity.DAMAGE]
    assert states(session, session.leaf).tolist() == [State.PATH, State.DETACHED]


def test_findings_of_the_header_are_told_at_their_lines() -> None:
    torn = Diagnostic(3, None, "torn", Severity.UNREADABLE, "events.jsonl, line 7")
    whole = Diagnostic(None, None, "no index", Severity.NOTE, "kv.sqlite")
    session = hierarchy([-1, 0], findings=findings_for_header([torn, whole]))
    assert session.diagnostics == [torn, whole]
    assert session.diagnostics_of(1) == [torn]
    assert np.flatnonzero(session.columns.flags & Flag.NOTED).tolist() == [1]
    assert str(torn) == "events.jsonl, line 7: torn"


def test_a_header_that_tells_nonsense_tells_nothing() -> None:
    for findings in ("x", 7, [None, {"line": "3"}, {"line": 1, "reason": 2, "source": ""}]):
        assert hierarchy([-1], findings=findings).diagnostics == []
