"""`tau-browse show`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tau_browser.cli.output import json_text
from tau_browser.model.times import parse_time
from tests.cli.conftest import Run
from tests.conftest import DATA, HEADER, load, log_of, message

FIXTURES = sorted((DATA / "tau").glob("*.jsonl"))
FORKED = DATA / "tau" / "02-forked-tree.jsonl"


def write(path: Path, *records: Any) -> Path:
    path.write_bytes(log_of(records))
    return path


def states(answer: Any) -> dict[str, str]:
    return {entry["id"]: entry["state"] for entry in answer["entries"]}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_json_is_what_tau_itself_makes_of_the_session(run: Run, path: Path) -> None:
    expected = json.loads((path.parent / "expected" / f"{path.stem}.json").read_bytes())
    result = run("show", path, "--json")
    answer = result.json
    assert result.code == 0 and result.err == ""
    assert list(answer) == (
        ["session", "entries", "roots", "forks", "leaf", "path", "context", "diagnostics"]
    )
    header = expected["header"]
    foreign = {entry["id"] for entry in answer["entries"] if ":" in entry["kind"]}
    # τ calls an entry under which others put their documents a fork, too
    forks = [at for at, below in expected["forks"].items() if len({*below} - foreign) > 1]
    assert answer["session"] == {
        "ref": str(path),
        "id": header["id"],
        "title": expected["display_title"],
        "cwd": header["cwd"],
        "store": "tau",
        "path": str(path),
        "created": header["timestamp"],
        "modified": answer["session"]["modified"],
        "entries": expected["entries_after_fold"],
        "parent": header["parent"],
        "diagnostics": 0,
        "name": expected["name"],
        "messages": expected["listing"]["message_count"],
        "forks": len(forks),
        "unreadable": 0,
        "config": expected["config"],
        "memory": answer["session"]["memory"],
        "families": answer["session"]["families"],
    }
    memories = [entry["memory"]["type"] for entry in answer["entries"] if entry["memory"]]
    assert answer["session"]["memory"] == Counter(memories)
    families = [{tool["family"] for tool in entry["tools"]} - {None} for entry in answer["entries"]]
    assert answer["session"]["families"] == Counter(each for some in families for each in some)
    assert parse_time(answer["session"]["modified"]) == parse_time(expected["listing"]["modified"])
    assert sorted(entry["id"] for entry in answer["entries"]) == sorted(expected["preorder"])
    for field in ("roots", "path"):
        assert answer[field] == expected[field]
    assert sorted(answer["forks"]) == sorted(forks)
    assert answer["leaf"] == expected["default_leaf"]
    assert answer["context"] == expected["context_entry_ids"]
    assert answer["diagnostics"] == []
    state = states(answer)
    assert {entry for entry, word in state.items() if word == "incomplete"} == set(
        expected["incomplete"]
    )
    assert set(state.values()) <= {"path", "abandoned", "folded", "incomplete"}
    assert {entry for entry in expected["path"] if state[entry] == "folded"} == set(
        expected["path"]
    ) - set(expected["context_entry_ids"])


def test_entries_field_by_field(run: Run) -> None:
    session = load(FORKED)
    entries = run("show", FORKED, "--json").json["entries"]
    assert [entry["id"] for entry in entries] == session.ids(session.tree.order)
    depth: dict[str | None, int] = {None: 0}
    for entry in entries:
        (place,) = session.find(entry["id"])
        record = session.record(place)
        assert list(entry) == (
            ["id", "parent", "kind", "role", "time", "text", "depth", "state", "tools", "memory"]
        )
        assert entry["parent"] == record["parentId"]
        assert entry["kind"] == record["type"]
        assert entry["role"] == record.get("message", {}).get("role")
        assert entry["time"] == record["timestamp"]
        assert entry["text"] == session.text(place)
        assert entry["depth"] == depth[entry["parent"]] + 1  # parents come before their children
        depth[entry["id"]] = entry["depth"]


def test_tools_have_their_family_beside_their_name(run: Run, home: Path, tmp_path: Path) -> None:
    config = home / ".config" / "tau-browse"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[tool_families]\nwater = "fetch"\n')
    calls = [{"type": "toolCall", "id": "c", "name": name} for name in ("Bash", "Water", "Skill")]
    talk = message("a", None, role="assistant") | {
        "message": {"role": "assistant", "content": calls}
    }
    (entry,) = run("show", write(tmp_path / "s.jsonl", talk), "--json").json["entries"]
    assert entry["tools"] == [
        {"name": "Bash", "family": "shell", "rule": "the word 'bash'"},
        {"name": "Water", "family": "fetch", "rule": "your rule 'water'"},
        {"name": "Skill", "family": None, "rule": "no rule holds"},
    ]


def test_each_state_has_its_word(run: Run, tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        message("old", None),
        message("left", "old"),
        message("kept", "old"),
        {"type": "compaction", "id": "c", "parentId": "kept", "firstKeptId": "kept"},
        message("lost", "gone"),
        message("leaf", "c"),
        message("torn", "leaf", role="assistant", status="incomplete"),
    )
    assert states(run("show", path, "--json").json) == {
        "old": "folded",
        "left": "abandoned",
        "kept": "path",
        "c": "path",
        "leaf": "path",
        "torn": "incomplete",
        "lost": "detached",
    }


def test_findings_say_where(run: Run) -> None:
    answer = run(
        "show", DATA / "tau" / "corrupt" / "c04-invalid-json-mid-file.jsonl", "--json"
    ).json
    (finding,) = answer["diagnostics"]
    assert (finding["line"], finding["byte"], finding["severity"]) == (7, 1331, "unreadable")
    assert "not JSON" in finding["reason"]
    assert list(finding) == ["line", "byte", "reason", "severity"]
    assert answer["session"]["unreadable"] == 1


def test_empty_session(run: Run, tmp_path: Path) -> None:
    answer = run("show", write(tmp_path / "s.jsonl"), "--json").json
    assert answer["entries"] == answer["roots"] == answer["path"] == answer["context"] == []
    assert answer["leaf"] is None and answer["session"]["entries"] == 0
    assert run("show", tmp_path / "s.jsonl").code == 0


def test_numbers_as_times_and_entries_without_anything(run: Run, tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        {"type": "message", "id": "n", "parentId": None, "timestamp": 1772359201000},
        {"parentId": "n"},
    )
    one, other = run("show", path, "--json").json["entries"]
    assert one["time"] == "2026-03-01T10:00:01.000Z" and one["role"] is None
    assert other == {
        "id": "line-3",
        "parent": "n",
        "kind": "",
        "role": None,
        "time": None,
        "text": "",
        "depth": 2,
        "state": "abandoned",
        "tools": [],
        "memory": None,
    }


def test_numbers_that_json_does_not_know_are_null(run: Run, tmp_path: Path) -> None:
    data = {"model": "m", "thinking": float("nan"), "tools": [float("-inf"), 1.5]}
    record = {"type": "customEntry", "id": "c", "customType": "config", "data": data}
    result = run("show", write(tmp_path / "s.jsonl", record), "--json")
    assert "NaN" not in result.out.partition("entries")[0] and "Infinity" not in result.out
    assert result.json["session"]["config"] == {
        "model": "m",
        "thinking": None,
        "tools": [None, 1.5],
    }


def test_what_is_nested_too_deeply_is_written_as_text() -> None:
    deep: Any = "core"
    for _ in range(10_000):
        deep = {"in": deep}
    written = json.loads(json_text(deep))
    for _ in range(50):
        written = written["in"]
    assert written.startswith("in.in.") and written.endswith(": core")


def test_deep_chain(run: Run, tmp_path: Path) -> None:
    chain = (message(f"n{at}", f"n{at - 1}" if at else None) for at in range(20_000))
    answer = run("show", write(tmp_path / "s.jsonl", *chain), "--json").json
    assert answer["leaf"] == "n19999" and answer["entries"][-1]["depth"] == 20_000
    assert "n19999" in run("show", tmp_path / "s.jsonl").out


# As of another entry


def test_path_context_and_states_as_of_an_entry(run: Run) -> None:
    answer = run("show", FORKED, "--json", "--at", "39d967af").json
    assert answer["leaf"] == "29990503"
    assert answer["path"][-1] == answer["context"][-1] == "39d967af"
    state = states(answer)
    assert state["39d967af"] == "path" and state["29990503"] == "abandoned"


def test_people_see_as_of_which_entry(run: Run) -> None:
    lines = run("show", FORKED, "--at", "39d967af").out.splitlines()
    (here,) = [line for line in lines if line.endswith("  <- as of here")]
    (leaf,) = [line for line in lines if line.endswith("  <- leaf")]
    assert here.startswith("39d967af") and "abandoned" in leaf


def test_entry_by_the_beginning_of_its_id(run: Run) -> None:
    assert run("show", FORKED, "--json", "--at", "39d9").json["path"][-1] == "39d967af"


def test_unknown_entry_is_nothing_found(run: Run) -> None:
    result = run("show", FORKED, "--at", "zz")
    assert (result.code, result.out) == (1, "")
    assert result.err == "tau-browse: no entry 'zz' in the session\n"


def test_ambiguous_entry_lists_the_candidates(run: Run) -> None:
    result = run("show", DATA / "tau" / "corrupt" / "c05-duplicate-id.jsonl", "--at", "8cbe5f57")
    assert result.code == 2
    assert result.err.splitlines() == [
        "tau-browse: error: '8cbe5f57' names 2 entries",
        "  8cbe5f57  line 6",
        "  8cbe5f57  line 28",
    ]


# For people


def test_tree_for_people(run: Run, tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        message("a", None, "a question"),
        message("b", "a", "an answer\nin lines", "assistant"),
        message("c", "b", "another way"),
        message("d", "b", "日本語"),
    )
    with path.open("ab") as file:
        file.write(b'{"torn')
    assert run("show", path).out.splitlines() == [
        "a question",
        "  id         s1",
        f"  file       {path}",
        "  directory  /proj/demo",
        "  created    2026-03-01 10:00:00",
        "  modified   2026-03-01 10:00:01",
        "",
        "a  2026-03-01 10:00:01             user: a question",
        "b  2026-03-01 10:00:01               assistant: an answer",
        "c  2026-03-01 10:00:01  abandoned      user: another way",
        "d  2026-03-01 10:00:01             user: 日本語  <- leaf",
        "",
        f"pending: line 6, byte {path.stat().st_size - 6}: "
        "the last line is incomplete (6 bytes): still being written",
        "4 entries, 1 fork, 0 unreadable, 1 finding",
    ]


def test_reading_the_first_session_of_a_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "s.jsonl", message("a", None, "only one"))
    assert run("show", tmp_path, "--json").json["session"]["id"] == HEADER["id"]


def test_what_has_less_signal_is_left_out_and_counted(run: Run) -> None:
    root = str(DATA / "aethergraph" / "a1-root")
    where = ["--store", "aethergraph", "--session-dir", root, "run-20260303-2"]
    shown = run("show", *where, "--min-signal", "0.65", "--json").json
    assert shown["hidden"] == 6
    assert len(shown["entries"]) + shown["hidden"] == shown["session"]["entries"] == 25
    by_id = {entry["id"]: entry for entry in shown["entries"]}
    failed = by_id["0a9ee25d61317a42478ed1e7"]
    assert failed["severity"] == 5
    assert failed["signal"] == {
        "value": 1.0,
        "derived": False,
        "parts": {"base": 0.15, "severity": 0.5, "text": 0.1625, "metrics": 0.2},
    }
    assert failed["event"]["kind"] == "error"
    assert failed["origin"]["line"] == 3
    assert "… 1 hidden" in run("show", *where, "--min-signal", "0.65").out
    assert run("show", *where, "--min-signal", "7").code == 2
