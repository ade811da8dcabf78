"""The menu of what is made for the memory of agents: what it offers, and what comes of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tau_browser.actions.draft import line_of
from tau_browser.actions.observe.capture import Capture
from tau_browser.config import Settings
from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.browser import BrowserScreen
from tau_browser.tui.memory_menu import MemoryMenu
from tau_browser.tui.plan.screen import PlanScreen
from tests.actions.observe.sessions import call, calls, held, write
from tests.conftest import DATA
from tests.tui.browsing import MEDIUM, WIDE, browse, home_in, press, settle, text, tree, until

ROOT = DATA / "aethergraph" / "a1-root"
RUN = f"{ROOT}#run:run-20260303-2"
CORPUS = f"{ROOT}#corpus:rag/rag_corpora/docs-ZGVzaWdu"
TAU = DATA / "tau" / "03-compaction.jsonl"
ROOMY = (120, 40)
SECRET = "ghp_0123456789abcdefghij0123456789abcdef"


def aethergraph(path: str) -> BrowserApp:
    target = Target(AethergraphStore([str(ROOT)]), path)
    return BrowserApp(target, Settings(Path("config.toml"), keys={}), {})


async def typed(pilot: Pilot[None], answer: str) -> None:
    """Answer a question in place of what stands there."""
    await press(pilot, "ctrl+u", *answer, "enter")


# The menu


async def test_says_what_cannot_be_done_here_and_why() -> None:
    app = browse(TAU, TAU)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M")
        shown = text(app)
        assert "distill   a digest of the last turns" in shown
        assert shown.count("not here: this is no corpus of an aethergraph workspace") == 2
        await press(pilot, "s")
        assert isinstance(app.screen, MemoryMenu)
        await press(pilot, "escape")
        assert isinstance(app.screen, BrowserScreen)


async def test_without_a_server_nothing_is_promoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JMFTS_API_URL", raising=False)
    app = browse(TAU, TAU)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M")
        assert "not here: no JMFTS server is named: give --url" in text(app)
        await press(pilot, "p", "escape", "ctrl+p", *"promote", "enter")
        assert "no JMFTS server is named" in text(app)
        await press(pilot, "M", "d")
        assert "corpus" not in text(app)


async def test_a_promotion_begins_with_the_filters_of_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JMFTS_API_URL", "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.setenv("JMFTS_API_TOKEN", "any")
    app = browse(home_in(tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "s", *"retry role:user since:2020-01-01", "enter")
        await press(pilot, "enter")
        assert isinstance(app.screen, BrowserScreen) and len(tree(app).hits)
        await press(pilot, "M", "p", *"lessons", "enter")
        assert "cannot be done" in text(app) and "2 the " in text(app)
        await press(pilot, "f")
        assert "filter role:user " in text(app)


async def test_a_corpus_can_be_kept_and_compacted() -> None:
    app = aethergraph(CORPUS)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M")
        assert "snapshot  this corpus with hashes" in text(app)
        assert "aethergraph workspace" not in text(app)


async def test_keys_of_ones_own_choose_in_the_menu() -> None:
    app = browse(TAU, TAU, keys={"distill": "x", "memory": "f7"})
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "f7")
        assert re.search(r" x +distill ", text(app))
        await press(pilot, "x")
        assert "rolling digest" in text(app)


async def test_the_palette_finds_each_verb() -> None:
    app = browse(TAU, TAU)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        names = {command.title for command in app.get_system_commands(app.screen)}
        assert {"memory", "distill", "promote", "snapshot", "compact", "observe"} <= names
        await press(pilot, "ctrl+p", *"snapshot", "enter")
        assert "this is no corpus of an aethergraph workspace" in text(app)


# Digests


async def test_a_digest_of_the_last_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = aethergraph(RUN)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "d")
        assert "rolling digest of run-20260303-2: turns 10" in text(app)
        assert "covers 3 of 5 entries; left out: 2 already a digest" in text(app)
        assert "3 sources, oldest first" in text(app)
        await press(pilot, "n")
        await typed(pilot, "1")
        assert "turns 1," in text(app) and "1 source, oldest first" in text(app)
        assert list(tmp_path.glob("*.md")) == []
        await press(pilot, "enter")
        assert isinstance(app.screen, BrowserScreen)
        (made,) = tmp_path.glob("*.md")
        assert "User: thanks" in made.read_text()
        await press(pilot, "u", "enter")
        assert not made.exists()


async def test_a_digest_of_the_tool_under_the_cursor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = aethergraph(RUN)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        view = tree(app)
        assert view.session is not None
        await press(pilot, "plus")
        view.go_to(view.session.find("c74f01f5b632cbcef226f015")[0])
        await settle(pilot)
        await press(pilot, "M", "d", "t", "enter", "J")
        assert "episode digest of run-20260303-2: tool tool.fetch" in text(app)
        await press(pilot, "enter")
        (made,) = tmp_path.glob("*.json")
        told = json.loads(made.read_bytes())
        assert told["asked"]["tool"] == "tool.fetch" and len(told["sources"]) == 3


async def test_a_digest_of_what_hangs_below_the_marked_and_has_the_signal() -> None:
    app = aethergraph(RUN)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        view = tree(app)
        assert view.session is not None
        view.go_to(view.session.find("node:run-20260303-2:fetch")[0])
        await settle(pilot)
        await press(pilot, "space", "g", "v", "v", "M", "d", "b")
        assert "under node:run-20260303-2:fetch, signal from 0.3" in text(app)
        await press(pilot, "v")
        await typed(pilot, "0.99")
        assert "covers 1 of 3 entries; left out: 2 below the signal" in text(app)
        await press(pilot, "v")
        await typed(pilot, "0")
        assert "3 sources, oldest first" in text(app) and "signal from" not in text(app)
        await press(pilot, "v")
        await typed(pilot, "much")
        assert "refused: much: give a signal from 0 to 1" in text(app)
        await press(pilot, "c")
        await typed(pilot, "0")
        assert "refused: 0: give a whole number from 1" in text(app)
        await press(pilot, "n")
        await typed(pilot, "2")
        assert "rolling digest" in text(app) and "refused" not in text(app)


# Corpora


async def test_a_snapshot_is_shown_then_written_then_taken_back(tmp_path: Path) -> None:
    app = aethergraph(CORPUS)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "s")
        await typed(pilot, str(tmp_path / "none" / "kept"))
        assert "no such folder" in text(app)
        await press(pilot, "o")
        await typed(pilot, str(tmp_path / "kept"))
        assert "snapshot of corpus docs:design: 2 documents, 4 chunks" in text(app)
        assert "refused" not in text(app) and not (tmp_path / "kept").exists()
        await press(pilot, "enter")
        assert (tmp_path / "kept" / "snapshot.json").exists()
        await press(pilot, "u", "enter")
        assert not (tmp_path / "kept").exists()


async def test_compacting_shows_what_is_left_out(tmp_path: Path) -> None:
    app = aethergraph(CORPUS)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "c")
        await typed(pilot, str(tmp_path / "new"))
        assert "left out: 1 record" in text(app)
        assert "chunk: its document has this text" in text(app)
        await press(pilot, "escape")
        assert list(tmp_path.glob("new")) == []


# Captures


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """A session that is being written, with three calls so far."""
    return write(tmp_path / "s" / "live.jsonl", calls(3))


async def test_a_capture_is_shown_then_goes_on_until_it_is_ended(
    live: Path, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    app = browse(live.parent, live)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "o", *str(repo), "enter")
        shown = text(app)
        assert "capture the tool calls of s1" in shown and "3 calls, oldest first" in shown
        assert "episodic: bash path=f0" in shown and "semantic: read path=f1" in shown
        await press(pilot, "n")
        await typed(pilot, "none")
        assert "refused: none: give a whole number from 1" in text(app)
        await press(pilot, "n")
        await typed(pilot, "100")
        assert "3 calls, oldest first" in text(app) and not repo.exists()
        await press(pilot, "enter")
        await until(pilot, "capturing: 3 calls captured, 3 to commit, 0 commits · M o ends it")
        with live.open("ab") as log:
            log.write(b"".join(line_of(entry) for entry in call(3, "bash", {}, SECRET)))
        await until(pilot, "4 calls captured, 4 to commit, 0 commits, 1 secret hidden")
        await press(pilot, "M")
        assert "end the capture: 4 calls captured" in text(app)
        await press(pilot, "o")
        await until(pilot, "the capture ended: 4 calls captured, 1 commit, 1 secret hidden")
        assert "? keys · / find" in text(app)
        assert len(held(repo)) == 4
        await press(pilot, "M", "o", "enter")
        assert "4 calls captured already" in text(app) and "oldest first" not in text(app)


async def test_all_sessions_are_captured_too(live: Path, tmp_path: Path) -> None:
    write(live.parent / "other.jsonl", call(7, "read", {"path": "other"}, "text"), "s2")
    app = browse(live.parent, live)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "o", *str(tmp_path / "repo"), "enter", "a")
        assert "capture the tool calls of all 2 sessions of" in text(app)
        await press(pilot, "n")
        await typed(pilot, "2")
        await press(pilot, "enter")
        await until(pilot, "capturing: 4 calls captured, 2 commits")
        await press(pilot, "M", "o")
        await until(pilot, "the capture ended: 4 calls captured, 2 commits")


async def test_a_repository_that_cannot_be_captured_into_says_why(
    live: Path, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    app = browse(live.parent, live)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "o", *str(live.parent), "enter")
        assert "no repository of agmem's and not empty" in text(app)
        await press(pilot, "o")
        await typed(pilot, str(repo))
        with Capture(repo):
            await press(pilot, "enter")
            assert f"process {os.getpid()} captures into this" in text(app)
            assert isinstance(app.screen, PlanScreen)


async def test_a_capture_that_fails_says_so(live: Path, tmp_path: Path) -> None:
    app = browse(live.parent, live)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "M", "o", *str(tmp_path / "repo"), "enter", "enter")
        await until(pilot, "capturing: 3 calls captured")
        shutil.rmtree(tmp_path / "repo" / "current")
        (tmp_path / "repo" / "current").touch()
        with live.open("ab") as log:
            log.write(b"".join(line_of(entry) for entry in call(3, "bash", {}, "done")))
        await until(pilot, "the capture failed: ")
        assert "? keys · / find" in text(app)


# Pictures


@pytest.mark.parametrize("size", [ROOMY, MEDIUM], ids=["roomy", "medium"])
def test_picture_of_the_menu(
    size: tuple[int, int], snap_compare, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("JMFTS_API_URL", "http://127.0.0.1:8100")
    monkeypatch.setenv("JMFTS_API_TOKEN", "any")

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await press(pilot, "M")

    assert snap_compare(browse(TAU, TAU), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [ROOMY, MEDIUM], ids=["roomy", "medium"])
@pytest.mark.parametrize(
    ("path", "keys"),
    [
        (RUN, ["d"]),
        (CORPUS, ["s", "enter"]),
        (CORPUS, ["c", "enter"]),
        (RUN, ["o", *"/agent-memory", "enter"]),
    ],
    ids=["distill", "snapshot", "compact", "observe"],
)
def test_picture_of_a_preview(
    path: str,
    keys: list[str],
    size: tuple[int, int],
    snap_compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir("/")

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await press(pilot, "M", *keys)

    assert snap_compare(aethergraph(path), terminal_size=size, run_before=before)
