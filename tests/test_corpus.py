"""The check of real sessions says what differs from their index, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import corpus
from tests.stores.logs.writing import claude, pi_header, pi_message, write_lines

HEAD = ["format", "path", "entries", "roots", "forks", "max_depth"]
ROWS = [
    # of the file alone; the line without an id counts as an entry, and as nothing else
    ["claude-code", "claude-code/-p/c1.jsonl", "4", "1", "1", "2"],
    ["claude-code", "claude-code/-p/c1/note.json", "", "", "", ""],
    ["pi", "pi/p1.jsonl", "3", "1", "0", "2"],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small corpus, and its index."""
    lines = [
        claude("user", "a", None, "words"),
        {"type": "mode", "sessionId": "c1"},
        claude("assistant", "b", "a", "one"),
        claude("assistant", "c", "a", "other"),
    ]
    write_lines(tmp_path / "claude-code" / "-p" / "c1.jsonl", lines)
    write_lines(tmp_path / "claude-code" / "-p" / "c1" / "note.json", [{"a": 1}])
    entries = [pi_message("a", None), pi_message("b", "a")]
    write_lines(tmp_path / "pi" / "p1.jsonl", [pi_header("p1"), *entries])
    index(tmp_path, ROWS)
    return tmp_path


def index(folder: Path, rows: list[list[str]]) -> None:
    (folder / corpus.INDEX).write_text("\n".join("\t".join(row) for row in [HEAD, *rows]))


def said(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What the check prints; it fails where anything differs."""
    code = corpus.main([str(folder)])
    *lines, last = capsys.readouterr().out.splitlines()
    assert code == (1 if lines else 0)
    assert last == f"{len(ROWS):,} files of INDEX.tsv, {len(lines)} differences"
    return lines


def test_what_is_as_it_should_be(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(folder, capsys) == []


def test_each_difference_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claude_row, note, pi_row = ROWS
    index(folder, [[*claude_row[:2], "5", "2", "0", "3"], note, pi_row])
    path = claude_row[1]
    assert said(folder, capsys) == [
        f"{path}: entries 4, not 5",
        f"{path}: roots 1, not 2",
        f"{path}: forks 1, not 0",
        f"{path}: depth 2, not 3",
    ]


def test_files_that_are_not_what_the_index_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(folder / "pi" / "new.jsonl", [pi_header("p2")])
    write_lines(folder / "pi" / "p1.jsonl", [{"type": "x"}, {"type": "y"}])
    (folder / "claude-code" / "-p" / "c1.jsonl").unlink()
    lines = said(folder, capsys)
    assert "claude-code/-p/c1.jsonl: not recognised as claude-code" in lines
    assert any(line.endswith("c1.jsonl: no such file or directory") for line in lines)
    assert "pi/p1.jsonl: not recognised as pi" in lines
    assert "pi/new.jsonl: not in INDEX.tsv" in lines


def test_a_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        corpus.main([str(tmp_path)])
    assert ended.value.code == 2
