"""Exports: all that is stored, in a form that stays what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tau_browser.actions.export.plan import plan_export
from tau_browser.actions.export.request import ExportRequest, Format
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Refused
from tests.actions.conftest import (
    FIXTURES,
    CopyOf,
    in_tau,
    reading_of,
    snapshot,
    writer_of,
)
from tests.actions.test_fork import WITH_CALLS, named
from tests.actions.test_redaction import SECRETS
from tests.conftest import DATA, load, log_of, message, read


def exported(path: Path, form: Format, **request: object) -> bytes:
    plan = plan_export(reading_of(path).session, ExportRequest(form, **request)).plan  # type: ignore[arg-type]
    return b"".join(plan.content.pieces())


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_a_log_is_the_same_session_to_tau(
    fixture: Path, tmp_path: Path, copy_of: CopyOf, journal: Journal
) -> None:
    path = copy_of(fixture)
    output = tmp_path / "out.jsonl"
    request = ExportRequest(Format.JSONL, str(output))
    before = snapshot(path.parent)
    writer_of(path).apply(plan_export(reading_of(path).session, request).plan, journal)
    assert in_tau(str(output)) == in_tau(str(path))
    assert snapshot(path.parent) == before and output.stat().st_mode & 0o777 == 0o600
    again = exported(output, Format.JSONL)
    assert again == output.read_bytes()


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_every_session_can_be_written_in_every_form(fixture: Path, form: Format) -> None:
    if fixture.stat().st_size < 100_000:
        assert exported(fixture, form)


@pytest.mark.parametrize("case", sorted((DATA / "bugcases").glob("*/sessions/*/*.jsonl")),
                         ids=lambda path: "/".join(path.parts[-4::3]))  # fmt: skip
def test_every_odd_session_can_be_written_in_every_form(case: Path) -> None:
    for form in Format:
        try:
            data = exported(case, form)
        except Refused as error:
            assert "nothing to export" in str(error)
            continue
        data.decode("utf-8" if form is not Format.JSONL else "latin-1")


def test_parts(copy_of: CopyOf) -> None:
    path = copy_of(WITH_CALLS)
    u2, a2, u3 = named(path, "u2", "a2", "u3")

    def ids(**request: object) -> list[str]:
        session = read(exported(path, Format.JSONL, **request))
        return session.ids(range(len(session)))

    assert ids(at=a2) == ["u1", "a1", "r1", "r2", "a2"]
    assert ids(subtree=u2) == ["u2", "a3", "u3"]
    assert ids(only=(a2, u3)) == ["a2", "u3"]


def test_a_file_that_is_there_is_not_overwritten(copy_of: CopyOf, tmp_path: Path) -> None:
    path = copy_of(WITH_CALLS)
    (tmp_path / "out.md").write_text("mine")
    request = ExportRequest(Format.MARKDOWN, str(tmp_path / "out.md"))
    assert (
        "is there already" in plan_export(reading_of(path).session, request).plan.refusals[0].reason
    )


# Secrets


@pytest.mark.parametrize("form", Format)
def test_secrets_are_hidden_in_every_form(form: Format) -> None:
    data = exported(SECRETS, form, redact=True).decode()
    for secret in ("AAAAAAA", "ghp_B", "AKIAC", "hunter2", "RkFLRQ", "tvly-E", "GOCSPX"):
        assert secret not in data
    for kept in json.loads((SECRETS.parents[2] / "expect.json").read_bytes())["keep"]:
        assert kept in data


def test_what_is_sent_is_redacted_and_what_is_read_again_is_not() -> None:
    for form in Format:
        assert ("AKIAC" in exported(SECRETS, form).decode()) is not form.redacts


def test_a_secret_can_be_shown_and_others_not() -> None:
    data = exported(SECRETS, Format.HTML, shown=frozenset({"AKIACCCCCCCCCCCCCCCC"})).decode()
    assert "AKIACCCC" in data and "ghp_B" not in data


def test_the_plan_says_how_many() -> None:
    for redact, words in ((True, "hidden"), (False, "written as they are")):
        request = ExportRequest(Format.HTML, redact=redact)
        remarks = plan_export(load(SECRETS), request).plan.remarks
        assert any(remark.startswith("9 secrets found") and words in remark for remark in remarks)


# Markdown


def code_blocks(text: str) -> list[str]:
    return [token.content for token in MarkdownIt().parse(text) if token.type == "fence"]


def test_fences_hold_what_they_are_given() -> None:
    case = DATA / "bugcases" / "54-export-markdown-fences"
    (path,) = case.glob("sessions/*/*.jsonl")
    text = exported(path, Format.MARKDOWN).decode()
    blocks = code_blocks(text)
    expected = json.loads((case / "expect.json").read_bytes())["code_blocks_equal"]
    for output in expected:
        output = output.replace("\r\n", "\n")
        assert (output if output.endswith("\n") else output + "\n") in blocks
    headings = [token for token in MarkdownIt().parse(text) if token.type == "heading_open"]
    assert len(headings) == 2 + len(load(path))


HOSTILE = [
    "# no heading",
    "no heading\n===",
    "no heading\n---",
    "<script>alert(1)</script>",
    "</details>",
    "```\nnever closed",
    "~~~~ py\nnever closed\n~~~",
    "a ` b\nc ` <b>d</b>",
    "&lt;b&gt;",
    "   ## indented",
]


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("role", ["user", "assistant", "toolResult"])
def test_nothing_that_was_said_shapes_the_document(
    hostile: str, role: str, copy_of: CopyOf
) -> None:
    records = [message("u1", None, hostile, role), message("u2", "u1", "AFTER")]
    text = exported(copy_of(log_of(records)), Format.MARKDOWN).decode()
    tokens = MarkdownIt("commonmark").parse(text)
    assert sum(token.type == "heading_open" for token in tokens) == 4
    assert not any(token.type == "html_block" for token in tokens)
    inline = [child for token in tokens for child in token.children or ()]
    assert not any(child.type == "html_inline" for child in inline)
    assert any(token.type == "inline" and token.content == "AFTER" for token in tokens)


def test_code_in_prose_stays_as_it_was(copy_of: CopyOf) -> None:
    said = "use `a<b && c` here:\n\n```py\nif a < b:\n    pass  # no\n```\n\n- a list\n- of <two>"
    text = exported(copy_of(log_of([message("u1", None, said)])), Format.MARKDOWN).decode()
    assert "use `a<b && c` here:" in text and "if a < b:\n    pass  # no\n" in text
    assert "- of \\<two>" in text


def test_branches_are_sections(copy_of: CopyOf) -> None:
    text = exported(copy_of(DATA / "tau" / "02-forked-tree.jsonl"), Format.MARKDOWN).decode()
    assert text.count("\n## Branch ") == 4
    session = load(DATA / "tau" / "02-forked-tree.jsonl")
    for place in range(len(session)):
        assert text.count(f"`{session.entry_id(place)}` · ") == 1


def test_pictures_stand_in_the_text(copy_of: CopyOf) -> None:
    text = exported(copy_of(DATA / "tau" / "08-images.jsonl"), Format.MARKDOWN).decode()
    assert "](data:image/png;base64," in text


# JSON


def test_the_document_holds_every_entry_as_stored() -> None:
    for fixture in FIXTURES:
        if fixture.stat().st_size > 100_000:
            continue
        document = json.loads(exported(fixture, Format.JSON, redact=False))
        session = load(fixture)
        assert document["leaf"] == session.entry_id(session.leaf)
        assert [entry["id"] for entry in document["entries"]] == session.ids(session.tree.order)
        if fixture.stem.startswith("16"):  # NaN, which JSON has no word for
            continue
        for entry in document["entries"]:
            assert entry["record"] == session.record(session.find(entry["id"])[0])
