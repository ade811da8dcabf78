"""A token that may not do all: what is kept from it is said, what it may not change is refused, and
nothing is written, with exit code 2 and one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tau_browser.actions import reading as readings
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Change
from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making


@pytest.fixture(autouse=True)
def nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests have just written counts as written long ago."""
    monkeypatch.setattr(readings, "_STILL", 0)


class Guest:
    """Somebody with a token, and somebody else."""

    def __init__(self, making: Making) -> None:
        self._making = making
        self._me, self._other = (
            making.request("POST", "/access/principals", json={"name": name})["id"]
            for name in ("guest", "other")
        )
        made = making.request("POST", f"/access/principals/{self._me}/tokens", json={"label": "x"})
        self.token: str = made["token"]

    def may_read(self, document: int) -> None:
        """The guest may look at a document and what is below it, and not change that."""
        self._grant(document, self._me)

    def may_not_see(self, document: int) -> None:
        """It is somebody else's."""
        self._grant(document, self._other)

    def _grant(self, document: int, principal: Any) -> None:
        grant = {"principal_id": principal, "level": "read"}
        self._making.request("POST", f"/access/documents/{document}/grants", json=grant)


@pytest.fixture
def guest(
    making: Making, appliance: Appliance, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Guest:
    guest = Guest(making)
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", guest.token)
    return guest


def stored(appliance: Appliance) -> str:
    return appliance.sql("SELECT count(*), max(id), max(updated_at) FROM documents")


CHANGES = [
    ("rename", "{root}", "a name"),
    ("prune", "{root}", "{entry}", "--in-place", "--confirm", "1"),
    ("enrich", "{root}"),
]


@pytest.mark.parametrize("words", CHANGES, ids=lambda words: words[0])
def test_what_may_only_be_read(
    run: Run, guest: Guest, making: Making, appliance: Appliance, words: tuple[str, ...]
) -> None:
    root, _, entry = making.chain("a question of some length", "an answer of some length")
    guest.may_read(root)
    before = stored(appliance)
    told = run(words[0], "--store", "jmfts", *(w.format(root=root, entry=entry) for w in words[1:]))
    assert told.code == 2, told
    # a word of ours, or what the server says where it has no model
    said = told.out + told.err
    assert any(w in said for w in ("not open to changes with this token", "does not allow it"))
    assert "may be gone" not in said and "is left on the server" not in said
    assert guest.token not in said and stored(appliance) == before


def test_it_may_be_copied(run: Run, guest: Guest, making: Making) -> None:
    root, *_ = making.chain("a", "b")
    guest.may_read(root)
    assert run("fork", "--store", "jmfts", str(root), "--force").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("show", "{root}"),
        ("find", "{root}", "x"),
        ("recalls", "{root}"),
        ("export", "{root}"),
        ("label", "{root}"),
        ("fork", "{root}"),
        ("prune", "{root}", "{entry}"),
        *CHANGES,
    ],
    ids=lambda words: " ".join(words[::3]),
)
def test_what_is_hidden(
    run: Run, guest: Guest, making: Making, appliance: Appliance, words: tuple[str, ...]
) -> None:
    root, _, entry = making.chain("a", "b")
    guest.may_not_see(root)
    before = stored(appliance)
    told = run(words[0], "--store", "jmfts", *(w.format(root=root, entry=entry) for w in words[1:]))
    assert (told.code, told.out) == (2, ""), told
    assert f"Document {root} not found, or it is not open to this token" in told.err
    assert stored(appliance) == before
    assert run("ls", "--store", "jmfts").code == 1


def test_what_is_hidden_within_a_conversation_is_counted_and_it_is_left_alone(
    run: Run, guest: Guest, making: Making, appliance: Appliance, tmp_path: Path
) -> None:
    root, _, secret, _ = making.chain("a", "a secret", "c")
    guest.may_not_see(secret)
    store = JmftsStore(appliance.url, guest.token, tmp_path / "cache")
    for _ in range(2):  # from the server, and as it was kept
        opened = store.open(str(root))
        *_, last = opened.load()
        assert last.session is not None and len(last.session) == 1
        assert opened.flaws == ["2 documents of it not open to this token"]
        assert last.session.diagnostics[0].reason == opened.flaws[0]
    assert opened.check() in (Change.NONE, Change.GREW)
    store.close()
    for words in (["fork"], ["rename", "x"]):
        told = run(words[0], "--store", "jmfts", str(root), *words[1:])
        assert told.code == 2 and "2 documents of it not open to this token" in told.out
