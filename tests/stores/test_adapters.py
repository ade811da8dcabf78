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


def test_own_adapter_is_the_one_that_the_package_registers() -> None:
    project = tomllib.loads((Path(tau_browser.__file__).parents[1] / "pyproject.toml").read_text())
    registered = project["project"]["entry-points"][adapters.GROUP]
    assert adapters.adapter(adapters.TAU) is TauFileStore
    assert registered[TauFileStore.name] == f"{TauFileStore.__module__}:TauFileStore"


def test_own_adapter_needs_no_look_at_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(importlib.metadata, "entry_points")
    assert adapters.adapter("tau") is TauFileStore


def test_adapter_of_another_package(install: Install) -> None:
    install("collections:OrderedDict")
    assert adapters.adapter("other").__name__ == "OrderedDict"


def test_unknown_name_says_which_there_are(install: Install) -> None:
    install("collections:OrderedDict")
    with pytest.raises(StoreError, match="no store is called 'x'; installed are: other, tau"):
        adapters.adapter("x")


def test_adapter_that_cannot_be_imported_is_said(install: Install) -> None:
    install("no_such_package:Store")
    with pytest.raises(StoreError, match="the store 'other' cannot be used: No module named"):
        adapters.adapter("other")
