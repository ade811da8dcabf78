"""Tokens and cost, against sums made entry by entry."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tau_browser.model.columns import Flag
from tau_browser.model.context import config_at
from tau_browser.model.outline import outline_of
from tau_browser.model.payload import Record, message_of
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE
from tau_browser.model.usage import (
    BUCKETS,
    Ledger,
    Prices,
    Spend,
    Tokens,
    config_models,
    estimate_tokens,
)
from tests.conftest import DATA, load, log_of, message, read

FIXTURES = sorted((DATA / "tau").glob("*.jsonl"))
PRICES: Prices = {
    "scripted": {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75},
    "cheap": {"input": 1.0, "output": 2.0, "cache_read": 0.5, "cache_write": 0.25},
}


@pytest.fixture(params=FIXTURES, ids=lambda path: path.stem)
def session(request: pytest.FixtureRequest) -> Session:
    return load(request.param)


def answer(
    entry_id: str, parent: str | None, tokens: tuple[int, ...] = (), **fields: Any
) -> Record:
    """An assistant entry with a stored usage: one number per bucket."""
    record = message(entry_id, parent, "x", "assistant", **fields)
    names = [f"{bucket}_tokens" for bucket in BUCKETS]
    record["message"]["usage"] = dict(zip(names, tokens, strict=False))
    return record


def config(entry_id: str, parent: str | None, **data: Any) -> Record:
    return {
        "type": "customEntry",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "customType": "config",
        "data": data,
    }


def ledger_of(*records: Record, prices: Prices = PRICES) -> tuple[Session, Ledger]:
    session = read(log_of(records))
    return session, Ledger(session, prices)


def subtree(ledger_and_session: tuple[Session, Ledger], entry_id: str) -> Spend:
    session, ledger = ledger_and_session
    return ledger.subtree(session.find(entry_id)[0])


def stored_tokens(record: Record) -> list[int]:
    """What one entry says that it used, read plainly."""
    usage = message_of(record).get("usage") or record.get("summaryUsage") or {}
    return [usage.get(f"{bucket}_tokens", 0) for bucket in BUCKETS]


def plain_sum(session: Session, places: list[int]) -> Spend:
    """The same as a ledger's sums, one entry after the other."""
    tokens, numbers, priced = [0, 0, 0, 0], Counter[str](), 0.0
    for place in places:
        used = stored_tokens(session.record(place))
        if not any(used):
            continue
        if session.has(place, Flag.COPIED):
            numbers["copies"] += 1
            continue
        numbers["entries"] += 1
        tokens = [one + other for one, other in zip(tokens, used, strict=True)]
        price = PRICES.get(config_at(session, place).get("model", ""))
        if price is None:
            numbers["unpriced"] += 1
        else:
            priced += (
                sum(price[name] * count for name, count in zip(BUCKETS, used, strict=True))
                / 1_000_000
            )
    return Spend(
        Tokens(*tokens), priced, numbers["entries"], numbers["unpriced"], numbers["copies"]
    )


def assert_same(spend: Spend, expected: Spend) -> None:
    assert spend.tokens == expected.tokens
    assert spend.priced == pytest.approx(expected.priced)
    assert (spend.entries, spend.unpriced, spend.copies) == (
        expected.entries,
        expected.unpriced,
        expected.copies,
    )


def test_subtrees_add_up(session: Session) -> None:
    ledger, tree = Ledger(session, PRICES), session.tree
    for place in range(0, len(session), 1 + len(session) // 40):
        start = int(tree.position[place])
        below = tree.order[start : start + int(tree.size[place])].tolist()
        assert_same(ledger.subtree(place), plain_sum(session, below))


def test_turns_add_up(session: Session) -> None:
    ledger, outline = Ledger(session, PRICES), outline_of(session.tree, session.is_user)
    turns: dict[int, list[int]] = {}
    for place, turn in enumerate(outline.turn.tolist()):
        turns.setdefault(turn, []).append(place)
    for turn, places in list(turns.items())[:40]:
        spend = ledger.turn(places[-1])
        if turn == NOWHERE:
            assert spend is None
        else:
            assert spend is not None
            assert_same(spend, plain_sum(session, places))


def test_an_entry_tells_its_own_usage(session: Session) -> None:
    ledger = Ledger(session, PRICES)
    for place in range(0, len(session), 1 + len(session) // 40):
        used = stored_tokens(session.record(place))
        spend = ledger.entry(place)
        assert spend.tokens == Tokens(*used)
        assert spend.entries == any(used)


def test_the_models_in_force_are_those_of_each_path(session: Session) -> None:
    codes, names = config_models(session)
    for place in range(0, len(session), 1 + len(session) // 40):
        code = int(codes[place])
        expected = config_at(session, place).get("model")
        assert (names[code] if code != NOWHERE else None) == expected


def test_a_branch_that_was_copied_is_paid_for_once() -> None:
    session = load(DATA / "tau" / "06-branch-copy-paste.jsonl")
    ledger = Ledger(session, PRICES)
    whole = ledger.subtree(session.tree.roots[0])
    assert (whole.entries, whole.copies) == (6, 5)
    assert whole.tokens == Tokens(input=6 * 120, output=6 * 40)
    copy = session.find("0e40c1e3")[0]
    assert ledger.entry(copy).tokens == Tokens(120, 40)
    assert ledger.subtree(copy).entries == 0


def test_the_two_lines_of_an_answer_are_one_entry() -> None:
    placeholder = message("a", None, role="assistant", status="incomplete")
    assert subtree(ledger_of(placeholder, answer("a", None, (7, 1))), "a").tokens == Tokens(7, 1)


def test_a_summary_is_paid_for_by_its_compaction() -> None:
    session = load(DATA / "tau" / "03-compaction.jsonl")
    ledger = Ledger(session, PRICES)
    assert ledger.entry(session.find("47944e93")[0]).tokens == Tokens(900, 50)


def test_cost_is_that_of_each_bucket() -> None:
    books = ledger_of(config("c", None, model="scripted"), answer("a", "c", (100, 10, 1000, 4)))
    spend = subtree(books, "c")
    assert spend.cost == pytest.approx((100 * 3 + 10 * 15 + 1000 * 0.3 + 4 * 3.75) / 1e6)


def test_each_branch_has_the_price_of_its_own_model() -> None:
    books = ledger_of(
        config("c", None, model="scripted"),
        message("u", "c", "hi"),
        config("left", "u", model="cheap"),
        answer("one", "left", (1_000_000, 0)),
        answer("two", "u", (1_000_000, 0)),
    )
    assert subtree(books, "left").cost == pytest.approx(1.0)
    assert subtree(books, "two").cost == pytest.approx(3.0)
    assert subtree(books, "c").cost == pytest.approx(4.0)


def test_a_legacy_log_names_its_model_by_a_change() -> None:
    change = {"type": "model_change", "id": "m", "parentId": None, "model": "cheap"}
    books = ledger_of(change, answer("a", "m", (0, 1_000_000)))
    assert subtree(books, "m").cost == pytest.approx(2.0)


@pytest.mark.parametrize(
    "first",
    [
        config("c", None, model="unheard-of"),
        config("c", None, model=None),
        config("c", None, thinking="high"),
        {"type": "customEntry", "id": "c", "parentId": None, "customType": "agent_spec"}
        | {"data": {"model": {"id": "scripted"}}},
    ],
    ids=["unknown", "null", "unset", "a wire model"],
)
def test_without_a_price_the_cost_is_unknown(first: Record) -> None:
    spend = subtree(ledger_of(first, answer("a", "c", (10, 10))), "c")
    assert spend.cost is None
    assert (spend.entries, spend.unpriced, spend.priced) == (1, 1, 0.0)


def test_one_unknown_price_leaves_the_sum_unknown_and_the_rest_told() -> None:
    books = ledger_of(
        config("c", None, model="cheap"),
        answer("a", "c", (1_000_000, 0)),
        config("d", "a", model="other"),
        answer("b", "d", (1, 1)),
    )
    spend = subtree(books, "c")
    assert spend.cost is None
    assert (spend.entries, spend.unpriced) == (2, 1)
    assert spend.priced == pytest.approx(1.0)


def test_a_bucket_without_a_price_is_not_free() -> None:
    prices = {"cheap": {"input": 1.0, "output": 1.0}}
    records = [
        config("c", None, model="cheap"),
        answer("a", "c", (1, 1)),
        answer("b", "a", (1, 1, 5)),
    ]
    spend = subtree(ledger_of(*records, prices=prices), "c")
    assert (spend.cost, spend.unpriced, spend.entries) == (None, 1, 2)


def test_a_usage_of_zeros_is_none() -> None:
    spend = subtree(ledger_of(answer("a", None), answer("b", "a", (0, 0, 0, 0))), "a")
    assert spend == Spend(Tokens(), 0.0, 0, 0, 0)


@pytest.mark.parametrize("usage", [None, [], "many", {"input_tokens": "1"}, {"input_tokens": None}])
def test_an_odd_usage_counts_for_nothing(usage: Any) -> None:
    record = {"type": "compaction", "id": "a", "parentId": None, "summaryUsage": usage}
    odd = message("b", "a", "x", "assistant")
    odd["message"]["usage"] = usage
    assert subtree(ledger_of(record, odd), "a").tokens.total == 0


def test_an_empty_session_has_no_models() -> None:
    codes, names = config_models(read(log_of([])))
    assert (len(codes), names) == (0, [])


def test_a_long_chain_is_summed_without_a_look_at_each_entry() -> None:
    records = [config("c", None, model="cheap")]
    for number in range(3_000):
        records.append(answer(f"a{number}", records[-1]["id"], (1, 2, 3, 4)))
    session, ledger = ledger_of(*records)
    reads: list[int] = []
    ledger.subtree(0)
    session.source.read = lambda start, stop: reads.append(start) or b""  # type: ignore[method-assign]
    sizes = [ledger.subtree(place).tokens.total for place in range(0, 3_001, 100)]
    assert sizes == [10 * min(3_000, 3_001 - place) for place in range(0, 3_001, 100)]
    assert not reads


def test_an_estimate_is_a_quarter_of_the_characters() -> None:
    assert [estimate_tokens(length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_the_ledger_of_a_copied_turn() -> None:
    session = load(DATA / "tau" / "06-branch-copy-paste.jsonl")
    ledger = Ledger(session, PRICES)
    turns = np.unique(session.outline.turn)
    spends = [ledger.turn(int(turn)) for turn in turns if turn != NOWHERE]
    assert sum(spend.copies for spend in spends if spend) == 5
