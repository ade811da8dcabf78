"""What holds for every verb: words and options, exit codes, one line per error, clean output."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import tau_browser
from tau_browser.cli import main
from tau_browser.cli.places import app_target
from tests.cli.conftest import PROGRAM, Run, environment
from tests.conftest import DATA, log_of, message
from tests.stores.conftest import write
from tests.stores.samples import SAMPLES, Sample

INJECTION = DATA / "bugcases" / "39-terminal-injection" / "sessions"
ODD = DATA / "bugcases" / "45-odd-paths" / "sessions"


# Options and words


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"tau-browse {tau_browser.__version__}\n", "")


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["some-ref", "--help"]])
def test_help_names_every_verb_and_the_rules(run: Run, argv: list[str]) -> None:
    result = run(*argv)
    assert result.code == 0 and result.err == ""
    for word in ("ls", "show", "find", "doctor", "completion", "--session-dir", "--demo", "./ls"):
        assert word in result.out


def test_options_may_stand_before_the_verb(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "r" / "s.jsonl", "sid")
    for argv in (
        ["--session-dir", "r", "ls"],
        ["--session-dir=r", "ls"],
        ["ls", "--session-dir=r"],
    ):
        monkeypatch.chdir(tmp_path)
        assert "sid" in run(*argv).out


def test_verb_wins_over_a_file_of_its_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "ls", "named-ls")
    assert run("ls").code == 1
    assert run("show", "./ls", "--json").json["session"]["id"] == "named-ls"
    # for the app the same holds; it needs a terminal, which says that the path was found
    for argv in (["./ls"], ["--", "ls"]):
        assert "needs a terminal" in run(*argv).err


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["--bogus"], "unrecognized arguments: --bogus; `tau-browse --help` tells more"),
        (["ls", "a", "b"], "unrecognized arguments: b; `tau-browse ls --help` tells more"),
        (
            ["show"],
            "the following arguments are required: ref; `tau-browse show --help` tells more",
        ),
        (["ls", "--sess", "x"], "unrecognized arguments: --sess; "),
        (["ls", "--demo", "--session-dir", "x"], "argument --session-dir: not allowed with"),
        (["completion", "tcsh"], "argument shell: invalid choice: 'tcsh'"),
        (["ls", "--session-dir", ""], "--session-dir is empty; name a folder"),
        (["ls", "--session-dir", "gone"], "--session-dir gone is not a directory"),
        (["ls", "gone/"], "gone/: no such file or directory"),
        (["show", "gone.jsonl"], "gone.jsonl: no such file or directory"),
        (["show", ""], "an empty word names no session"),
        (["gone.jsonl"], "gone.jsonl: no such file or directory"),
        ([], "the app needs a terminal; "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_error_is_one_line(run: Run, argv: list[str], reason: str) -> None:
    result = run(*argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"tau-browse: error: {reason}")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("name", ["TAU_HOME", "TAU_PORTABLE_BASE"])
def test_broken_home_is_an_error_unless_it_is_not_needed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "/no/such")
    for verb in (["ls"], ["show", "x"], ["find", "x", "y"], ["x"], []):
        result = run(*verb)
        assert result.code == 2
        assert result.err.startswith(f"tau-browse: error: {name}=/no/such is not a directory")
    write(tmp_path / "r" / "s.jsonl")
    assert run("ls", "--session-dir", tmp_path / "r").code == 0


# References


def test_unknown_reference_is_nothing_found(run: Run, home: Path) -> None:
    for argv in (["show", "nope"], ["find", "nope", "x"], ["nope"]):
        result = run(*argv)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(f"tau-browse: no session 'nope' in {home}/.tau/sessions")


def test_ambiguous_reference_lists_path_and_title(run: Run, tmp_path: Path) -> None:
    for at in range(22):
        write(tmp_path / f"{at:02}.jsonl", f"abc{at}", f"title {at}")
        os.utime(tmp_path / f"{at:02}.jsonl", (at, at))
    result = run("show", "abc", "--session-dir", tmp_path)
    first, *candidates, last = result.err.splitlines()
    assert result.code == 2
    assert first.startswith("tau-browse: error: 'abc' names 22 sessions")
    assert candidates[0] == f"  {tmp_path}/21.jsonl  title 21" and len(candidates) == 20
    assert last == "  and 2 more"


def test_odd_paths(run: Run) -> None:
    for row in run("ls", ODD, "--json").json["sessions"]:
        assert run("show", row["path"], "--json").json["session"]["id"] == row["id"]
    assert run("ls", ODD).out.count("\n") == 7


# Demo


def test_demo_is_used_where_asked_for_and_only_there(run: Run) -> None:
    rows = run("ls", "--demo", "--json").json["sessions"]
    assert len(rows) == 6
    assert run("show", rows[0]["ref"][:8], "--demo").code == 0
    assert run("find", rows[0]["ref"], "e", "--demo").code == 0
    assert run("ls").code == run("show", rows[0]["ref"]).code == 1


def options(**given: object) -> argparse.Namespace:
    unset = dict.fromkeys(("target", "session_dir", "store", "url", "token_file"))
    return argparse.Namespace(**unset | {"demo": False} | given)


def test_app_opens_the_demo_where_there_is_nothing(home: Path) -> None:
    target = app_target(options())
    assert target.is_demo and str(home / ".tau" / "sessions") in target.notice


def test_app_opens_what_there_is(home: Path) -> None:
    path = write(home / ".tau" / "sessions" / "--x--" / "s.jsonl", "own")
    for given in ({}, {"target": "own"}, {"target": str(path)}, {"target": str(home)}):
        target = app_target(options(**given))
        assert not target.is_demo and target.notice == ""
        assert [item.path for item in target.store.scan()] == [str(path)]
        assert target.path == (str(path) if given.get("target") in ("own", str(path)) else None)
    assert app_target(options(demo=True)).is_demo


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_store_is_opened_at_any_path(sample: Sample, run: Run, tmp_path: Path) -> None:
    """Named or told by itself, whether or not it has a usual place here."""
    folder = tmp_path / "stores"
    folder.mkdir()
    sessions = sample.make(folder)
    for named in ({"store": sample.name}, {}):
        target = app_target(options(target=str(folder), **named))
        assert target.store.name == sample.name
        assert len([*target.store.scan()]) == len(sessions)
    for argv in (["ls", folder], ["ls", folder, "--store", sample.name]):
        assert len(run(*argv, "--json").json["sessions"]) == len(sessions)
    told = run("show", "nope", "--store", sample.name)
    assert told.code > 0 and ("no session 'nope'" in told.err or "name a path" in told.err)


def test_app_shows_an_unreadable_store_rather_than_the_demo(home: Path) -> None:
    (home / ".tau" / "sessions").mkdir(parents=True)
    (home / ".tau" / "sessions" / "s.jsonl").symlink_to("gone")
    assert not app_target(options()).is_demo


def test_app_shows_an_empty_folder_that_was_named(tmp_path: Path) -> None:
    assert not app_target(options(session_dir=str(tmp_path))).is_demo
    assert not app_target(options(target=str(tmp_path))).is_demo


# Nothing acts on a terminal, nothing is changed


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sessions that would take over a terminal, below a folder that would, too."""
    root = tmp_path / "\x1b]0;x\x07\x9b31m"
    shutil.copytree(INJECTION, root)
    monkeypatch.chdir(tmp_path)
    yield root


def test_nothing_stored_acts_on_a_terminal(
    hostile: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    sessions = sorted(map(str, hostile.rglob("*.jsonl")))
    gone = f"{hostile}/gone\x1b[2J.jsonl"
    commands = [
        ["ls", str(hostile)],
        ["ls", "--session-dir", str(hostile)],
        *(["show", path] for path in sessions),
        *(["find", path, "e"] for path in sessions),
        ["show", "s1", "--session-dir", str(hostile)],
        ["show", str(hostile)],  # ambiguous
        ["show", gone],
        ["ls", "--session-dir", gone],
        ["show", "\x1b[31mid\x07", "--session-dir", str(hostile)],
        ["show", sessions[0], "--at", "\x9b2J"],
        ["find", sessions[0], "\x1b(", "--regex"],
        ["--\x1b[31m"],
        [gone],
        ["doctor", "--session-dir", str(hostile)],
    ]
    for command in commands:
        for json in ([], ["--json"]):
            capsysbinary.readouterr()
            main([*command, *json])
            for output in capsysbinary.readouterr():
                text = output.decode("utf-8", "strict")
                acting = {char for char in text if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0}
                assert acting <= {"\n"}, command


def test_hidden_text_is_found_and_shown(run: Run, hostile: Path) -> None:
    path = next(hostile.rglob("*s1.jsonl"))
    assert [hit["entry"] for hit in run("find", path, "FAKE", "--json").json["hits"]] == ["u16"]
    assert "u16  user: cr: before safe␍FAKE after" in run("find", path, "FAKE").out


def test_reading_changes_no_byte_and_no_time(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "r"
    shutil.copytree(DATA / "bugcases" / "38-mtime-lies" / "sessions", root)
    for at, path in enumerate(sorted(root.rglob("*"))):
        os.utime(path, ns=(at * 10**9, at * 10**9))

    def look() -> dict[Path, tuple[int, bytes]]:
        return {
            path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in root.rglob("*")
        }

    before = look()
    for argv in (["ls"], ["show", "mid"], ["show", "old", "--json"], ["find", "new", "e"]):
        assert run(*argv, "--session-dir", root).code == 0
    run("doctor", "--session-dir", root)
    assert look() == before


# As a process


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_output_is_utf8_in_any_locale(tmp_path: Path, locale: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "naïve 日本語 \ud800 \U0001f389")]))
    env = environment(tmp_path) | {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for options in ([], ["--json"]):
        command = [*PROGRAM, "show", str(path), *options]
        done = subprocess.run(command, env=env, capture_output=True, check=True)
        assert "naïve 日本語" in done.stdout.decode() and done.stderr == b""


def test_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of(message(f"m{at}", None, "x" * 500) for at in range(3000)))
    command = [*PROGRAM, "show", str(path), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path)
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_one_line(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl")
    with Path("/dev/full").open("wb") as full:
        command = [*PROGRAM, "ls", str(tmp_path)]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environment(tmp_path), check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"tau-browse: error: No space left on device\n"


def test_without_any_output_it_still_answers(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl")
    closed = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *PROGRAM]
    for words, code in (("ls .", 0), ("show . --json", 0), ("find . zz", 1), ("gone.jsonl", 2)):
        command = [*closed, *words.split()]
        done = subprocess.run(command, env=environment(tmp_path), cwd=tmp_path, check=False)
        assert done.returncode == code


def test_interrupt_is_quiet(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    write(tmp_path / "s.jsonl")
    monkeypatch.setattr("tau_browser.cli.show.load", interrupt)
    assert run("show", tmp_path / "s.jsonl") == (130, "", "")


def test_file_that_cannot_be_read_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    path = write(tmp_path / "s.jsonl")
    monkeypatch.setattr("tau_browser.stores.session_file.FileSource.read", fail)
    assert run("show", path) == (2, "", f"tau-browse: error: {path}: input/output error\n")
    listed = run("ls", tmp_path)
    assert listed.code == 2 and "input/output error" in listed.out
