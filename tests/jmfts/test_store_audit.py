"""The audit of a server's conversations: kept, and held against the server before it is shown."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tau_browser.audit.store_audit import Progress, audit_store
from tau_browser.config import Settings
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tests.audit.sessions import Doc, Story
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.jmfts.test_live import token_of
from tests.jmfts.test_replay import stored
from tests.tui.browsing import lines, press, settle, text


def recalling(making: Making, number: int, *docs: Doc) -> tuple[int, int, int]:
    """A conversation that recalls some documents: its root, its first and its last entry."""
    root, first = making.chain("What do we know?", id=f"{number:032x}")
    story = Story()
    story.search("lamp", *docs)
    above = first
    for seq, record in enumerate(story.records, 2):
        above = making.entry(above, seq, stored(record))
    return root, first, above


def audited(store: JmftsStore, cache: Path) -> Progress:
    """The last progress of an audit, with all that it came to."""
    last = list(audit_store(store, cache))[-1]
    assert last.audit is not None and not last.audit.unread
    return last


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The documents below which everything was asked for."""
    asked: list[int] = []
    subtree = Client.subtree

    def noted(self: Client, document: int, max_depth: int) -> AsyncGenerator[tuple[bytes, int]]:
        asked.append(document)
        return subtree(self, document, max_depth)

    monkeypatch.setattr(Client, "subtree", noted)
    return asked


def test_a_second_audit_reads_no_conversation(
    making: Making, store: JmftsStore, tmp_path: Path, read: list[int]
) -> None:
    roots = [recalling(making, number, Doc(7, "Lamp", "A lamp."))[0] for number in range(25)]
    cache = tmp_path / "cache"
    first = audited(store, cache)
    assert first.read == len(roots)
    assert read[: len(roots)] == roots[::-1]
    read.clear()
    shutil.rmtree(cache / "jmfts")  # what was read of them is not needed either
    again = audited(store, cache)
    assert (again.read, again.audit) == (0, first.audit)
    assert not set(read) & set(roots)


def test_what_changed_is_read_again_and_what_is_gone_is_forgotten(
    making: Making, store: JmftsStore, tmp_path: Path
) -> None:
    grown, _, last = recalling(making, 1, Doc(7, "Lamp", "A lamp."))
    gone, *_ = recalling(making, 2, Doc(7, "Lamp", "A lamp."))
    recalling(making, 3, Doc(7, "Lamp", "A lamp."))
    cache = tmp_path / "cache"
    audited(store, cache)
    making.message(last, 9, "It is [doc 7].", "assistant")
    making.request("DELETE", f"/documents/{gone}")
    again = audited(store, cache)
    assert again.read == 1
    assert again.audit is not None
    verdicts = {one.path: one.recalls[0].hits[0].verdict for one in again.audit.audits}
    assert verdicts[str(grown)] == "cited"
    assert str(gone) not in verdicts


def test_another_token_is_another_audit(
    making: Making, store: JmftsStore, appliance: Appliance, tmp_path: Path
) -> None:
    recalling(making, 1, Doc(7, "Lamp", "A lamp."))
    cache = tmp_path / "cache"
    audited(store, cache)
    stranger = JmftsStore(appliance.url, token_of(making, "stranger"), cache)
    assert audited(stranger, cache).read == 1
    assert audited(store, cache).read == audited(stranger, cache).read == 0
    stranger.close()


async def test_marks_count_the_sessions_that_were_audited(
    making: Making, store: JmftsStore, tmp_path: Path
) -> None:
    root, first, _ = recalling(making, 1, Doc(7, "Lamp", "A lamp."))
    _, _, above = recalling(making, 2, Doc(first, "message — 0001", "What do we know?"))
    making.message(above, 9, f"It is [doc {first}].", "assistant")
    app = BrowserApp(
        Target(store, str(root)), Settings(Path("config.toml")), {}, cache_folder=tmp_path / "cache"
    )
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "plus", "g")
        assert "1 hit, use unknown" in text(app)
        assert "recalled" not in text(app)
        await press(pilot, "a", "w", "w", "escape", "j", "k")
        assert "recalled 1x, used 1x (1 of 2 audited sessions)" in lines(app)[-2]
        await press(pilot, "z")
        assert "recalled 1x, used 1x (1 of 2 audited sessions)" in lines(app)[1]
        await press(pilot, "r", "g")
        assert "recalled 1x, used 1x (1 of 2 audited sessions)" in lines(app)[1]
