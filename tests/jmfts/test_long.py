"""A conversation so long that its answer is mostly paths."""

from __future__ import annotations

import tracemalloc

import pytest

from tau_browser.stores.jmfts import opened
from tau_browser.stores.jmfts.store import JmftsStore
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import deep_chain

_DEEP = 2000


def test_memory_follows_the_entries_and_not_the_answer(
    store: JmftsStore, appliance: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "_WINDOW", 1000)
    root = deep_chain(appliance, _DEEP)
    store.about()  # what a first request loads
    tracemalloc.start()
    steps = list(store.open(str(root)).load())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    early, session = (step.session for step in steps if step.session is not None)
    assert len(early) == 1000 and len(session) == _DEEP
    assert session.text(_DEEP - 1) == f"step {_DEEP}" and session.leaf == _DEEP - 1
    assert int(session.tree.depth[-1]) == _DEEP
    assert peak < max(step.done for step in steps) / 2
