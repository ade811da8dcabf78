"""The signal of an entry, against what the program that invented it gave (its own figures)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.signal import facets_of, hundredths, severity_of, signal_from, signal_of
from tau_browser.model.signals import Signals, read_signals
from tests.conftest import HEADER, log_of, message, read

# severity: an empty text, 100 characters, 160, and those with a number beside them
MEASURED = {
    0: (0.15, 0.4, 0.55, 0.75),
    1: (0.25, 0.5, 0.65, 0.85),
    2: (0.35, 0.6, 0.75, 0.95),
    3: (0.45, 0.7, 0.85, 1.0),
    4: (0.55, 0.8, 0.95, 1.0),
    5: (0.65, 0.9, 1.0, 1.0),
    6: (0.75, 1.0, 1.0, 1.0),
}


@pytest.mark.parametrize("severity", MEASURED)
def test_is_the_formula_of_the_program(severity: int) -> None:
    given_ = [(0, False), (100, False), (160, False), (500, True)]
    found = [signal_from(severity, length, has_metrics=has).value for length, has in given_]
    assert found == pytest.approx(MEASURED[severity])


@given(st.integers(-10, 100), st.integers(0, 10_000), st.booleans())
def test_lies_between_nothing_and_all(severity: int, length: int, has_metrics: bool) -> None:
    signal = signal_from(severity, length, has_metrics=has_metrics)
    assert 0 <= signal.value <= 1
    assert signal.value == max(0, min(1, sum(signal.parts.values())))


@pytest.mark.parametrize(("value", "whole"), [(0.35, 35), (0.3499, 34), (0.29, 29), (1.0, 100)])
def test_hundredths_are_rounded_down_but_not_by_an_error_of_arithmetic(
    value: float, whole: int
) -> None:
    assert hundredths(value) == whole
    assert hundredths(0.15 + 0.1 * 2) == 35


def event(**fields: Any) -> dict[str, Any]:
    return message("e", None, fields.get("text", ""), event=fields)


def test_a_stored_value_counts_and_is_held_against_the_formula() -> None:
    signal = signal_of(event(severity=2, text="x" * 160, signal=0.75))
    assert (signal.value, signal.stored, signal.agrees) == (0.75, 0.75, True)
    signal = signal_of(event(severity=2, text="", signal=0.99))
    assert (signal.value, signal.agrees) == (0.99, False)
    assert signal.formula == pytest.approx(0.35)


@pytest.mark.parametrize("odd", ["x", None, [], True, float("nan"), float("inf"), 10**400])
def test_what_is_no_number_is_no_signal(odd: object) -> None:
    signal = signal_of(event(severity=odd, signal=odd))
    assert 0 <= signal.value <= 1


def test_others_are_derived_the_same_way() -> None:
    said = signal_of(message("a", None, "x" * 40, role="assistant"))
    assert (said.stored, said.value) == (None, pytest.approx(0.45))
    used = message("a", None, "x" * 40, role="assistant")
    used["message"]["usage"] = {"input_tokens": 5}
    assert signal_of(used).value == pytest.approx(0.65)
    failed = message("a", None, "x" * 40, role="toolResult")
    assert severity_of(failed) == 3
    failed["message"]["is_error"] = True
    assert severity_of(failed) == 5


def test_facets_are_what_an_event_tells() -> None:
    told = facets_of(event(kind="note", stage="act", tags=["a", 7], metrics={"ms": 1}))
    assert told == ("event:note", "stage:act", "tag:a", "metric:ms")
    assert facets_of(event(kind=7, stage=None, tags="x", metrics=[1])) == ()
    assert facets_of(message("a", None, "text")) == ()


def signals(*records: dict[str, Any], nested: bool = False) -> Signals:
    session = read(log_of(records, header=HEADER | {"nested": nested}))
    *_, (done, found) = read_signals(session)
    assert found is not None and done == len(records)
    return found


def test_a_threshold_parts_a_session() -> None:
    found = signals(message("a", None, ""), message("b", "a", "x" * 160), message("c", "b", "x"))
    assert found.above(36).tolist() == [1]
    assert found.above(35).tolist() == [0, 1, 2]
    assert found.is_derived


def test_a_group_is_worth_what_it_holds() -> None:
    group = {"type": "x:run", "id": "g", "parentId": None, "title": "run", "data": {}}
    inside = message("a", "g", "", event={"severity": 1, "signal": 0.25})
    found = signals(group, inside, nested=True)
    assert np.isnan(found.values[0]) and found.values[1] == 25
    assert not found.is_derived
