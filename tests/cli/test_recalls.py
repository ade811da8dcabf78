"""The verb recalls: what it prints, what it returns, and that nothing stored acts on anything."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.audit.sessions import Doc, Story
from tests.cli.conftest import Run
from tests.conftest import DATA

RECALL = DATA / "tau" / "20-recall-file-backed.jsonl"
TAGS = ("html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "table")
TAGS += ("tr", "td", "th")
HOSTILE = '<script>alert(1)</script> | [x](http://evil) =cmd|" /C calc" `a` \x1b[31m\u202e'


def hostile(folder: Path) -> Path:
    story = Story(id=HOSTILE, cwd=f"/{HOSTILE}")
    story.add(type="session_info", name=HOSTILE)
    story.user("Go.")
    story.search(f"={HOSTILE}", Doc(1, f"+{HOSTILE}", HOSTILE), usetype=HOSTILE)
    story.say("As [doc 1] says, and [doc 2].")
    answer = {"is_error": True, "details": {"exception": f"@{HOSTILE}"}}
    story.call("jmfts_read", {"doc_id": HOSTILE}, output=HOSTILE, **answer)
    path = folder / "hostile.jsonl"
    path.write_bytes(story.log)
    return path


def test_a_session_as_json(run: Run) -> None:
    result = run("recalls", RECALL, "--json")
    assert result.code == 0
    found = result.json
    assert list(found) == [
        "recalls", "ghosts", "totals", "sessions", "projects", "documents", "coverage",
    ]  # fmt: skip
    recall = found["recalls"][0]
    assert recall["gen_ai.operation.name"] == "search_memory"
    assert recall["gen_ai.tool.name"] == "jmfts_search"
    assert recall["gen_ai.memory.query.text"] == "retry policy backoff"
    assert recall["gen_ai.memory.record.count"] == 3
    assert recall["method"] == {"value": "hybrid", "assumed": True}
    assert recall["score_scale"] == "rank-fused"
    record = recall["gen_ai.memory.records"][0]
    assert record["id"] == "2"
    assert record["content"].startswith("Retries use exponential backoff")
    assert record["metadata"]["verdict"] == "cited"
    assert record["metadata"]["evidence"][0]["entry"] == "8349e013"
    failed = [each for each in found["recalls"] if each["outcome"] == "failed"]
    assert failed[0]["error.type"] == "RuntimeError"
    assert found["totals"]["cited"] == 1


def test_a_store_as_json_tells_no_contents(run: Run) -> None:
    result = run("recalls", "--session-dir", DATA / "tau", "--json")
    found = result.json
    records = [r for each in found["recalls"] for r in each["gen_ai.memory.records"]]
    assert records and not any(record["content"] for record in records)
    assert found["coverage"]["sessions"] == len(found["sessions"])
    assert found["coverage"]["unreadable"]


def test_for_people(run: Run) -> None:
    result = run("recalls", RECALL)
    assert result.code == 0
    assert "1. jmfts_search: retry policy backoff" in result.out
    assert "method hybrid (assumed)" in result.out
    assert "evidence, not proof" in result.out


def test_nothing_recalled_is_1(run: Run) -> None:
    assert run("recalls", DATA / "tau" / "01-linear-tools.jsonl").code == 1
    assert run("recalls", "--demo", "--json").code in (0, 1)


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "md"], ["--format", "csv"]])
def test_nothing_acts_on_a_terminal(run: Run, tmp_path: Path, options: list[str]) -> None:
    result = run("recalls", hostile(tmp_path), *options)
    assert result.code == 0
    assert not set(result.out + result.err) & {"\x1b", "\u202e", "\x07"}


def test_no_cell_is_a_formula(run: Run, tmp_path: Path) -> None:
    result = run("recalls", hostile(tmp_path), "--format", "csv")
    rows = list(csv.reader(io.StringIO(result.out)))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "-", "@")]


def test_no_text_is_html(run: Run, tmp_path: Path) -> None:
    result = run("recalls", hostile(tmp_path), "--format", "html")
    tags: set[str] = set()

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.add(tag)

    Tags().feed(result.out)
    assert tags <= {*TAGS}
    assert "default-src 'none'" in result.out


def test_no_text_is_markdown(run: Run, tmp_path: Path) -> None:
    result = run("recalls", hostile(tmp_path), "--format", "md")
    tokens = MarkdownIt("commonmark").enable("table").parse(result.out)
    inline = {child.type for token in tokens for child in token.children or []}
    assert inline <= {"text", "softbreak", "text_special"}
    block = {token.type.partition("_")[0] for token in tokens}
    assert block <= {"heading", "paragraph", "inline", "table", "thead", "tbody", "tr", "th", "td"}


def test_own_tools_from_the_settings(run: Run, home: Path, tmp_path: Path) -> None:
    story = Story()
    story.call("mcp__x__brain_find", {"query": "tea"}, output='[{"id": "a1", "text": "Green."}]')
    path = tmp_path / "own.jsonl"
    path.write_bytes(story.log)
    assert run("recalls", path).code == 1
    config = home / ".config" / "tau-browse"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[memory.tools]\n"brain_*" = "search"\n')
    found = run("recalls", path, "--json").json["recalls"][0]
    assert (found["system"], found["gen_ai.memory.records"][0]["id"]) == ("config", "a1")
    (config / "config.toml").write_text('[memory.tools]\n"brain_*" = "look"\n')
    refused = run("recalls", path)
    assert refused.code == 2
    assert "search, read, write" in refused.err
    (config / "config.toml").write_text('[memory]\nfolders = "x"\n')
    assert run("recalls", path).code == 2
    (config / "config.toml").write_text("[memory]\nother = 1\n")
    assert "unknown setting memory.other" in run("recalls", path).err
