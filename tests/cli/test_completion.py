"""Shell completion, asked for as a shell does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM, Run, environment
from tests.conftest import DATA
from tests.stores.conftest import write


@pytest.mark.parametrize(
    ("shell", "mark"),
    [("bash", "complete "), ("zsh", "compdef"), ("fish", "complete --command ")],
)
def test_script(run: Run, shell: str, mark: str) -> None:
    result = run("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert "tau-browse" in result.out and mark in result.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_accepts_the_script(run: Run, shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(run("completion", shell).out)
    subprocess.run([shell, "-n", script], check=True)


def completed(line: str, home: Path, shell: str = "bash", **env: str) -> list[str]:
    """What is offered behind a line."""
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": shell,
        "_ARGCOMPLETE_IFS": "\x0b",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 8>&1 9>/dev/null', "sh", *PROGRAM],
        env=environment(home) | asked | env,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [word for word in done.stdout.split("\x0b") if word]


@pytest.fixture
def sessions(home: Path) -> Path:
    root = home / ".tau" / "sessions" / "--x--"
    write(root / "a.jsonl", "aaa111")
    write(root / "b.jsonl", "bbb222")
    write(root / "c.jsonl", "aaa\x1b[31m")
    return home


def test_verbs_references_and_files_come_first(sessions: Path) -> None:
    (sessions / "afile.jsonl").write_bytes(b"")
    offered = completed("tau-browse ", sessions)
    assert {"ls", "show", "find", "doctor", "completion", "aaa111", "bbb222"} <= set(offered)
    assert completed("tau-browse a", sessions) == ["afile.jsonl", "aaa111"]
    assert completed("tau-browse s", sessions) == ["show", "search", "saved", "snapshot"]


@pytest.mark.parametrize("verb", ["show", "find"])
def test_references_of_a_verb(sessions: Path, verb: str) -> None:
    assert completed(f"tau-browse {verb} b", sessions) == ["bbb222"]


def test_title_is_told_where_the_shell_shows_it(sessions: Path, run: Run) -> None:
    run("ls")  # titles come from the catalog
    assert completed("tau-browse show b", sessions, "zsh") == ["bbb222:hello"]


def test_shells_are_offered(sessions: Path) -> None:
    assert completed("tau-browse completion ", sessions) == ["bash", "zsh", "fish"]


def test_options_are_offered(sessions: Path) -> None:
    assert set(completed("tau-browse find --", sessions)) >= {"--regex", "--limit", "--json"}


def test_query_and_entry_are_the_persons_own(sessions: Path) -> None:
    assert completed("tau-browse find aaa111 ", sessions) == []
    assert completed("tau-browse show aaa111 --at ", sessions) == []


def test_broken_home_completes_files_and_does_not_fail(
    home: Path,
) -> None:
    (home / "file").write_text("")
    assert completed("tau-browse show f", home, TAU_HOME="/no/such") == ["file"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_the_script(run: Run, sessions: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "tau-browse"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(DATA.parents[1])!r})\n"
        "from tau_browser.cli import main\nraise SystemExit(main())\n"
    )
    program.chmod(0o755)
    script = run("completion", "bash").out
    asked = (
        f"{script}\n"
        "COMP_WORDS=(tau-browse show b); COMP_CWORD=2; COMP_LINE='tau-browse show b'\n"
        "COMP_POINT=${#COMP_LINE}; COMP_TYPE=9\n"
        "_python_argcomplete tau-browse b show\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    env = environment(sessions)
    env["PATH"] = f"{program.parent}:{env['PATH']}"
    done = subprocess.run(
        ["bash", "-c", asked], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["bbb222"]
