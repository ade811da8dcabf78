"""The audit screen: what it lists and proves, where its keys lead; and the marks in the tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tau_browser.audit.memory import Answer, Document
from tau_browser.cli import main as cli
from tau_browser.stores.store import StoreError
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.audit.evidence_view import SideView
from tau_browser.tui.audit.hits_view import HitsView
from tau_browser.tui.audit.recalls_view import RecallsView
from tau_browser.tui.audit.screen import AuditScreen
from tau_browser.tui.audit.totals_screen import TotalsScreen
from tau_browser.tui.bar import Bar
from tau_browser.tui.browser import BrowserScreen
from tests.audit.labelled import STORIES
from tests.audit.sessions import Doc, Story
from tests.conftest import DATA
from tests.tui.browsing import MEDIUM, SMALL, WIDE, browse, chosen, lines, press, settle, text
from tests.tui.test_screens import Compare, pressing

RECALL = DATA / "tau" / "20-recall-file-backed.jsonl"
EXPORTED = DATA / "tau" / "22-recall-jmfts-exported.jsonl"


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for at, tell in enumerate(STORIES):
        (folder / f"{at:02}.jsonl").write_bytes(tell().log)
    return folder


def opened(path: Path, **options: object) -> BrowserApp:
    return browse(path, path, **options)


def screen(app: BrowserApp) -> AuditScreen:
    assert isinstance(app.screen, AuditScreen)
    return app.screen


def status(app: BrowserApp) -> str:
    return screen(app).query_one("#audit-status", Bar).text


def marked(app: BrowserApp) -> list[list[str]]:
    """The marked words of each side."""
    sides = [view.side for view in screen(app).query(SideView)]
    return [[s.text[start:stop] for start, stop in s.marks] if s else [] for s in sides]


async def test_the_evidence_of_a_citation_and_of_shared_words() -> None:
    app = opened(RECALL)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a")
        assert marked(app) == [["doc 2"], ["doc 2"]]
        await press(pilot, "e")
        assert marked(app)[0] == ["exponential", "full", "jitter", "base", "200"]
        assert {word.lower() for word in marked(app)[1]} >= {"exponential", "200"}
        await press(pilot, "tab", "j")
        assert "unused" in screen(app).query_one("#proof-side-title", Bar).text


@pytest.mark.parametrize(
    ("keys", "entry"),
    [
        (("enter",), "f3623242"),  # the call
        (("tab", "enter"), "f1e7e421"),  # the result
        (("tab", "tab", "tab", "enter"), "8349e013"),  # the answer that cites
    ],
    ids=["recall", "hit", "evidence"],
)
async def test_enter_goes_to_the_entry_in_its_tree(keys: tuple[str, ...], entry: str) -> None:
    app = opened(RECALL)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", *keys)
        assert isinstance(app.screen, BrowserScreen)
        assert chosen(app) == entry


async def test_a_hit_that_is_an_entry_leads_to_it() -> None:
    app = opened(EXPORTED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "tab", "enter")
        assert chosen(app) == "11"


async def test_marks_in_the_tree() -> None:
    app = opened(EXPORTED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus")
        shown = text(app)
        assert "↺ 8 hits, not used" in shown
        assert "↺ recalled 3x, not used" in shown
        assert "↺ wrote doc 24" in shown


async def test_other_sessions_are_audited_when_they_are_asked_for(stories: Path) -> None:
    app = browse(stories, stories / "00.jsonl")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a")
        assert status(app).startswith("1 recall · 2 of 4 hits used")
        await press(pilot, "w", "w")
        hits = sum(label != "" for tell in STORIES for label in tell().labels)
        assert f"of {hits} hits used" in status(app)
        recalls = screen(app).query_one(RecallsView)
        assert sum(row.recall is None for row in recalls.rows) == len(STORIES)
        await press(pilot, "end", "enter")
        assert isinstance(app.screen, BrowserScreen)
        assert app.screen._opened is not None
        path = recalls.rows[-1].audit.path
        assert app.screen._opened.path == path


async def test_the_list_is_filtered_and_sorted(stories: Path) -> None:
    app = browse(stories, stories / "00.jsonl")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "w", "w", "slash", *"mill contract", "enter")
        recalls = screen(app).query_one(RecallsView)
        assert [row.recall.query for row in recalls.rows if row.recall] == ["mill contract", ""]
        await press(pilot, "slash", "escape", "o", "o")
        unused = [
            sum(hit.verdict.value == "unused" for hit in row.recall.hits)
            for row in recalls.rows
            if row.recall and row.recall.action.value == "search"
        ]
        assert unused == sorted(unused, reverse=True)


async def test_sums_by_session_project_and_document(stories: Path) -> None:
    app = browse(stories, stories / "00.jsonl")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "w", "w", "v")
        assert isinstance(app.screen, TotalsScreen)
        assert "by session" in lines(app)[0]
        assert "hits by verdict" in text(app)
        await press(pilot, "v", "v", "o", "o")
        assert "by document · sorted by used" in lines(app)[0]
        assert lines(app)[2].startswith("doc 591 Clockmakers")
        await press(pilot, "slash", *"mill", "enter")
        assert "Contract with the mill" in lines(app)[2]
        await press(pilot, "escape")
        assert isinstance(app.screen, AuditScreen)


async def test_nothing_recalled() -> None:
    app = opened(DATA / "tau" / "01-linear-tools.jsonl")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a")
        assert "nothing was recalled" in text(app)
        await press(pilot, "enter", "e", "w", "escape")
        assert isinstance(app.screen, BrowserScreen)


async def test_hostile_text_is_drawn_as_text(tmp_path: Path) -> None:
    story = Story()
    evil = "[red]x[/red] \x1b[31m\u202e [link=x]"
    story.search(evil, Doc(1, evil, evil), Doc(2, f"a\n\n[doc 9] b {evil}", "c"))
    story.say(f"[doc 1] {evil}")
    path = tmp_path / "a.jsonl"
    path.write_bytes(story.log)
    app = opened(path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "tab", "v")
        assert "[red]x[/red]" in text(app) or isinstance(app.screen, TotalsScreen)
        await press(pilot, "escape")
        shown = text(app)
        assert "[red]x[/red]" in shown
        assert not set(shown) & {"\x1b", "\u202e"}


async def test_a_session_that_changes_is_audited_again(tmp_path: Path) -> None:
    story = Story()
    story.search("x", Doc(1, "One", "first"))
    path = tmp_path / "a.jsonl"
    path.write_bytes(story.log)
    app = opened(path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus")
        assert "1 hit, use unknown" in text(app)
        story.say("It is [doc 1].")
        path.write_bytes(story.log)
        await press(pilot, "r", "plus")
        assert "1 hit, used 1x" in text(app)
        await press(pilot, "a")
        assert screen(app).query_one(HitsView).selected is not None


def test_audit(snap_compare: Compare) -> None:
    assert snap_compare(opened(RECALL), terminal_size=WIDE, run_before=pressing("a"))


def test_audit_in_ascii_at_80x24(snap_compare: Compare) -> None:
    app = opened(RECALL, ascii_only=True)
    assert snap_compare(app, terminal_size=MEDIUM, run_before=pressing("a", "tab"))


def test_audit_at_40x12(snap_compare: Compare) -> None:
    before = pressing("a", "tab", "tab")
    assert snap_compare(opened(RECALL), terminal_size=SMALL, run_before=before)


def test_audit_of_all_sessions(snap_compare: Compare, stories: Path) -> None:
    app = browse(stories, stories / "08.jsonl", theme="textual-light")
    assert snap_compare(app, terminal_size=WIDE, run_before=pressing("a", "w", "w"))


def test_sums(snap_compare: Compare, stories: Path) -> None:
    app = browse(stories, stories / "00.jsonl")
    assert snap_compare(app, terminal_size=WIDE, run_before=pressing("a", "w", "w", "v"))


LAMP = "The lamp is cleaned every Tuesday, before the keeper has had his tea."
NOTES = {
    "own": Document("101", "user — 0001", "tau:message", LAMP, "", "100", "101"),
    "other": Document("904", "user — 0004", "tau:message", "Who cleans it?", "", "900", "904"),
    "same": Document("7", "Vinegar", "note", "Vinegar is good for glass.", ""),
    "changed": Document("8", "Brass", "note", "The brass is polished on Fridays now.", ""),
}


class Today:
    """A memory that answers for these documents, as of today."""

    title = "as of today"

    def __init__(self) -> None:
        self.documents: dict[str, Answer] = {note.id: note for note in NOTES.values()}
        self.documents["9"] = None
        self.asked: list[str] = []

    def read(self, documents: Iterable[str]) -> dict[str, Answer]:
        wanted = list(documents)
        self.asked += wanted
        hidden = StoreError("Document 10 not found, or it is not open to this token")
        return {document: self.documents.get(document, hidden) for document in wanted}

    def search(self, *asked: object) -> list[tuple[Document, float]]:
        raise StoreError("nothing is found")

    def written_since(self, stamp: str) -> int | None:
        return None


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> Today:
    memory = Today()
    monkeypatch.setattr("tau_browser.audit.server.memory_of", lambda store, connection: memory)
    return memory


@pytest.fixture
def keeper(tmp_path: Path) -> Path:
    """A conversation that came from a server, with a hit of each kind."""
    story = Story(hostname="here")
    story.add(id="101", message={"role": "user", "content": [{"type": "text", "text": LAMP}]})
    docs = [
        Doc(int(note.id), note.title, note.text, usetype=note.usetype) for note in NOTES.values()
    ]
    docs[-1] = replace(docs[-1], text="The brass is polished on Mondays.")
    gone = [Doc(9, "Oil", "The oil is whale oil."), Doc(10, "Pay", "The keeper is paid well.")]
    story.search("who cleans the lamp", *docs, *gone)
    story.search("brass", docs[-1])
    story.say("On Tuesdays; the brass is another matter [doc 8].")
    path = tmp_path / "keeper.jsonl"
    path.write_bytes(story.log)
    return path


def test_live_documents(snap_compare: Compare, today: Today, keeper: Path) -> None:
    before = pressing("a", "tab", *"jjj")
    assert snap_compare(opened(keeper), terminal_size=WIDE, run_before=before)


def test_live_documents_in_ascii_at_80x24(
    snap_compare: Compare, today: Today, keeper: Path
) -> None:
    app = opened(keeper, ascii_only=True)
    assert snap_compare(app, terminal_size=MEDIUM, run_before=pressing("a", "tab"))


async def test_a_document_is_looked_up_once(today: Today, keeper: Path) -> None:
    app = opened(keeper)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "j", "k")
        assert sorted(today.asked) == sorted(["101", "904", "7", "8", "9", "10"])


async def test_enter_on_an_entry_of_another_conversation(today: Today, keeper: Path) -> None:
    app = opened(keeper)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "tab", "j", "enter")
        assert status(app) == "entry 904 of the conversation 900: open it with --store jmfts"
        await press(pilot, "k", "enter")
        assert chosen(app) == "101"


async def test_what_a_document_says_today_stands_below_the_hit(today: Today, keeper: Path) -> None:
    app = opened(keeper)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "tab", *"jjj")
        hit, _ = screen(app).query(SideView)
        assert hit.side is not None
        assert hit.side.heading == "the hit · now: foreign, changed since"
        assert "polished on Mondays" in hit.side.text and "on Fridays now" in hit.side.text


async def test_asked_again_without_a_server() -> None:
    app = opened(RECALL)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "R")
        shown = lines(app)
        assert shown[0].strip() == "Asked again now: retry policy backoff"
        assert shown[1].strip().startswith("CANNOT TELL · no JMFTS server is named")
        assert " 1 doc 2 Retry policy" in shown[3]
        await press(pilot, "m", "enter", "escape")
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.parametrize(("keys", "form"), [((), "html"), (("m",), "md"), (("c",), "csv")])
async def test_a_report_is_that_of_the_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    keys: tuple[str, ...],
    form: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    written = tmp_path / f"recalls.{form}"
    app = opened(RECALL)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "a", "E", *keys)
        assert not written.exists()
        await press(pilot, "enter")
        assert status(app).startswith(f"written to {written}")
        assert written.stat().st_mode & 0o777 == 0o600
        await press(pilot, "E", *keys)
        assert "is there already" in text(app)
        await press(pilot, "enter", "escape")
        assert isinstance(app.screen, AuditScreen)
    assert cli(["recalls", str(RECALL), "--format", form]) == 0
    assert written.read_text() == capsys.readouterr().out


def test_report(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert snap_compare(opened(RECALL), terminal_size=MEDIUM, run_before=pressing("a", "E"))
