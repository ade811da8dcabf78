"""`tau-browse ls`."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tau_browser.model.times import parse_time
from tau_browser.stores import files
from tests.actions.observe.sessions import calls
from tests.cli.conftest import Run
from tests.conftest import DATA, HEADER, log_of, message
from tests.stores.conftest import write

BUGCASES = DATA / "bugcases"
EXPECTED = {
    (expected["header"]["id"], expected["entries_after_fold"]): expected
    for path in (DATA / "tau" / "expected").glob("*.json")
    for expected in [json.loads(path.read_bytes())]
}


@pytest.fixture
def tau_home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """τ's home as τ left it."""
    monkeypatch.setenv("TAU_HOME", str(DATA / "tau" / "home"))
    return DATA / "tau" / "home"


# JSON


def test_json_has_every_session_of_the_home_as_tau_sees_it(run: Run, tau_home: Path) -> None:
    result = run("ls", "--json")
    assert result.code == 0 and result.err == ""
    assert list(result.json) == ["sessions", "coverage"]
    paths = {str(path) for path in tau_home.rglob("*.jsonl")}
    assert result.json["coverage"] == {"seen": 19, "listed": 19, "unreadable": []}
    assert {row["path"] for row in result.json["sessions"]} == paths
    for row in result.json["sessions"]:
        expected = EXPECTED[row["id"], row["entries"]]
        header = expected["header"]
        assert row == {
            "ref": header["id"],
            "id": header["id"],
            "title": expected["display_title"],
            "cwd": header["cwd"],
            "store": "tau",
            "path": row["path"],
            "created": header["timestamp"],
            "modified": row["modified"],
            "entries": expected["entries_after_fold"],
            "parent": header["parent"],
            "diagnostics": 0,
        }
        assert parse_time(row["modified"]) == parse_time(expected["listing"]["modified"])


def test_newest_first_by_what_is_written_not_by_the_file(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "r"
    shutil.copytree(BUGCASES / "38-mtime-lies" / "sessions", root)
    for at, path in enumerate(sorted(root.rglob("*.jsonl"), reverse=True)):
        os.utime(path, (at, at))
    rows = run("ls", "--session-dir", root, "--json").json["sessions"]
    assert [row["id"] for row in rows] == ["new", "mid", "old"]


def test_what_a_file_does_not_tell_is_null(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(b"")
    (row,) = run("ls", tmp_path / "s.jsonl", "--json").json["sessions"]
    path = str(tmp_path / "s.jsonl")
    unknown = dict.fromkeys(["id", "cwd", "created", "modified", "parent"])
    assert row == unknown | {
        "ref": path,
        "title": "(no session id)",
        "store": "tau",
        "path": path,
        "entries": 0,
        "diagnostics": 1,
    }


def test_sessions_with_one_id_are_told_apart_by_their_paths(run: Run, tmp_path: Path) -> None:
    one, other = write(tmp_path / "a.jsonl", "same"), write(tmp_path / "b.jsonl", "same")
    write(tmp_path / "c.jsonl", "own")
    rows = run("ls", tmp_path, "--json").json["sessions"]
    assert {row["ref"] for row in rows} == {str(one), str(other), "own"}


def test_every_ref_names_its_session(run: Run) -> None:
    root = DATA / "tau"
    for row in run("ls", "--session-dir", root, "--json").json["sessions"]:
        session = run("show", row["ref"], "--session-dir", root, "--json").json["session"]
        assert {name: session[name] for name in row} == row


def test_unreadable_is_listed_with_its_reason(run: Run) -> None:
    answer = run("ls", DATA / "tau" / "corrupt", "--json").json
    assert answer["coverage"]["seen"] == 35 and answer["coverage"]["listed"] == 33
    reasons = {Path(item["path"]).name: item["reason"] for item in answer["coverage"]["unreadable"]}
    assert reasons == {
        "c33-gz.jsonl.gz": "compressed with gzip: unpack the file to read it",
        "c35-partial-staging-file.partial": ("a session whose first lines are still being written"),
    }


def test_diagnostics_are_as_many_as_show_tells(run: Run) -> None:
    for row in run("ls", DATA / "tau" / "corrupt", "--json").json["sessions"]:
        assert row["diagnostics"] == len(run("show", row["path"], "--json").json["diagnostics"])


# For people


def test_table_and_coverage(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "r" / "a.jsonl", "0123456789ab", "日本語 title")
    write(tmp_path / "r" / "b.jsonl", "ffffffffffff", "plain")
    with (tmp_path / "r" / "b.jsonl").open("ab") as file:
        file.write(b"not json\n")
    (tmp_path / "r" / "c.jsonl.gz").write_bytes(b"")
    lines = run("ls", tmp_path / "r").out.splitlines()
    assert lines == [
        "SESSION   MODIFIED             ENTRIES     TITLE         DIRECTORY",
        "01234567  2026-03-01 10:00:01        1     日本語 title  /proj/demo",
        "ffffffff  2026-03-01 10:00:01        1  !  plain         /proj/demo",
        "",
        f"not listed: {tmp_path}/r/c.jsonl.gz: compressed with gzip: unpack the file to read it",
        "2 sessions, 1 unreadable, 1 with findings (!)",
    ]


def test_ids_are_cut_to_what_tells_them_apart(run: Run, tmp_path: Path) -> None:
    ids = ["aaaaaaaaaa-1", "aaaaaaaaaa-2", "b"]
    for session_id in ids:
        write(tmp_path / f"{session_id}.jsonl", session_id)
    shown = [line.split()[0] for line in run("ls", tmp_path).out.splitlines()[1:4]]
    assert sorted(shown) == ids
    for ref in shown:
        assert run("show", ref, "--session-dir", tmp_path).code == 0


def test_session_of_the_future_is_marked(run: Run) -> None:
    lines = run("ls", BUGCASES / "37-future-timestamp" / "sessions").out.splitlines()
    future, real = lines[1:3]
    assert "2099-01-01 00:00:01 clock?" in future and "from the future" in future
    assert "clock?" not in real and "2026-03-01 10:00:01" in real


def test_ascii_only(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", "s", "日本語 " + "x" * 80)
    result = run("ls", tmp_path, "--ascii")
    assert result.out.isascii() and r"\u65e5\u672c\u8a9e xxx" in result.out and "..." in result.out


def test_many_sessions_are_listed_exactly(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "r"
    for at in range(3000):
        write(root / f"{at}.jsonl", f"id{at}")
    (root / "0.jsonl").write_bytes(b"garbage")
    assert run("ls", "--session-dir", root).out.splitlines()[-1].startswith("3,000 sessions, 0 un")


def test_second_time_no_session_is_read(
    run: Run, tau_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run("ls", "--json")

    def refuse(path: str) -> None:
        raise AssertionError(f"{path} was opened")

    monkeypatch.setattr(files, "FileSource", refuse)
    assert run("ls", "--json") == first


# Types of memory


def test_memory_is_counted_as_show_counts_it(run: Run, tau_home: Path) -> None:
    plain, told = run("ls", "--json").json, run("ls", "--memory", "--json").json
    assert told["coverage"] == {**plain["coverage"], "uncounted": []}
    for row, before in zip(told["sessions"], plain["sessions"], strict=True):
        shown = run("show", row["path"], "--json").json["session"]
        assert row == {**before, **{name: shown[name] for name in ("memory", "families")}}
    assert sum(row["memory"].get("semantic", 0) for row in told["sessions"]) > 0


def test_memory_in_the_table_and_by_rules_of_ones_own(run: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(log_of([*calls(3), message("u", None, "do")]))
    head, cells, _, *told = run("ls", tmp_path / "s.jsonl", "--memory").out.splitlines()
    assert head.split()[:6] == [
        "SESSION",
        "MODIFIED",
        "ENTRIES",
        "EPISODIC",
        "SEMANTIC",
        "PROCEDURAL",
    ]
    assert cells.split()[4:7] == ["2", "2", "2"]
    assert told[0].startswith("memory: 2 episodic, 2 procedural, 2 semantic · tools: ")
    config = home / ".config" / "tau-browse" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[memory_types]\nbash = "procedural"\n')
    cells = run("ls", tmp_path / "s.jsonl", "--memory").out.splitlines()[1]
    assert cells.split()[4:7] == ["0", "2", "4"]


def test_what_cannot_be_counted_is_listed_with_the_reason(
    run: Run, tau_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lost, *_) = [row["path"] for row in run("ls", "--json").json["sessions"]]
    real = files.FileSource

    def open_all_but_one(path: str) -> files.FileSource:
        if path == lost:
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(files, "FileSource", open_all_but_one)
    told = run("ls", "--memory", "--json").json
    assert [item["path"] for item in told["coverage"]["uncounted"]] == [lost]
    assert told["sessions"][0]["memory"] is None and told["sessions"][1]["memory"] is not None
    lines = run("ls", "--memory").out.splitlines()
    assert lines[1].split()[4:7] == ["?"] * 3
    assert any(line.startswith(f"not counted: {lost}: ") for line in lines)


# Nothing found, and errors


def test_nothing_found_says_where_it_looked(run: Run, home: Path) -> None:
    result = run("ls")
    assert result.code == 1
    assert result.err.startswith(f"tau-browse: no sessions in {home}/.tau/sessions, ")
    assert result.err.count("\n") == 1
    assert run("ls", "--json").json == {
        "sessions": [],
        "coverage": {"seen": 0, "listed": 0, "unreadable": []},
    }


def test_folder_that_may_not_be_read_is_another_thing_than_an_empty_one(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "s.jsonl").symlink_to("gone")
    result = run("ls", tmp_path)
    assert result.code == 2
    assert "s.jsonl: no such file" in result.out
    assert result.err == f"tau-browse: error: nothing can be read in {tmp_path}\n"


def test_some_of_it_may_not_be_read(run: Run, locked_out: Path) -> None:
    result = run("ls", "--session-dir", locked_out, "--json")
    assert result.code == 0
    assert [row["entries"] for row in result.json["sessions"]] == [2]
    reasons = [item["reason"] for item in result.json["coverage"]["unreadable"]]
    assert reasons == ["permission denied"] * 2
    assert "1 session, 2 unreadable" in run("ls", "--session-dir", locked_out).out


def test_empty_session_is_listed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").write_bytes(log_of([], HEADER | {"id": "h"}))
    (row,) = run("ls", tmp_path, "--json").json["sessions"]
    assert (row["ref"], row["entries"], row["title"]) == ("h", 0, "Session (h)")


def test_title_and_path_that_are_not_unicode(run: Run, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.jsonl")
    path.write_bytes(log_of([message("a", None, "lone \ud800 \x9b31m")]))
    for _ in range(2):  # the second time from the catalog
        result = run("ls", tmp_path, "--json")
        assert r"caf\udce9.jsonl" in result.out and r"lone \ud800 \u009b31m" in result.out
        (row,) = result.json["sessions"]
        assert os.fsencode(row["path"]) == os.fsencode(path)
        assert "lone � �31m" in run("ls", tmp_path).out
