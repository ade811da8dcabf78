"""Changes from a script: what is printed, what is written, what is returned."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.actions.conftest import LONG_AGO, snapshot
from tests.actions.test_fork import WITH_CALLS
from tests.actions.test_redaction import SECRETS
from tests.cli.conftest import Run
from tests.conftest import load
from tests.stores.logs.writing import claude, pi_header, pi_message, write_lines


@pytest.fixture
def session(home: Path) -> Path:
    folder = home / ".tau" / "sessions" / "--proj-demo--"
    folder.mkdir(parents=True)
    path = folder / "2026-03-01T10-00-00-000Z_s1.jsonl"
    path.write_bytes(WITH_CALLS)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return path


def made(session: Path) -> Path:
    (path,) = set(session.parent.glob("*.jsonl")) - {session}
    return path


def test_fork(session: Path, run: Run) -> None:
    result = run("fork", "s1", "--at", "a2", "--name", "a try")
    assert result.code == 0
    path = made(session)
    assert f"done: {path}" in result.out and f"tau --mode repl --session {path}" in result.out
    forked = load(path)
    assert forked.ids(range(5)) == ["u1", "a1", "r1", "r2", "a2"] and forked.kind(5)


def test_fork_of_some_turns(session: Path, run: Run) -> None:
    answer = run("fork", "s1", "--only", "u1", "--only", "u3", "--json").json
    assert answer["plan"]["references"] == [
        {"entry": "u3", "field": "parentId", "target": "a3", "becomes": "a2"}
    ]
    assert load(made(session)).id == answer["plan"]["session"]


def test_a_dry_run_writes_nothing(session: Path, run: Run, home: Path) -> None:
    before = snapshot(home)
    for argv in (
        ["fork", "s1"],
        ["prune", "s1", "u3"],
        ["prune", "s1", "u3", "--in-place"],
        ["prune", "s1", "u3", "--fold"],
        ["rename", "s1", "new"],
    ):
        answer = run(*argv, "--dry-run", "--json")
        assert answer.code == 0 and answer.json["change"] is None
        assert run(*argv, "--dry-run").code == 0
    assert snapshot(home) == before


def test_prune_in_place_wants_the_number(session: Path, run: Run) -> None:
    refused = run("prune", "s1", "u2", "--in-place")
    assert refused.code == 2 and "--confirm 3" in refused.err
    assert run("prune", "s1", "u2", "--in-place", "--confirm", "4").code == 2
    assert session.read_bytes() == WITH_CALLS
    assert run("prune", "s1", "u2", "--in-place", "--confirm", "3").code == 0
    assert len(load(session)) == 5
    assert run("undo").code == 0
    assert session.read_bytes() == WITH_CALLS and session.stat().st_mtime_ns == LONG_AGO


def test_a_refusal_names_the_option_that_lifts_it(session: Path, run: Run) -> None:
    refused = run("prune", "s1", "r2")
    assert refused.code == 2 and "--pairs takes the other half along" in refused.out
    answer = run("prune", "s1", "r2", "--json")
    assert answer.code == 2
    (refusal,) = answer.json["plan"]["refusals"]
    assert (refusal["remedy"], refusal["entries"]) == ("pairs", ["a1"])
    assert run("prune", "s1", "r2", "--pairs").code == 0


def test_fold_takes_one(session: Path, run: Run) -> None:
    assert run("prune", "s1", "u2", "u3", "--fold").code == 2
    assert run("prune", "s1", "u2", "--fold").code == 0
    assert load(session).kind(8) == "elide"


def test_the_list_of_changes(session: Path, run: Run) -> None:
    assert run("undo", "--list").code == 1
    assert run("undo").code == 2
    run("rename", "s1", "one")
    run("rename", "s1", "two")
    changes = run("undo", "--list", "--json").json["changes"]
    assert [change["about"] for change in changes] == ["rename s1 to two", "rename s1 to one"]
    assert [change["obstacle"] for change in changes] == [None, "what it made was changed since"]
    assert run("undo", changes[1]["id"]).code == 2
    assert "can be taken back" in run("undo", "--dry-run").out
    assert run("undo", changes[0]["id"][:5]).code == 0
    assert "rename s1 to one" in run("undo").out
    assert session.read_bytes() == WITH_CALLS


@pytest.mark.parametrize("form", ["html", "md", "json", "jsonl"])
def test_export_to_a_file(form: str, session: Path, run: Run, home: Path) -> None:
    answer = run("export", "s1", "-o", f"out.{form}", "--json")
    assert answer.code == 0 and answer.json["plan"]["target"] == str(home / f"out.{form}")
    assert (home / f"out.{form}").stat().st_size == answer.json["plan"]["bytes"]
    again = run("export", "s1", "-o", f"out.{form}")
    assert again.code == 2 and "is there already" in again.out
    assert run("undo").code == 0 and not (home / f"out.{form}").exists()


def test_export_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    from tau_browser.cli import main

    assert main(["export", str(SECRETS), "--format", "jsonl", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out == SECRETS.read_bytes()
    assert main(["export", str(SECRETS), "--format", "jsonl", "--redact", "-o", "-"]) == 0
    assert b"AKIA" not in capfdbinary.readouterr().out


def test_secrets_are_listed_by_number(run: Run, home: Path) -> None:
    secrets = run("export", SECRETS, "--dry-run", "--json").json["secrets"]
    assert len(secrets) == 9 and all(secret["hidden"] for secret in secrets)
    (number,) = [at["number"] for at in secrets if at["kind"] == "aws-access-key"]
    assert run("export", SECRETS, "--show", number, "-o", "out.md").code == 0
    assert "AKIAC" in (home / "out.md").read_text()
    assert run("export", SECRETS, "--show", "10").code == 2


def test_export_of_parts(session: Path, run: Run, home: Path) -> None:
    for name, options in (
        ("a", ["--at", "a2"]),
        ("b", ["--subtree", "u2"]),
        ("c", ["--only", "u3"]),
    ):
        assert run("export", "s1", *options, "-o", f"{name}.jsonl").code == 0
    assert [len(load(home / f"{name}.jsonl")) for name in "abc"] == [5, 3, 1]


def test_labels(session: Path, run: Run) -> None:
    assert run("label", "s1").code == 1
    assert run("label", "s1", "a2", "good", "--dry-run").code == 0
    assert run("label", "s1").code == 1
    assert run("label", "s1", "a2", "good \x1b[31mone").code == 0
    assert run("label", "s1", "u3", "--note", "why so?").code == 0
    assert run("label", "s1", "--json").json["labels"] == [
        {"entry": "a2", "label": "good \x1b[31mone", "note": None},
        {"entry": "u3", "label": None, "note": "why so?"},
    ]
    listed = run("label", "s1").out
    assert "\x1b" not in listed and "why so?" in listed
    assert run("label", "s1", "a2", "").code == 0
    assert [at["entry"] for at in run("label", "s1", "--json").json["labels"]] == ["u3"]
    assert run("undo").code == 0
    assert len(run("label", "s1", "--json").json["labels"]) == 2
    assert session.read_bytes() == WITH_CALLS and session.stat().st_mtime_ns == LONG_AGO


def test_import(session: Path, run: Run, home: Path) -> None:
    assert run("export", "s1", "-o", "out.jsonl").code == 0
    answer = run("import", "out.jsonl", "--cwd", "/other", "--json")
    assert answer.code == 0
    made = Path(answer.json["plan"]["target"])
    assert made.parent == home / ".tau" / "sessions" / "--other--"
    assert load(made).id == answer.json["plan"]["session"] != "s1"  # that one is there already
    assert made.read_bytes().splitlines()[1:] == WITH_CALLS.splitlines()[1:]
    assert run("undo").code == 0 and not made.exists()
    assert run("import", "no-such.jsonl").code == 2
    assert run("import", "out.jsonl", "--demo").code == 2


def test_the_demo_can_be_exported(run: Run, home: Path) -> None:
    ref = run("ls", "--demo", "--json").json["sessions"][0]["ref"]
    assert run("export", "--demo", ref, "-o", "demo.html").code == 0


def test_the_demo_is_read_only(run: Run) -> None:
    listed = run("ls", "--demo", "--json").json["sessions"][0]
    refused = run("fork", "--demo", listed["ref"])
    assert refused.code == 2 and "read only" in refused.err


def test_what_is_refused_as_such_is_a_sentence(session: Path, run: Run) -> None:
    for argv in (["rename", "s1", " "], ["prune", "s1", "no-such"], ["fork", "s1", "--at", "x"]):
        result = run(*argv)
        assert result.code in (1, 2) and result.err.count("\n") == 1


@pytest.mark.parametrize("program", ["pi", "claude-code"])
def test_other_programs_reopen_what_is_made(program: str, run: Run, tmp_path: Path) -> None:
    if program == "pi":
        lines = [pi_header("x1"), pi_message("a", None), pi_message("b", "a"), pi_message("c", "b")]
        path = write_lines(tmp_path / "--proj--" / "x1.jsonl", lines)
    else:
        lines = [claude("user", "a", None, "x"), claude("assistant", "b", "a", "y")]
        path = write_lines(tmp_path / "-proj-demo" / "x1.jsonl", lines)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    for argv in (["fork", str(path), "--at", "a", "--name", "new"], ["prune", str(path), "b"]):
        answer = run(*argv, "--json").json
        made = Path(answer["plan"]["target"])
        assert made.exists() and answer["plan"]["leaf"] and not answer["plan"]["refusals"]
        named = str(made) if program == "pi" else made.stem
        assert answer["resume"].endswith(f" {named}") and answer["resume"].startswith("cd ")
        assert run("undo").code == 0 and not made.exists()
    for option in ("--in-place", "--fold"):
        refused = run("prune", str(path), "b", option)
        assert refused.code == 2 and "it can: fork, prune" in refused.err
