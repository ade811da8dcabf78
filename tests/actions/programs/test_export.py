"""Exports in the format of the program that wrote a session: it reopens them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tau_browser.actions.export.plan import plan_export
from tau_browser.actions.export.request import ExportRequest, Format
from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.plan import Plan
from tests.actions.programs import test_claude_code, test_pi
from tests.actions.programs.reopening import (
    ClaudeCode,
    pi_context,
    pi_entries,
    pi_path,
    records_in,
)

SECRET = "ghp_" + "B7k2Q9x4" * 4 + "B7k2"

Place = test_pi.Place | test_claude_code.Place


def of_pi(tmp_path: Path) -> test_pi.Place:
    return test_pi.Place(tmp_path, test_pi.TALK)


def of_claude_code(tmp_path: Path) -> test_claude_code.Place:
    return test_claude_code.Place(tmp_path, test_claude_code.TALK, test_claude_code.AGENT)


def exported(place: Place, output: Path, **request: Any) -> Plan:
    """The plan of an export, carried out."""
    asked = ExportRequest(Format.JSONL, str(output), **request)
    plan = plan_export(place.reading().session, asked).plan
    FileWriter("").apply(plan, place.journal)
    return plan


def test_all_of_pi_is_its_bytes(tmp_path: Path) -> None:
    place = of_pi(tmp_path)
    plan = exported(place, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == place.path.read_bytes()
    assert "pi reopens it: pi --session FILE" in plan.remarks


def test_a_path_of_pi_opens_at_its_end(tmp_path: Path) -> None:
    place = of_pi(tmp_path)
    exported(place, tmp_path / "out.jsonl", at=place.at("u2"))
    header, entries = pi_entries(tmp_path / "out.jsonl")
    _, source = pi_entries(place.path)
    assert header["id"] == "p1" and entries[-1]["id"] == "u2"
    assert pi_context(pi_path(entries)) == pi_context(pi_path(source, "u2"))


def test_claude_code_finds_it_under_its_own_id(tmp_path: Path) -> None:
    place = of_claude_code(tmp_path)
    named = plan_export(place.reading().session, ExportRequest(Format.JSONL)).plan.target
    assert Path(named).name == place.path.name
    plan = exported(place, tmp_path / "out.jsonl")
    assert any(f"claude --resume {test_claude_code.ID}" in remark for remark in plan.remarks)
    copy, source = ClaudeCode(records_in(tmp_path / "out.jsonl")), ClaudeCode(test_claude_code.TALK)
    assert {row["sessionId"] for row in copy.rows} == {test_claude_code.ID}
    assert not any("forkedFrom" in row for row in copy.rows)
    assert copy.context(copy.leaf) == source.context(source.leaf)
    exported(place, tmp_path / "path.jsonl", at=place.at("u2"))
    copy = ClaudeCode(records_in(tmp_path / "path.jsonl"))
    assert copy.leaf == "u2"
    assert len(copy.context("u2")) == len(source.context("u2"))


@pytest.mark.parametrize("make", [of_pi, of_claude_code])
def test_what_cannot_be_reopened_is_written_and_said(make: Any, tmp_path: Path) -> None:
    place: Place = make(tmp_path)
    plan = exported(place, tmp_path / "out.jsonl", only=(place.at("r1"),))
    assert any("half a tool call" in remark for remark in plan.remarks)
    assert len(records_in(tmp_path / "out.jsonl")) == (2 if make is of_pi else 1)
    if make is of_claude_code:
        plan = exported(place, tmp_path / "side.jsonl", subtree=place.at("s1"))
        assert any("Claude Code cannot reopen it" in remark for remark in plan.remarks)
        assert {row["uuid"] for row in records_in(tmp_path / "side.jsonl")} == {"s1", "s2"}


@pytest.mark.parametrize("program", ["pi", "claude-code"])
def test_secrets_are_hidden_in_the_lines_as_they_are_stored(program: str, tmp_path: Path) -> None:
    place: Place
    if program == "pi":
        talk = [*test_pi.TALK, test_pi.pi_message("x", "a3", f"my key {SECRET}")]
        place = test_pi.Place(tmp_path, talk)
    else:
        row = test_claude_code.claude("user", "x", "a7", f"my key {SECRET}", todos=[SECRET])
        place = test_claude_code.Place(tmp_path, [*test_claude_code.TALK, row])
    exported(place, tmp_path / "out.jsonl", redact=True)
    data = (tmp_path / "out.jsonl").read_text()
    assert SECRET not in data and "[redacted" in data
    before = json.loads(place.path.read_text().splitlines()[-1])
    after = json.loads(data.splitlines()[-1])
    assert before.keys() == after.keys() and before["timestamp"] == after["timestamp"]
    exported(place, tmp_path / "shown.jsonl")
    assert SECRET in (tmp_path / "shown.jsonl").read_text()
