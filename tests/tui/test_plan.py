"""The plan screen: what it says, what may be chosen, and that nothing happens before Enter."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tau_browser.actions.journal import Journal
from tau_browser.actions.reading import Reading
from tau_browser.model.summary import session_name
from tau_browser.stores.adapters import adapter
from tau_browser.stores.targets import Target, store_over
from tau_browser.tui.app import BrowserApp
from tau_browser.tui.browser import BrowserScreen
from tau_browser.tui.rows_view import RowsView
from tests.actions.conftest import LONG_AGO
from tests.actions.test_fork import COMPACTED, WITH_CALLS
from tests.actions.test_redaction import SECRETS
from tests.conftest import load
from tests.stores.logs.writing import (
    claude,
    codex_message,
    codex_meta,
    pi_header,
    pi_message,
    write_lines,
)
from tests.tui.browsing import MEDIUM, WIDE, browse, chosen, lines, press, settle, text, tree

NAME = "2026-03-01T10-00-00-000Z_s1.jsonl"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions" / "--proj-demo--"
    folder.mkdir(parents=True)
    path = folder / NAME
    path.write_bytes(WITH_CALLS)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return path


def opened(session: Path) -> BrowserApp:
    return browse(session.parent.parent, session)


def files(session: Path) -> list[Path]:
    return sorted(session.parent.glob("*.jsonl"))


async def go_to(pilot: Pilot[None], entry_id: str) -> None:
    app = pilot.app
    assert isinstance(app, BrowserApp)
    view = tree(app)
    assert view.session is not None
    view.go_to(view.session.find(entry_id)[0])
    await settle(pilot)


async def test_a_fork_is_shown_then_made_then_opened(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "a2")
        await press(pilot, "f")
        shown = text(app)
        assert "fork s1 at a2" in shown and "τ goes on at a2" in shown
        assert "not copied: 3 entries" in shown
        assert files(session) == [session]
        await press(pilot, "enter")
        (made,) = set(files(session)) - {session}
        assert isinstance(app.screen, BrowserScreen) and app.screen._opened is not None
        assert app.screen._opened.path == str(made) and chosen(app) == "a2"
        assert app.clipboard.endswith(f"tau --mode repl --session {made}")


async def test_esc_leaves_everything_as_it_is(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for key in ("f", "x"):
            await press(pilot, key, "escape")
            assert isinstance(app.screen, BrowserScreen)
        assert files(session) == [session] and session.read_bytes() == WITH_CALLS


async def test_a_refusal_is_shown_and_its_key_lifts_it(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "r2")
        await press(pilot, "x")
        assert "refused: 1 entry would be left with half a tool call: a1" in text(app)
        await press(pilot, "enter")
        assert files(session) == [session]
        await press(pilot, "p")
        assert "refused" not in text(app) and "taken along: a1" in text(app)
        await press(pilot, "enter")
        assert len(files(session)) == 2


async def test_in_place_wants_the_number_typed(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "u2")
        await press(pilot, "x", "2")
        assert "replaced in place" in text(app) and "the leaf goes: τ reopens at a2" in text(app)
        await press(pilot, "enter", "7", "enter")
        assert session.read_bytes() == WITH_CALLS and "7 is not 3" in text(app)
        await press(pilot, "enter", "3", "enter")
        assert len(load(session)) == 5 and chosen(app) == "a2"
        await press(pilot, "u")
        assert "prune 3 entries of s1 in place" in text(app)
        await press(pilot, "enter")
        assert session.read_bytes() == WITH_CALLS and session.stat().st_mtime_ns == LONG_AGO
        assert len(tree(app).session or ()) == 8


async def test_fold_is_the_third_choice(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "u2")
        await press(pilot, "x", "3")
        assert "out of the context: 5 entries" in text(app)
        await press(pilot, "enter")
        assert load(session).kind(8) == "elide"


async def test_only_the_marked(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "u1")
        await press(pilot, "space")
        await go_to(pilot, "u3")
        await press(pilot, "space", "f")
        assert "only 2 marked entries" in text(app)
        await press(pilot, "enter")
        (made,) = set(files(session)) - {session}
        assert load(made).ids(range(6)) == ["u1", "a1", "r1", "r2", "a2", "u3"]
        assert tree(app).marked == []


async def test_an_import_is_shown_then_opened(session: Path, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_bytes(COMPACTED)
    app = opened(session)
    app.target = Target(store_over([str(session.parent.parent)], None), str(session))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "i", *str(tmp_path / "other.jsonl"), "enter")
        assert "a session s1 is there already" in text(app)
        await press(pilot, "enter")
        (made,) = set(files(session)) - {session}
        assert len(load(made)) == 6 and chosen(app) == "u3"


async def test_labels_and_notes_stand_beside_the_log(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "a2")
        await press(pilot, "b", *"good one", "enter")
        assert "⚑ good one" in text(app)
        await press(pilot, "B", *"worth keeping", "enter", "k", "j")
        assert "⚑ worth keeping" in text(app) and "⚑ good one" in text(app)
        assert session.read_bytes() == WITH_CALLS
        await press(pilot, "u")
        assert "label a2 of s1: good one" in text(app)
        await press(pilot, "enter")
        assert "worth keeping" not in text(app) and "⚑ good one" in text(app)
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "a2")
        assert "⚑ good one" in text(app)


async def test_a_new_name(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "R", *"night", "enter")
        assert "rename s1 to night" in text(app)
        await press(pilot, "enter")
        assert session_name(load(session)) == "night"


def another(tmp_path: Path, program: str) -> Path:
    """A session of another program, of four entries."""
    folder = tmp_path / program
    match program:
        case "pi":
            talk = [pi_message("a", None), pi_message("b", "a"), pi_message("c", "b")]
            path = write_lines(folder / "--proj-demo--" / "p1.jsonl", [pi_header(), *talk])
        case "claude-code":
            talk = [claude("user", "a", None, "x"), claude("assistant", "b", "a", "y")]
            path = write_lines(folder / "-proj-demo" / "c1.jsonl", talk)
        case _:
            talk = [codex_message("user", "words"), codex_message("assistant", "done")]
            path = write_lines(folder / "rollout-1.jsonl", [codex_meta(), *talk])
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return path


@pytest.mark.parametrize(
    ("program", "called", "command"),
    [("pi", "pi", "pi --session {path}"), ("claude-code", "Claude Code", "claude --resume {stem}")],
)
async def test_other_programs_reopen_what_is_made(
    program: str, called: str, command: str, tmp_path: Path
) -> None:
    path = another(tmp_path, program)
    app = opened(path)
    app.target = Target(adapter(program)([str(path.parent.parent)], None), str(path))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "b")
        await press(pilot, "x")
        assert "prune 1 entry" in text(app) or "prune 2 entries" in text(app)
        assert "in place" not in text(app) and "fold" not in text(app)
        await press(pilot, "escape", "f")
        assert f"{called} goes on at b" in text(app)
        assert ("d directory" in text(app)) is (program == "pi")
        await press(pilot, "enter")
        (made,) = set(files(path)) - {path}
        resumes = command.format(path=made, stem=made.stem)
        assert app.clipboard == f"cd /proj/demo && {resumes}"
        assert isinstance(app.screen, BrowserScreen) and app.screen._opened is not None
        assert app.screen._opened.path == str(made) and chosen(app) == "b"
        await press(pilot, "u", "enter")
        assert files(path) == [path]


async def test_codex_is_read_only_and_says_so(tmp_path: Path) -> None:
    path = another(tmp_path, "codex")
    app = opened(path)
    app.target = Target(adapter("codex")([str(path.parent)], None), str(path))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for key in ("f", "x"):
            await press(pilot, key)
            assert isinstance(app.screen, BrowserScreen)
            assert "(store codex) is read only" in text(app)


async def test_what_is_read_only_says_so(tmp_path: Path) -> None:
    from tau_browser.stores.targets import demo_target
    from tests.tui.browsing import Settings

    app = BrowserApp(demo_target("demo"), Settings(Path("config.toml")), {})
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "enter", "f")
        assert isinstance(app.screen, BrowserScreen) and "the demo is read only" in text(app)


async def test_a_session_that_is_another_now_is_not_touched(session: Path) -> None:
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "u2")
        session.write_bytes(WITH_CALLS.replace(b"second", b"altered"))
        os.utime(session, ns=(LONG_AGO, LONG_AGO))
        await pilot.press("x")
        await settle(pilot)
        assert "not what is shown any more" in text(app)


async def test_an_export_with_its_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = browse(SECRETS.parent, SECRETS)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "e")
        shown = text(app)
        assert "9 secrets found, 9 of them hidden" in shown and "ghp_B" not in shown
        assert list(tmp_path.glob("*.html")) == []
        for row, line in enumerate(lines(app)):
            if "AKIA" in line:
                app.screen.query_one(RowsView).move_to(row - 1)
        await press(pilot, "space")
        assert "8 of them hidden" in text(app)
        await press(pilot, "m")
        assert "as MARKDOWN" in text(app)
        await press(pilot, "o", *["backspace"] * 200, *"out.md", "enter", "enter")
        assert isinstance(app.screen, BrowserScreen)
        written = (tmp_path / "out.md").read_text()
        assert "AKIAC" in written and "ghp_B" not in written
        await press(pilot, "u", "enter")
        assert not (tmp_path / "out.md").exists()


async def test_an_export_of_what_is_marked(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(session.parent)
    app = opened(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await go_to(pilot, "u3")
        await press(pilot, "space", "e", "l", "4", "enter")
        (made,) = session.parent.glob("session-*.jsonl")
        assert load(made).ids(range(len(load(made)))) == ["u3"]


# Pictures


@pytest.mark.parametrize("size", [WIDE, MEDIUM], ids=["wide", "medium"])
@pytest.mark.parametrize("keys", ["x", "x2", "xp"], ids=["refused", "in-place", "pairs"])
def test_picture_of_a_pruning(
    keys: str, size: tuple[int, int], session: Path, snap_compare, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    _same_every_time(monkeypatch)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await go_to(pilot, "r2" if keys != "x2" else "u2")
        await press(pilot, *keys)

    assert snap_compare(opened(session), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [WIDE, MEDIUM], ids=["wide", "medium"])
def test_picture_of_a_fork(
    size: tuple[int, int], session: Path, snap_compare, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    _same_every_time(monkeypatch)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await go_to(pilot, "a2")
        await press(pilot, "f")

    assert snap_compare(opened(session), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [WIDE, MEDIUM], ids=["wide", "medium"])
def test_picture_of_an_export(
    size: tuple[int, int], snap_compare, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir("/")

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await press(pilot, "e")

    app = browse(SECRETS.parent, SECRETS)
    assert snap_compare(app, terminal_size=size, run_before=before)


def _same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids, times and folders that are the same in every run."""
    from tau_browser.actions import file_writer, making

    read_file = file_writer.read_file

    def read(path: str, journal: Journal) -> Reading:
        reading = read_file(path, journal)
        elsewhere = "/home/dev/.tau/sessions/--proj-demo--/" + NAME
        return replace(reading, read=replace(reading.read, path=elsewhere))

    monkeypatch.setattr(file_writer, "read_file", read)
    monkeypatch.setattr(making, "now", lambda: "2026-03-02T08:00:00.000Z")
    place_for = file_writer.FileWriter.place_for

    def fixed(self: file_writer.FileWriter, header: dict) -> str:
        path = place_for(self, header | {"id": "0123456789abcdef"})
        return "/home/dev/.tau/sessions" + path.partition("sessions")[2]

    monkeypatch.setattr(file_writer.FileWriter, "place_for", fixed)
