"""The command that continues a session, by the program that wrote it."""

from __future__ import annotations

import shlex

import pytest

from tau_browser.model.resume import resume_command
from tests.conftest import HEADER, log_of, message, read


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("tau", ["tau", "--mode", "repl", "--session", "/a b/$(x).jsonl"]),
        ("jmfts", ["tau", "--store", "jmfts", "--mode", "repl", "--session", "/a b/$(x).jsonl"]),
        ("pi", ["pi", "--session", "/a b/$(x).jsonl"]),
        ("claude-code", ["claude", "--resume", "i'd"]),
        ("codex", ["codex", "resume", "i'd"]),
    ],
)
def test_each_program_by_what_it_takes(store: str, expected: list[str]) -> None:
    header = HEADER | {"id": "i'd", "cwd": "/in;here"}
    session = read(log_of([message("u", None, "x")], header))
    command = resume_command(store, session, "/a b/$(x).jsonl")
    assert shlex.split(command) == ["cd", "/in;here", "&&", *expected]


def test_a_store_of_no_program_has_none() -> None:
    assert resume_command("agmem", read(log_of([message("u", None, "x")])), "/repo") == ""
