"""The servers that tests speak to: one without a model, one with, and an old one, each started
at first need.

All tests of this folder run in one process, whatever their number: they share the servers, and each
begins with an empty database.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tau_browser.actions import reading as readings
from tau_browser.actions.journal import Journal
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.stores.jmfts.store import JmftsStore
from tests.cli.conftest import home, run
from tests.environments import JMFTS, JMFTS_OLD, environment
from tests.jmfts.appliance import Appliance, start
from tests.jmfts.making import Making
from tests.jmfts.proxy import Proxy, proxy_before

__all__ = ["home", "run"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("jmfts"))


@pytest.fixture(scope="session")
def light_appliance() -> Iterator[Appliance]:
    appliance = start(environment(*JMFTS))
    yield appliance
    appliance.stop()


@pytest.fixture(scope="session")
def full_appliance() -> Iterator[Appliance]:
    appliance = start(environment(*JMFTS), embeddings=True)
    yield appliance
    appliance.stop()


@pytest.fixture(scope="session")
def old_appliance() -> Iterator[Appliance]:
    appliance = start(environment(*JMFTS_OLD, over=JMFTS))
    yield appliance
    appliance.stop()


@pytest.fixture
def appliance(light_appliance: Appliance) -> Appliance:
    """A server without a model, empty."""
    light_appliance.reset()
    return light_appliance


@pytest.fixture
def full(full_appliance: Appliance) -> Appliance:
    """A server that makes embeddings, empty."""
    full_appliance.reset()
    return full_appliance


@pytest.fixture
def old(old_appliance: Appliance) -> Appliance:
    """A server of the oldest version that we speak to, empty."""
    old_appliance.reset()
    return old_appliance


@pytest.fixture
def proxy(appliance: Appliance) -> Iterator[Proxy]:
    """What stands before the server without a model, and can spoil its answers."""
    with proxy_before(appliance.url) as proxy:
        yield proxy


@pytest.fixture
def server(proxy: Proxy, appliance: Appliance, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    """The server as the command finds it, behind the proxy."""
    monkeypatch.setenv("JMFTS_API_URL", proxy.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    monkeypatch.setattr(readings, "_STILL", 0)
    return proxy


@pytest.fixture
def store(appliance: Appliance, tmp_path: Path) -> Iterator[JmftsStore]:
    """The store on the server without a model."""
    store = JmftsStore(appliance.url, appliance.token, tmp_path / "cache")
    yield store
    store.close()


@pytest.fixture
def making(appliance: Appliance) -> Iterator[Making]:
    """What puts documents on the server without a model."""
    making = Making(appliance)
    yield making
    making.close()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state")


@pytest.fixture
def writer(store: JmftsStore) -> ServerWriter:
    return ServerWriter(store)
