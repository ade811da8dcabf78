"""How entries stand in conversations that are not read: as they do when these are."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tau_browser.model.context import states
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.search.filtering import Unjudged
from tau_browser.search.index.groups import models_of
from tau_browser.search.query import parse
from tau_browser.search.results import Asking, Results
from tau_browser.search.server.distant import Distant
from tau_browser.search.server.engine import ServerEngine
from tau_browser.search.server.holdings import Holdings
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.store import JmftsStore
from tests.jmfts.making import Making, message

_ENTRIES = 40


def _never() -> bool:
    return False


def distant(store: JmftsStore, cancelled: Callable[[], bool] = _never) -> Distant:
    holdings = Holdings(store)
    holdings.learn()
    return Distant(store.client, holdings, cancelled)


def payload(choose: random.Random, entry: int, known: list[int]) -> dict[str, Any]:
    """An entry of any kind that tells of how others stand."""
    stamp = {"timestamp": "2026-03-01T10:00:00Z"}
    match choose.randrange(12):
        case 0:
            data = choose.choice(
                [{"model": f"m{entry}"}, {"cwd": "/x"}, {"model_spec": {"id": "s"}}]
            )
            return {"type": "customEntry", "customType": "config", "data": data, **stamp}
        case 1:
            return {"type": "model_change", "model": f"n{entry}", "backend": "b", **stamp}
        case 2 | 3:
            kept = choose.choice([*map(str, known), None, "x", 7])
            kind = choose.choice(["compaction", "elide"])
            return {"type": kind, "summary": "so far", "firstKeptId": kept, **stamp}
        case 4:
            return {"type": "navigate", "targetId": str(choose.choice(known)), **stamp}
        case 5:
            return message(f"entry {entry}", "system")
        case 6:
            return message(f"entry {entry}", "assistant") | {"status": "incomplete"}
        case _:
            return message(f"entry {entry}", choose.choice(["user", "assistant"]))


def grown(making: Making, seed: int) -> int:
    """A conversation that grew at random, mostly on from its end."""
    choose = random.Random(seed)
    root = making.root(id=f"{seed:032x}")
    known = [making.message(root, 1, "entry 1")]
    for seq in range(2, _ENTRIES):
        over = known[-1] if choose.random() < 0.8 else choose.choice([root, *known])
        known.append(making.entry(over, seq, payload(choose, seq, known)))
    return root


def read(store: JmftsStore, root: int) -> Session:
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    return last.session


@pytest.mark.parametrize("seed", range(6))
def test_it_is_told_as_of_what_is_read(store: JmftsStore, making: Making, seed: int) -> None:
    root = grown(making, seed)
    making.chain("another", "written later", id="f" * 32)
    session = read(store, root)
    codes, names = models_of(session)
    asked = distant(store)
    expected = [
        (State(int(state)), names[model])
        for state, model in zip(states(session, session.leaf), codes, strict=True)
    ]
    assert len(set(expected)) > 2
    found = []
    for place in range(len(session)):
        document = thread.run(store.client.entry(int(session.entry_id(place))))
        path = [*document.path, document.id]
        found.append((asked.state(root, path, session.record(place)), asked.model(root, path)))
    assert found == expected


def test_what_was_written_long_ago_is_not_judged(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, first, second = making.chain("one", "two")
    record = read(store, root).record(0)
    assert distant(store).state(root, [root, first], record) is State.PATH
    monkeypatch.setattr("tau_browser.search.server.distant._NEWEST", 4)
    monkeypatch.setattr("tau_browser.search.server.distant._PAGE", 2)
    making.chain(*"abcd", id="f" * 32)
    with pytest.raises(Unjudged):
        distant(store).state(root, [root, first], record)
    making.message(second, 3, "three")
    assert distant(store).state(root, [root, first], record) is State.PATH


def test_what_a_sub_agent_did_is_not_judged(store: JmftsStore, making: Making) -> None:
    root, first, second = making.chain("one", "two")
    aside = making.entry(first, 3, message("aside", "assistant") | {"branchOf": "task"})
    making.message(second, 4, "three")
    record = read(store, root).record(2)
    assert record["branchOf"] == "task"
    with pytest.raises(Unjudged):
        distant(store).state(root, [root, first, aside], record)


def test_nothing_is_asked_once_it_is_cancelled_or_was_asked_too_often(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, first = making.chain("one")
    record = read(store, root).record(0)
    cancelled = distant(store, lambda: True)
    with pytest.raises(Unjudged):
        cancelled.state(root, [root, first], record)
    with pytest.raises(Unjudged):
        cancelled.model(root, [root, first])
    monkeypatch.setattr("tau_browser.search.server.distant._REQUESTS", 1)
    with pytest.raises(Unjudged):
        distant(store).model(root, [root, first])


def test_of_too_many_documents_of_a_kind_nothing_is_told(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, first = making.chain("one")
    data = {"type": "model_change", "model": "opus", "timestamp": "2026-03-01T10:00:00Z"}
    second = making.entry(first, 2, data)
    assert distant(store).model(root, [root, first, second]) == "opus"
    monkeypatch.setattr("tau_browser.search.server.distant._MOST", 1)
    with pytest.raises(Unjudged):
        distant(store).model(root, [root, first, second])


@pytest.mark.parametrize("query", ["branch:active", "branch:abandoned", "branch:folded", "model:n"])
def test_filters_find_the_same_in_long_conversations_as_in_short_ones(
    store: JmftsStore,
    making: Making,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
) -> None:
    def found() -> Results:
        return ServerEngine(store, tmp_path).answer(Asking(parse(f"entry {query}"), limit=100))

    for seed in range(4):
        grown(making, seed)
    monkeypatch.setattr("tau_browser.stores.jmfts.store._LOOKED_INTO", 2)
    long = found()
    monkeypatch.undo()
    short = found()
    assert {hit.entry for hit in long.hits} == {hit.entry for hit in short.hits}
    assert short.hits and not any("not judged" in remark for remark in long.remarks)
