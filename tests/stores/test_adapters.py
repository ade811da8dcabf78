"""The door through which adapters come in."""

from __future__ import annotations

import importlib.metadata
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import tau_browser
from tau_browser.stores import adapters
from tau_browser.stores.store import StoreError
from tau_browser.stores.tau_file import TauFileStore

Install = Callable[[str], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Pretends that a package is installed which registers this value as the adapter "other"."""

    def register(value: str) -> None:
        entry = importlib.metadata.EntryPoint("other", value, adapters.GROUP)
        found = importlib.metadata.EntryPoints([entry])
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: found)

    return register


@pytest.mark.parametrize("name", [adapters.TAU, adapters.JMFTS])
def test_own_adapters_are_those_that_the_package_registers(name: str) -> None:
    project = tomllib.loads((Path(tau_browser.__file__).parents[1] / "pyproject.toml").read_text())
    registered = project["project"]["entry-points"][adapters.GROUP]
    own = adapters.adapter(name)
    assert own.name == name and registered[name] == f"{own.__module__}:{own.__name__}"


def test_own_adapter_needs_no_look_at_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(importlib.metadata, "entry_points")
    assert adapters.adapter("tau") is TauFileStore


def test_adapter_of_another_package(install: Install) -> None:
    install("collections:OrderedDict")
    assert adapters.adapter("other").__name__ == "OrderedDict"


def test_unknown_name_says_which_there_are(install: Install) -> None:
    install("collections:OrderedDict")
    with pytest.raises(
        StoreError, match="no store is called 'x'; installed are: jmfts, other, tau"
    ):
        adapters.adapter("x")


def test_adapter_that_cannot_be_imported_is_said(install: Install) -> None:
    install("no_such_package:Store")
    with pytest.raises(StoreError, match="the store 'other' cannot be used: No module named"):
        adapters.adapter("other")
