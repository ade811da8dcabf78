"""A network that fails in every way: told, never taken for an answer, and nothing half done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tau_browser.actions import reading as readings
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.model.session import Session
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Listed, StoreError
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.jmfts.proxy import (
    Proxy,
    Spoil,
    drip,
    dropped_first,
    failing,
    reset_midway,
    too_short,
    truncated,
    unauthorised,
    whole,
)


@pytest.fixture
def far(appliance: Appliance, proxy: Proxy, tmp_path: Path) -> Iterator[JmftsStore]:
    """The store as seen through the proxy."""
    store = JmftsStore(proxy.url, appliance.token, tmp_path / "far")
    yield store
    store.close()


def load(store: JmftsStore, root: int) -> Session:
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    return last.session


FAULTS: list[tuple[Spoil, str]] = [
    (reset_midway, "cannot be reached: the connection broke"),
    (too_short, "cannot be reached: the connection broke"),
    (truncated, "does not send document|something that no JMFTS sends"),
    (failing, r"failed at GET .* \(500\): Internal Server Error"),
    (unauthorised, "rejects the token"),
]


@pytest.mark.parametrize(("spoil", "said"), FAULTS, ids=[spoil.__name__ for spoil, _ in FAULTS])
def test_spoilt_answers_are_told_and_never_shown(
    far: JmftsStore, proxy: Proxy, making: Making, spoil: Spoil, said: str
) -> None:
    root, *_ = making.chain(*"abcdefgh")
    proxy.spoil = spoil
    with pytest.raises(StoreError, match=said):
        list(far.scan())
    with pytest.raises(StoreError, match=said):
        load(far, root)
    proxy.spoil = whole
    assert len(list(far.scan())) == 1 and len(load(far, root)) == 8


@pytest.mark.parametrize(("spoil", "said"), FAULTS, ids=[spoil.__name__ for spoil, _ in FAULTS])
def test_what_is_kept_is_not_shown_while_the_server_cannot_be_asked(
    far: JmftsStore, proxy: Proxy, making: Making, spoil: Spoil, said: str
) -> None:
    root, *_ = making.chain(*"abc")
    load(far, root)
    proxy.spoil = spoil
    with pytest.raises(StoreError):
        load(far, root)


def test_dropped_connection_is_tried_again(far: JmftsStore, proxy: Proxy, making: Making) -> None:
    root, *_ = making.chain(*"abc")
    proxy.spoil = dropped_first
    assert len(load(far, root)) == 3


def test_slow_answer_is_read_to_its_end_and_can_be_given_up(
    far: JmftsStore, proxy: Proxy, making: Making
) -> None:
    root, *_ = making.chain(*"abc")
    proxy.spoil = drip
    loading = far.open(str(root)).load()
    next(loading)
    loading.close()
    assert len(load(far, root)) == 3


def test_server_that_goes_away_is_refused(far: JmftsStore, proxy: Proxy, making: Making) -> None:
    root, *_ = making.chain("a")
    item = next(item for item in far.scan() if isinstance(item, Listed))
    proxy.close()
    proxy.spoil = failing
    looked = far.look_into(item)
    assert not isinstance(looked, Listed) and "500" in looked.reason
    with pytest.raises(StoreError):
        load(far, root)


def test_token_that_is_revoked_midway_leaves_no_conversation(
    far: JmftsStore,
    store: JmftsStore,
    proxy: Proxy,
    making: Making,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readings, "_STILL", 0)
    root, *_ = making.chain(*"abc")
    journal, writer = Journal(tmp_path / "state"), ServerWriter(far)
    plan = plan_fork(writer.read(str(root), journal), ForkRequest(), writer)
    proxy.refused_after = proxy.answers + 3  # it was looked at, and its root and an entry are there
    with pytest.raises(StoreError, match=r"rejects the token.*left on the server") as raised:
        writer.apply(plan, journal)
    (left,) = store.unfinished()
    assert f"`tau-browse undo {left.change}` removes it" in str(raised.value)
    assert len(list(store.scan())) == 1
    proxy.refused_after = None
    writer.undo(journal.changes()[-1], journal)
    assert store.unfinished() == []


def test_creating_is_never_tried_twice(far: JmftsStore, proxy: Proxy, appliance: Appliance) -> None:
    from tau_browser.stores.jmfts import thread

    proxy.spoil = dropped_first
    body = {"title": "x", "usetype": "note", "auto_embed": False}
    with pytest.raises(JmftsError, match="the connection broke"):
        thread.run(far.client.create(body))
    assert appliance.sql("SELECT count(*) FROM documents").strip() == "1"
