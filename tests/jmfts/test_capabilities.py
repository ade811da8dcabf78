"""The contract of capabilities (tests/stores/test_capabilities.py), kept by a server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tau_browser.actions import reading as readings
from tau_browser.model.session import Session
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Capability
from tests.cli.conftest import Run
from tests.conftest import HEADER, log_of, message
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.stores.contract import listed, read
from tests.stores.samples import SAMPLES
from tests.stores.test_capabilities import HOLDS, VERBS

BY_REF = {capability: VERBS[capability] for capability in HOLDS} | {
    Capability.IMPORT: ["import", "{source}"]
}


@pytest.fixture(autouse=True)
def server(appliance: Appliance, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is set up, and what was just written counts as written long ago."""
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    monkeypatch.setattr(readings, "_STILL", 0)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A session of τ's, to be imported: a server takes no other."""
    path = tmp_path / "elsewhere" / "t9.jsonl"
    path.parent.mkdir()
    talk = [message("a", None, "brought along"), message("b", "a", "words", role="assistant")]
    path.write_bytes(log_of(talk, HEADER | {"id": "9" * 32}))
    return path


def conversations(store: JmftsStore) -> dict[str, Session]:
    """All that the server holds, by id."""
    return {name: read(store.open(item.path)) for name, item in listed(store).items()}


def said(sessions: dict[str, Session]) -> dict[str, list[bytes]]:
    """The entries of some conversations as they are stored."""
    return {name: [each.raw(at) for at in range(len(each))] for name, each in sessions.items()}


@pytest.mark.parametrize("capability", [*BY_REF], ids=lambda capability: capability.name)
def test_what_is_declared_is_done(
    capability: Capability, store: JmftsStore, making: Making, run: Run, source: Path
) -> None:
    assert capability in store.capabilities
    root, _, last = making.chain("words", "an answer")
    sample = replace(SAMPLES[0], prunable=str(last))
    before = conversations(store)
    (original,) = before.values()
    words = {"ref": str(root), "entry": sample.prunable, "source": str(source)}
    verb, *rest = [word.format(**words) for word in BY_REF[capability]]
    done = run(verb, "--store", "jmfts", *rest, "--json").json

    plan = done["plan"]
    assert plan["refusals"] == [] and done["change"]
    after = conversations(store)
    result = after[plan["session"]]
    assert not result.findings and len(result) == plan["after"]["entries"]
    HOLDS[capability](original, result, sample)
    if plan["way"] == "new":
        assert said(before).items() <= said(after).items() and len(after) == 2

    undone = run("undo", "--store", "jmfts", done["change"])
    assert undone.code == 0, undone.err
    again = conversations(store)
    assert again.keys() == before.keys()
    texts = [original.text(at) for at in range(len(original))]
    assert [again[original.id].text(at) for at in range(len(original))] == texts
