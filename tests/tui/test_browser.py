"""What a person does in the browser, and what they then see."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from textual.worker import WorkerFailed

from tau_browser import config
from tests.conftest import DATA
from tests.tui.browsing import (
    MEDIUM,
    SMALL,
    WIDE,
    browse,
    chosen,
    entry,
    lines,
    press,
    sessions,
    settle,
    text,
    tree,
)

TAU = DATA / "tau"
CASES = DATA / "bugcases"
FORKED = TAU / "02-forked-tree.jsonl"
COMPACTED = TAU / "03-compaction.jsonl"


def case(name: str) -> Path:
    """The first session of a bug case."""
    return next(path for path in sorted((CASES / name).rglob("*.jsonl")))


async def test_the_newest_session_is_selected_and_enter_opens_it() -> None:
    app = browse(TAU / "home")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert sessions(app).selected is not None
        await press(pilot, "enter")
        assert tree(app).has_focus
        assert tree(app).session is not None
        assert tree(app).session.leaf == tree(app).entry


async def test_forks_hang_under_their_sources_in_the_list() -> None:
    app = browse(TAU / "home")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        titles = [line[:30] for line in lines(app) if "three branches" in line[:30]]
        assert len(titles) == 3
        assert sum("┣" in title for title in titles) == 2


async def test_only_the_last_turn_is_unfolded_and_the_cursor_is_on_the_leaf() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert chosen(app) == "29990503"
        assert "+15" in text(app)
        assert "3 forks" in text(app)
        assert "◀ leaf" in text(app)


async def test_fold_and_unfold() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        some = tree(app).row_count()
        await press(pilot, "plus")
        assert tree(app).row_count() == 22
        assert chosen(app) == "29990503"
        await press(pilot, "minus")
        assert tree(app).row_count() < some
        await press(pilot, "l")
        assert tree(app).row_count() >= some - 1
        await press(pilot, "h")
        assert tree(app).rows is not None and tree(app).rows.is_folded(tree(app).cursor)


async def test_abandoned_folded_and_incomplete_entries_say_so_in_words() -> None:
    for path, word in (
        (FORKED, "abandoned"),
        (COMPACTED, "folded"),
        (TAU / "12-incomplete-crashed.jsonl", "incomplete"),
        (case("20-orphan-parents"), "detached"),
    ):
        app = browse(path, path)
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            await press(pilot, "plus")
            assert word in text(app)


async def test_moving_by_turn_fork_error_and_compaction() -> None:
    app = browse(TAU / "01-linear-tools.jsonl", TAU / "01-linear-tools.jsonl")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "g", "right_curly_bracket")
        assert chosen(app) == "8cbe5f57"
        view = tree(app)
        await press(pilot, "right_square_bracket")
        assert view.session is not None and "✗" in text(app)
        await press(pilot, "left_curly_bracket")
        assert view.session.is_user[view.entry]

    app = browse(COMPACTED, COMPACTED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "g", "greater_than_sign")
        assert chosen(app) == "47944e93"
        await press(pilot, "greater_than_sign")
        assert chosen(app) == "cf36aadb"
        await press(pilot, "less_than_sign")
        assert chosen(app) == "47944e93"


async def test_find_marks_hits_counts_them_on_folded_rows_and_n_unfolds() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "minus", "slash")
        await press(pilot, *"branch")
        hits = tree(app).hits
        assert len(hits)
        assert "hits" in text(app)
        await press(pilot, "enter")
        await press(pilot, "g", "n")
        assert tree(app).entry in hits
        seen = {tree(app).entry}
        for _ in range(len(hits) - 1):
            await press(pilot, "n")
            seen.add(tree(app).entry)
        assert seen == set(hits.tolist())
        await press(pilot, "N")
        assert tree(app).entry in hits
        await press(pilot, "escape")
        assert tree(app).pattern is None and not len(tree(app).hits)


async def test_a_bad_expression_is_explained_where_it_is_typed() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "slash", "alt+r")
        await press(pilot, "(")
        assert "(regex)" in text(app)
        assert "unterminated" in text(app) or "missing )" in text(app)
        await press(pilot, "escape")
        assert "(regex)" not in text(app)


async def test_a_find_with_no_hit_says_so_and_n_does_not_move() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "slash")
        await press(pilot, *"zzz")
        assert "nothing found" in text(app)
        before = chosen(app)
        await press(pilot, "enter", "n")
        assert chosen(app) == before


async def test_model_view_shows_what_the_model_saw_and_goes_back() -> None:
    app = browse(COMPACTED, COMPACTED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "c")
        assert tree(app).row_count() == 6
        assert "Model view at a784e1b7 · 6 of 20 entries" in text(app)
        assert "Question 0" not in text(app)
        await press(pilot, "c")
        assert chosen(app) == "a784e1b7"
        await press(pilot, "plus", "g")
        assert "Question 0" in text(app)


async def test_comparing_two_branches() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "d")
        assert "mark an entry" in text(app)
        await press(pilot, "plus", "space")
        view = tree(app)
        assert view.session is not None
        others = [tip for tip in view.session.tree.tips if tip != view.session.leaf]
        view.go_to(others[0])
        await press(pilot, "d")
        assert "fork at" in text(app)
        await press(pilot, "n", "escape")
        assert view.has_focus


async def test_jump_to_an_id_or_the_beginning_of_one() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        view = tree(app)
        assert view.session is not None
        wanted = view.session.entry_id(7)
        await press(pilot, "colon")
        await press(pilot, *wanted[:6])
        await press(pilot, "enter")
        assert chosen(app) == wanted
        await press(pilot, "colon")
        await press(pilot, *"nowhere")
        await press(pilot, "enter")
        assert "no entry with this id" in text(app)
        await press(pilot, "escape")
        assert chosen(app) == wanted


async def test_coverage_lists_findings_with_the_stored_bytes_and_leads_to_them() -> None:
    path = case("03-corrupt-middle-line")
    app = browse(path, path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "exclamation_mark")
        assert "line 4, byte" in text(app)
        await press(pilot, "j")
        assert "stored: {" in text(app)
        await press(pilot, "j", "enter")
        assert chosen(app) == "m4"


async def test_copying_offers_id_text_path_and_resume_command(tmp_path: Path) -> None:
    app = browse(FORKED, FORKED)
    sent: list[str] = []
    async with app.run_test(size=WIDE) as pilot:
        app.copy_to_clipboard = sent.append  # type: ignore[method-assign]
        await settle(pilot)
        for key in "itpr":
            await press(pilot, "y", key)
        assert sent[0] == "29990503"
        assert "pgvector" in sent[1]
        assert sent[2] == str(FORKED)
        assert sent[3].startswith("cd /home/dev/demo && tau ")
        await press(pilot, "y", "w", "t")
        assert len(sent) == 4
        assert "written to" in text(app)
        written = text(app).split("written to ")[1].split()[0]
        assert "pgvector" in Path(written).read_text()
        assert os.stat(written).st_mode & 0o777 == 0o600
        os.unlink(written)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of case 44, whose steps change its session."""
    folder = tmp_path / "case"
    shutil.copytree(CASES / "44-file-changes-while-open", folder)
    return folder


async def test_a_file_that_grows_shrinks_is_replaced_and_vanishes(copied: Path) -> None:
    path = next(copied.rglob("*.jsonl"))
    app = browse(path, path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        screen = app.screen

        async def look() -> None:
            screen._watch()
            await settle(pilot)

        with path.open("ab") as file:
            file.write((copied / "extra").read_bytes())
        await look()
        assert "the session grew" in text(app)
        await press(pilot, "t")
        await look()
        assert tree(app).row_count() == 5 or len(tree(app).session) == 5

        path.write_bytes((copied / "short").read_bytes())
        await look()
        assert len(tree(app).session) == 2

        other = copied / "new"
        shutil.copy(copied / "other", other)
        os.replace(other, path)
        await look()
        assert tree(app).session.id != "s1" or len(tree(app).session) != 2

        shown = len(tree(app).session)
        path.unlink()
        await look()
        assert "the session is gone" in text(app)
        assert len(tree(app).session) == shown

        path.write_bytes((copied / "orig").read_bytes())
        await look()
        assert len(tree(app).session) == 4
        assert "the session is gone" not in lines(app)[0]


async def test_following_keeps_the_selection_unless_it_is_on_the_leaf(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    whole = FORKED.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:-3]))
    app = browse(path, path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "t", "g")
        first = chosen(app)
        with path.open("ab") as file:
            file.write(b"".join(whole[-3:-2]))
        app.screen._watch()
        await settle(pilot)
        assert chosen(app) == first
        await press(pilot, "L")
        with path.open("ab") as file:
            file.write(b"".join(whole[-2:]))
        app.screen._watch()
        await settle(pilot)
        assert chosen(app) == "29990503"


async def test_reading_leaves_bytes_and_mtime_alone() -> None:
    before = os.stat(FORKED), FORKED.read_bytes()
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus", "slash")
        await press(pilot, *"branch")
        await press(pilot, "enter", "n", "c")
    after = os.stat(FORKED), FORKED.read_bytes()
    assert (before[0].st_mtime_ns, before[1]) == (after[0].st_mtime_ns, after[1])


@pytest.mark.parametrize("size", [WIDE, MEDIUM, SMALL])
@pytest.mark.parametrize(
    "name", ["39-terminal-injection", "40-rich-markup", "41-tabs-and-wide", "13-odd-lines"]
)
async def test_hostile_text_is_shown_as_text(name: str, size: tuple[int, int]) -> None:
    path = case(name)
    app = browse(path.parent, path)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "plus", "g")
        view = tree(app)
        for row in range(view.row_count()):
            left, right = view.draw(row, size[0])
            assert not unsafe("".join(piece for piece, _ in [*left, *right]))
        for keys in ((), ("G",), ("y",), ("escape", "exclamation_mark"), ("escape", "tab", "J")):
            await press(pilot, *keys)
            assert not unsafe(text(app))
            strips = app.screen._compositor.render_strips()
            assert all(strip.cell_length <= size[0] for strip in strips)


def unsafe(shown: str) -> list[str]:
    """The characters that a terminal would act on."""
    return [char for char in shown if (ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0]


async def test_one_pane_at_a_time_on_a_small_terminal() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert tree(app).display and "Documents" in text(app)
        await press(pilot, "tab")
        assert entry(app).has_focus
        await press(pilot, "tab")
        assert sessions(app).has_focus
        assert all(len(line) <= SMALL[0] for line in lines(app))


async def test_escape_goes_one_step_back() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "c", "tab")
        assert entry(app).has_focus
        await press(pilot, "escape")
        assert tree(app).model_view_at is None or not entry(app).has_focus
        await press(pilot, "escape", "escape")
        assert sessions(app).has_focus


async def test_keys_can_be_overridden() -> None:
    app = browse(FORKED, FORKED, keys={"fold_all": "f5"})
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus", "f5")
        assert tree(app).row_count() < 22


async def test_ascii_mode_draws_nothing_but_ascii_of_its_own() -> None:
    app = browse(FORKED, FORKED, ascii_only=True)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "plus")
        drawn = "\n".join(line[:80] for line in lines(app)[1:-2])
        assert drawn.isascii()


async def test_a_late_answer_never_overwrites_a_newer_question() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "slash")
        await press(pilot, *"branch")
        from tau_browser.tui.loading import HitsFound

        app.screen.post_message(HitsFound(app.screen._find_generation - 1, [0], 22, 22))
        await settle(pilot)
        assert tree(app).hits.tolist() != [0]


async def test_0_9_logs_that_end_with_a_move_name_both_places() -> None:
    path = TAU / "31-legacy-0.9.0-ends-with-navigate.jsonl"
    app = browse(path, path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "τ 0.9 reopened at" in text(app)


async def test_an_empty_store_says_where_it_looked(tmp_path: Path) -> None:
    app = browse(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "no sessions" in text(app)


async def test_the_chosen_theme_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.theme = "nord"
        await settle(pilot)
    assert config.remembered()["theme"] == "nord"
    assert (tmp_path / "tau-browse" / "remembered.json").stat().st_mode & 0o777 == 0o600


async def test_a_click_selects_and_a_second_one_unfolds() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        shown = tree(app).row_count()
        await pilot.click("#tree", offset=(20, 4))
        await settle(pilot)
        assert tree(app).cursor == 4
        assert tree(app).row_count() == shown
        await pilot.click("#tree", offset=(20, 4))
        await settle(pilot)
        assert tree(app).row_count() > shown


async def test_panes_are_resized_hidden_and_zoomed() -> None:
    app = browse(FORKED, FORKED)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        width = tree(app).size.width
        await press(pilot, "full_stop")
        assert tree(app).size.width > width
        await press(pilot, "comma", "comma")
        assert tree(app).size.width < width
        await press(pilot, "1", "3")
        assert tree(app).size.width == WIDE[0]
        assert sessions(app).size.width == 0 or not sessions(app).parent.display
        await press(pilot, "1", "3", "z")
        assert tree(app).size.width == WIDE[0]
        await press(pilot, "z")
        assert tree(app).size.width < WIDE[0]


async def test_what_fails_behind_the_screen_is_said_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = browse(FORKED, FORKED)

    def fail() -> None:
        raise RuntimeError("the disk is on [red]fire[/red]")

    monkeypatch.setattr(app.target.store, "scan", fail)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        with contextlib.suppress(WorkerFailed):
            await settle(pilot)
        await settle(pilot)
        said = [notice.message for notice in app._notifications]
        assert "list failed: RuntimeError: the disk is on [red]fire[/red]" in said
