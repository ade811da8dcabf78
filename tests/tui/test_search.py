"""What a person does to search all sessions, and what they then see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from tau_browser import config
from tau_browser.search.engine import Engine
from tau_browser.search.index.folder import Files
from tau_browser.search.query import BadQuery, parse
from tau_browser.search.results import Asking, Likely
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.browser import BrowserScreen
from tau_browser.tui.copy_menu import CopyMenu
from tau_browser.tui.entry import EntryPane
from tau_browser.tui.search import searching, wording
from tau_browser.tui.search.found import QueryPattern
from tau_browser.tui.search.screen import SearchScreen
from tests.conftest import HEADER, log_of, message
from tests.tui.browsing import (
    MEDIUM,
    SMALL,
    WIDE,
    browse,
    chosen,
    home_in,
    lines,
    press,
    results,
    search_screen,
    settle,
    text,
    tree,
)


@pytest.fixture
def app(tmp_path: Path) -> BrowserApp:
    return browse(home_in(tmp_path), cache_folder=tmp_path / "index")


async def search(pilot: Pilot[None], query: str) -> None:
    """Open the search and type a query, key by key."""
    await press(pilot, "s")
    await pilot.press(*query)
    await settle(pilot)


def selected(app: BrowserApp) -> tuple[str, str]:
    hit = results(app).selected
    assert hit is not None
    return hit.standing.path, hit.entry


async def test_the_first_use_makes_the_index_and_finds(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry policy")
        assert "What is our retry policy?" in text(app)
        assert "bm25 #1" in text(app)
        assert "19 sessions · 332 entries" in lines(app)[-2]
        assert "of 290 embedded" in lines(app)[-2]


async def test_what_is_typed_at_once_all_goes_into_the_query(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for key in "sqjretry":
            app.post_message(events.Key(key, key))
        await settle(pilot)
        assert " search qjretry" in lines(app)[0]


async def test_a_query_is_explained_and_filters_are_completed(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "ro")
        assert "Tab role:" in lines(app)[1]
        await press(pilot, "tab", *"us")
        assert "Tab user" in lines(app)[1]
        await press(pilot, "tab", *" retry")
        assert lines(app)[0].startswith(" search role:user retry")
        assert "retry… · only role:user · by words and by meaning" in lines(app)[1]
        assert {hit.speaker for hit in app_hits(app)} == {"user"}
        await press(pilot, "tab")
        assert results(app).has_focus


def app_hits(app: BrowserApp) -> list:
    return [row.hits[0] for row in results(app)._rows if not row.is_head]


async def test_a_bad_query_is_explained_where_it_is_wrong(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry ")
        await press(pilot, *"since:never")
        at = lines(app)[0].index("since:never")
        assert lines(app)[1][at:].startswith("^^^^^^^^^^^ since: cannot be 'never'")
        assert "Results of retry" in text(app), "what is shown is what was asked before"


def test_a_fault_that_stands_far_to_the_right_is_told_in_words() -> None:
    query = "x" * 60 + " role:me"
    with pytest.raises(BadQuery) as caught:
        parse(query)
    assert wording.fault_of(caught.value, query, 80).startswith("at character 62: role: cannot be")


@pytest.mark.parametrize(
    ("query", "meaning"),
    [
        ('"ssh port" -telnet', '"ssh port" · without telnet · exactly so'),
        ("is:error since:2026-01-01", "everything · only is:error since:2026-01-01 · newest first"),
        (r"/a\d+/", r"/a\d+/ · exactly so"),
        ("two words", "two + words · by words and by meaning"),
        ("a\x1b]b", "a␛]b · by words and by meaning"),
        ("", ""),
    ],
)
def test_the_meaning_of_a_query(query: str, meaning: str) -> None:
    assert wording.meaning_of(parse(query)) == meaning


async def test_nothing_found_says_so(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, '"zebra crossing"')
        assert "nothing found" in text(app)
        assert "0 hits in 0 sessions" in text(app)
        await press(pilot, "enter", "enter")
        assert isinstance(app.screen, SearchScreen)


async def test_a_better_answer_leaves_the_selection_on_its_hit(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry")
        screen = search_screen(app)
        await press(pilot, "enter", "G")
        before = selected(app)
        answer, question = screen._answer, screen._question
        assert answer is not None and question is not None
        answer.hits.reverse()
        screen.post_message(searching.Answered(question, answer, is_last=True))
        await settle(pilot)
        assert selected(app) == before
        assert results(app).cursor < results(app).row_count() - 1


async def test_a_better_answer_does_not_push_what_now_comes_first_out_of_view(
    app: BrowserApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await search(pilot, "retry")
        screen = search_screen(app)
        before = selected(app)
        answer, question = screen._answer, screen._question
        assert answer is not None and question is not None
        _, second, *_ = [hit for hit in answer.hits if hit.standing.path == before[0]]
        answer.hits.remove(second)
        answer.hits.insert(0, second)
        screen.post_message(searching.Answered(question, answer, is_last=True))
        await settle(pilot)
        assert selected(app) == before
        assert results(app).cursor == 2
        assert results(app).scroll_offset.y == 0


async def test_an_answer_that_comes_late_is_not_shown(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry")
        screen = search_screen(app)
        late = searching.Answered(screen._question, screen._answer, is_last=True)
        await press(pilot, *" jitter")
        shown = text(app)
        screen.post_message(late)
        screen.post_message(searching.Unanswered(late.question, "too late"))
        await settle(pilot)
        assert text(app) == shown


async def test_enter_opens_the_session_at_the_entry_and_n_goes_through_all_hits(
    app: BrowserApp,
) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, '"retry"')
        found = app_hits(app)
        assert len({hit.standing.path for hit in found}) > 1
        await press(pilot, "enter", "j", "enter")
        assert isinstance(app.screen, BrowserScreen)
        assert chosen(app) in {hit.entry for hit in found}
        assert tree(app).pattern is not None
        assert "of 2 sessions" in text(app)
        seen = set()
        for _ in range(len(found)):
            seen.add(chosen(app))
            await press(pilot, "n")
        assert seen == {hit.entry for hit in found}
        await press(pilot, "N")
        assert chosen(app) in seen


async def test_folded_rows_count_what_was_found(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, '"retry policy"')
        await press(pilot, "enter", "enter", "minus")
        assert "hit" in "".join(line for line in lines(app)[1:-2] if "•" in line)


async def test_esc_returns_to_the_results_where_they_were_then_to_the_browser(
    app: BrowserApp,
) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry")
        await press(pilot, "enter", "j", "j", "j")
        before, shown = selected(app), lines(app)[:-2]
        await press(pilot, "enter")
        assert isinstance(app.screen, BrowserScreen)
        await press(pilot, "escape")
        assert selected(app) == before
        assert lines(app)[:-2] == shown
        await press(pilot, "escape")
        assert isinstance(app.screen, BrowserScreen)
        assert tree(app).pattern is None
        await press(pilot, "s")
        assert selected(app) == before


async def test_a_find_takes_the_place_of_what_a_search_found(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, '"retry"')
        await press(pilot, "enter", "enter", "slash", *"policy", "enter")
        assert "sessions found" not in text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, BrowserScreen)


async def test_a_hit_is_opened_among_the_others_and_what_leads_to_them(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, '"retry policy"')
        await press(pilot, "enter", "enter")
        assert "only hits of 37 entries" in text(app)
        view = tree(app)
        assert view.rows is not None and view.session is not None
        gaps = [row for row in range(len(view.rows)) if view.rows.gap(row)]
        assert gaps and f"… {view.rows.gap(gaps[0]):,} hidden" in text(app)
        shown = {view.rows.entry(row) for row in range(len(view.rows)) if row not in gaps}
        assert set(view.hits.tolist()) <= shown
        await press(pilot, "g")
        assert view.gap and view.entry is None
        assert "without a hit hidden here" in lines(app)[-2]
        count = view.gap
        await press(pilot, "enter")
        assert not view.gap and len(view.rows) > count
        await press(pilot, "n")
        assert view.entry in view.hits
        entry = view.entry
        await press(pilot, "F")
        assert not view.filtered and view.entry == entry
        await press(pilot, "F", "escape")
        assert isinstance(app.screen, SearchScreen), "one step back leads to the results"


async def test_the_filter_goes_on_in_the_next_session_and_needs_a_search(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "enter", "F")
        assert not tree(app).filtered
        await search(pilot, '"retry"')
        await press(pilot, "enter", "enter")
        for filtered in (True, False):
            assert tree(app).filtered is filtered
            session = tree(app).session
            while tree(app).session is session:
                await press(pilot, "n")
            assert tree(app).filtered is filtered
            await press(pilot, "F")


async def test_results_come_in_pages(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    records = [message(f"e{at:03}", None, f"needle {at}") for at in range(120)]
    (folder / "many.jsonl").write_bytes(log_of(records))
    app = browse(folder, cache_folder=tmp_path / "index")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, '"needle"')
        assert "120 hits · 50 shown, in 1 session" in text(app)
        await press(pilot, "enter", "G")
        assert "120 hits in 1 session" in text(app)
        assert results(app).row_count() == 121
        assert results(app).cursor == 50, "the selection stays where it was"


async def test_what_was_written_since_is_found(app: BrowserApp, tmp_path: Path) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, '"brand new words"')
        assert "nothing found" in text(app)
        await press(pilot, "escape")
        path = next((tmp_path / "home").rglob("*.jsonl"))
        with path.open("ab") as file:
            file.write(json.dumps(message("abcdef01", None, "brand new words")).encode() + b"\n")
        await press(pilot, "s")
        assert "1 hit in 1 session" in text(app)


async def test_another_process_that_indexes_is_told_of(app: BrowserApp, tmp_path: Path) -> None:
    engine = Engine(app.target.store, tmp_path / "index")
    engine.update()
    with Files(engine.folder).locked():
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            await search(pilot, '"retry policy"')
            assert "another process is indexing" in text(app)
            assert "What is our retry policy?" in text(app)


async def test_indexing_pauses_and_goes_on(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("s", "ctrl+t")
        await settle(pilot)
        assert "indexing is paused: Ctrl+T goes on" in lines(app)[-2]
        await press(pilot, "ctrl+t")
        await press(pilot, *"retry")
        assert "paused" not in lines(app)[-2]
        assert "What is our retry policy?" in text(app)


async def test_the_preview_shows_the_entry_with_what_matched(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "role:user retry policy")
        pane = search_screen(app).query_one(EntryPane)
        assert pane.place is not None and "retry policy" in pane.text()
        assert pane.matches >= 2
        await pilot.resize_terminal(*SMALL)
        await settle(pilot)
        assert not search_screen(app).query_one("#preview-pane").display
        await pilot.resize_terminal(*MEDIUM)
        await settle(pilot)
        assert search_screen(app).query_one("#preview-pane").display


async def test_the_search_is_copied_as_a_command(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "it's retry")
        await press(pilot, "enter", "y")
        assert isinstance(app.screen, CopyMenu)
        await press(pilot, "c")
        assert app.clipboard == "tau-browse search 'it'\"'\"'s retry'"


async def test_queries_are_remembered(app: BrowserApp, tmp_path: Path) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry")
        await press(pilot, "enter", "slash", "ctrl+u", *"jitter", "enter")
    assert config.remembered()["queries"] == ["retry", "jitter"]
    assert (tmp_path / "state/tau-browse/remembered.json").stat().st_mode & 0o077 == 0
    again = browse(tmp_path / "home", cache_folder=tmp_path / "index")
    async with again.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "s", "up")
        assert " search jitter" in lines(again)[0]
        await press(pilot, "up", "up")
        assert " search retry" in lines(again)[0]
        await press(pilot, "down", "down")
        assert search_screen(again).query_one("QueryLine Input").value == ""


async def test_what_matched_is_in_view_however_narrow_the_row(app: BrowserApp) -> None:
    async with app.run_test(size=MEDIUM) as pilot:
        await settle(pilot)
        await search(pilot, '"valueerror"')
        rows = [line for line in lines(app) if "bm25 #" in line and " = " not in line]
        assert rows and all("ValueError" in row for row in rows)


async def test_hostile_text_acts_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    evil = "needle \x1b]52;c;AAAA\x07 [bold]x[/] [@click=app.quit]y[/] \u202e \x9b31m"
    header = {**HEADER, "cwd": "/proj/\x1b[31m[/]"}
    (folder / "hostile.jsonl").write_bytes(log_of([message("e1\x1b[", None, evil)], header))
    app = browse(folder, cache_folder=tmp_path / "index")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        app.post_message(events.Paste("needle \x1b[31m[/]"))
        await settle(pilot)
        await press(pilot, "enter")
        shown = text(app)
        assert "[@click=app.quit]y[/]" in shown
        codes = {ord(char) for char in shown} - {ord("\n")}
        assert not codes & {*range(32), *range(0x7F, 0xA0)}
        assert "\u202e" not in shown
        await press(pilot, "enter")
        assert isinstance(app.screen, BrowserScreen)


async def test_before_there_is_an_index_a_scan_answers_and_says_so(
    app: BrowserApp, tmp_path: Path
) -> None:
    engine = Engine(app.target.store, tmp_path / "index")
    Files(engine.folder).make_folder()
    with Files(engine.folder).locked():  # so none can be made
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            await search(pilot, "retry policy")
            assert "What is our retry policy?" in text(app)
            assert "by a scan" in text(app)
            assert "another process is indexing" in lines(app)[-2]
            assert "19 sessions not indexed yet: scanned" in lines(app)[-2]
            assert "found by a scan, not ranked · " in text(app)


async def test_better_answers_take_the_place_of_what_a_scan_found(app: BrowserApp) -> None:
    folder = Engine(app.target.store, app.cache_folder).folder
    Files(folder).make_folder()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        with Files(folder).locked():
            await search(pilot, "retry policy")
        assert "by a scan" in text(app)
        before = selected(app)
        search_screen(app).sessions_changed()
        await settle(pilot)
        assert "bm25 #1" in text(app) and "by a scan" not in text(app)
        assert selected(app) == before


async def test_what_the_open_session_holds_is_found_before_it_is_indexed(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    path = next(home.rglob("*0e8d7f17*"))
    Engine(browse(home).target.store, tmp_path / "index").update()
    with path.open("ab") as file:
        file.write(json.dumps(message("abcdef01", None, "a zebrafish pond")).encode() + b"\n")
    app = browse(home, path, cache_folder=tmp_path / "index")
    with Files(Engine(app.target.store, tmp_path / "index").folder).locked():
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            await search(pilot, '"zebrafish pond"')
            assert selected(app) == (str(path), "abcdef01")
            assert "bm25 #1" in text(app), "it is ranked like all others"
            browser = next(it for it in app.screen_stack if isinstance(it, BrowserScreen))
            await press(pilot, "enter")
            with path.open("ab") as file:
                record = message("abcdef02", "abcdef01", "another zebrafish pond")
                file.write(json.dumps(record).encode() + b"\n")
            browser._following = True
            browser._watch()
            await settle(pilot)
            assert "2 hits in 1 session" in text(app)
            assert selected(app) == (str(path), "abcdef01"), "the selection stays on its hit"


async def test_weights_and_methods_are_changed_in_view_of_the_results(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "how are sessions stored")
        assert "bm25 1 · static 0.4 · neural 1 · convex" in lines(app)[0]
        before = selected(app)
        await press(pilot, "enter", "w", *"jjjj", *"hhhh")
        assert "bm25 1 · static 0 · neural 1" in text(app)
        assert "(usually 0.4)" in text(app)
        await press(pilot, "escape")
        assert "static #" not in "".join(lines(app)[2:-2])
        assert selected(app) == before
        await press(pilot, "w", *"jj", "l", "escape")
        assert "rrf" in lines(app)[0]
        await press(pilot, "y", "c")
        assert app.clipboard == (
            "tau-browse search --weights bm25=1,static=0,neural=1 --fusion rrf"
            " 'how are sessions stored'"
        )
        await press(pilot, "w", "0", "escape")
        assert "bm25 1 · static 0.4 · neural 1 · convex" in lines(app)[0]


async def test_only_the_open_session_is_searched(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    opened = next(path for path in sorted(home.rglob("*.jsonl")) if "retry" in path.read_text())
    app = browse(home, opened, cache_folder=tmp_path / "index")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "the")
        paths = {hit.standing.path for hit in app_hits(app)}
        assert len(paths) > 1 and str(opened) in paths
        await press(pilot, "enter", "w", "l", "escape")
        assert "· in this session ·" in text(app)
        assert {hit.standing.path for hit in app_hits(app)} == {str(opened)}
        await press(pilot, "y", "c")
        assert app.clipboard == f"tau-browse search --in {opened} the"


async def test_a_method_that_takes_the_query_as_it_is(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "gvect")
        await press(pilot, "enter", "w", "j", *"lll", "escape")
        assert "substring" in lines(app)[0] and "as it is" in lines(app)[1]
        assert "1 hit in 1 session" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, BrowserScreen)
        assert tree(app).pattern is not None and tree(app).pattern.spans("pgvector") == [(1, 6)]


async def test_why_a_hit_stands_where_it_does_is_told(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry policy")
        hit = results(app).selected
        assert hit is not None
        why = lines(app)[-3]
        assert why.startswith(f" {hit.score:.2f} = ")
        for part in hit.parts:
            assert f"{part.ranker} #{part.rank} {part.raw:.3g} → {part.norm:.2f}×" in why
        assert "retry, policy" in why or "policy, retry" in why


def test_words_that_are_near_are_marked_apart_from_those_that_are_sought() -> None:
    pattern = QueryPattern(Asking(parse("car trouble")))
    text = "A car, a Vehicle, vehicles; cars and trouble"
    assert pattern.near(text) == []
    pattern.learn([Likely("vehicle", "car", 0.8, []), Likely("cars", "car", 0.9, [])])
    pattern.learn([Likely("a", "trouble", 0.5, [])])
    assert [text[slice(*span)] for span in pattern.spans(text)] == ["car", "cars", "trouble"]
    assert [text[slice(*span)] for span in pattern.near(text)] == ["A", "a", "Vehicle"]


async def test_what_filters_alone_find_is_told_by_its_time(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "role:user")
        hit = results(app).selected
        assert hit is not None and hit.time
        assert "newest first" in lines(app)[1]
        assert lines(app)[-3].strip() == f"newest #1 · {hit.time}"
        assert "newest #1" in text(app) and "bm25 #" not in text(app)


async def test_searches_are_saved_listed_run_and_deleted(app: BrowserApp, tmp_path: Path) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        await press(pilot, "ctrl+s")
        assert "type a query first" in text(app)
        await press(pilot, *"retry policy", "ctrl+s", *"my own", "enter")
        assert "saved as my own" in lines(app)[-2]
        await press(pilot, "slash", "ctrl+u", *"jitter", "enter", "ctrl+r")
        assert [line.strip() for line in lines(app)[1:6]] == [
            "Saved: 1",
            "my own  retry policy",
            "Before: 1",
            "jitter",
            "",
        ]
        await press(pilot, "enter")
        assert lines(app)[0].startswith(" search retry policy")
        assert "What is our retry policy?" in text(app)
        await press(pilot, "ctrl+r", "d")
        assert "deleted: my own" in text(app) and "Saved: 0" in text(app)
        await press(pilot, "d")
        assert "only a saved search can be deleted" in text(app)
    path = tmp_path / "state" / "tau-browse" / "searches.json"
    assert path.read_text() == "{}" and path.stat().st_mode & 0o077 == 0


async def test_filters_are_completed_with_what_is_indexed(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "tool:jm")
        assert "jmfts_search" in lines(app)[1]
        await press(pilot, "tab")
        assert "tool:jmfts_" in lines(app)[0]
        await press(pilot, "ctrl+u", *"model:")
        assert 'Tab "scripted scripted-1"' in lines(app)[1]


async def test_pages_go_on_to_the_last_hit(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    records = [message(f"e{at:03}", None, f"needle {at}") for at in range(900)]
    (folder / "many.jsonl").write_bytes(log_of(records))
    app = browse(folder, cache_folder=tmp_path / "index")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "needle")
        await press(pilot, "enter")
        for shown in (200, 800, 900):
            await press(pilot, "G")
            assert results(app).row_count() == shown + 1
        assert "900 hits" in text(app)


class OddModel:
    """In MiniLM's place: the longer a text, the better."""

    def scores(self, query: str, texts: list[str]) -> list[float]:
        return [len(text) / 1e6 for text in texts]


async def test_the_extra_ranks_again_and_leaves_the_selection(
    app: BrowserApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("search.engine", "tui.search.wording"):
        monkeypatch.setattr(f"tau_browser.{user}.is_installed", lambda: True)
    monkeypatch.setattr(Engine, "_reranker", lambda _: OddModel())
    posted: list[searching.Answered] = []
    shown = SearchScreen.on_answered
    monkeypatch.setattr(
        SearchScreen,
        "on_answered",
        lambda screen, event: (posted.append(event), shown(screen, event)),
    )
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry policy")
        *_, before, after, placed = posted
        assert placed.results.reranked and any(hit.turn for hit in placed.results.hits)
        assert after.is_last and after.results.reranked and not before.results.reranked
        assert before.results.hits[0].entry != after.results.hits[0].entry
        first = next(it for it in posted if it.question.text == "retry policy")
        assert selected(app)[1] == first.results.hits[0].entry
        assert "re-ranked · " in lines(app)[-2] and "neural #" in text(app)


async def test_without_the_extra_it_says_how_to_have_it(app: BrowserApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search(pilot, "retry policy")
        assert 'not re-ranked: pip install "tau-browser[semantic]"' in lines(app)[-2]
        await press(pilot, "ctrl+u", *'"retry policy"')
        assert "re-ranked" not in lines(app)[-2], "nothing similar is wanted"
