"""`tau-browse find`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tau_browser.cli.output import Printer
from tests.cli.conftest import Run
from tests.conftest import DATA, log_of, message

FORKED = DATA / "tau" / "02-forked-tree.jsonl"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    records = [
        message("a", None, "needle one"),
        message("b", "a", "the leaf: Needle, needle"),
        message("left", "a", "a needle that was left"),
        message("c", "b", "no hay"),
    ]
    path.write_bytes(log_of(records))
    return path


def test_json(run: Run, path: Path) -> None:
    result = run("find", path, "needle", "--json")
    assert result.code == 0
    # in the order of the tree, where a branch that was left stands before the one that goes on
    assert result.json == {
        "query": "needle",
        "hits": [
            {"entry": "a", "spans": [[0, 6]], "snippet": "needle one"},
            {"entry": "left", "spans": [[2, 8]], "snippet": "a needle that was left"},
            {
                "entry": "b",
                "spans": [[10, 16], [18, 24]],
                "snippet": "the leaf: Needle, needle",
            },
        ],
        "total": 3,
    }


def test_spans_are_offsets_in_the_text_that_show_prints(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        log_of([message("a", None, "\U0001f469\u200d\U0001f4bb Straße\n\ud800 strasse")])
    )
    (entry,) = run("show", path, "--json").json["entries"]
    (hit,) = run("find", path, "strasse", "--json").json["hits"]
    assert [entry["text"][start:stop] for start, stop in hit["spans"]] == ["Straße", "strasse"]


def test_limit_prints_fewer_but_counts_all(run: Run, path: Path) -> None:
    answer = run("find", path, "needle", "--limit", "1", "--json").json
    assert len(answer["hits"]) == 1 and answer["total"] == 3
    assert run("find", path, "needle", "--limit", "1").out.endswith("3 of 4 entries, 1 shown\n")


def test_lines_for_people(run: Run, path: Path) -> None:
    result = run("find", path, "needle")
    assert result.out.splitlines() == [
        "a  user: needle one",
        "left  user: a needle that was left",
        "b  user: the leaf: Needle, needle",
        "3 of 4 entries",
    ]


def test_matches_are_bold_where_colour_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    Printer(ascii_only=True, colour=True).line("é\x1b[31m needle é", [(7, 13)])
    assert capsys.readouterr().out == "\\xe9\\u241b[31m \x1b[1mneedle\x1b[0m \\xe9\n"


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_nothing_found(run: Run, path: Path, json: list[str]) -> None:
    result = run("find", path, "nowhere", *json)
    assert result.code == 1 and result.err == ""
    if json:
        assert result.json == {"query": "nowhere", "hits": [], "total": 0}
    else:
        assert result.out == "0 of 4 entries\n"


def test_regular_expression(run: Run, path: Path) -> None:
    hits = run("find", path, "--regex", r"^the \w+:", "--json").json["hits"]
    assert [(hit["entry"], hit["spans"]) for hit in hits] == [("b", [[0, 9]])]


def test_query_that_begins_like_an_option(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "pass --error-on -5 ls")]))
    assert run("find", path, "--json", "--", "--error-on").json["total"] == 1
    assert run("find", path, "-5", "--json").json["total"] == 1
    assert run("find", path, "ls", "--json").json["total"] == 1


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (["--regex", "(a"], "(a: not a regular expression: missing ) at character 3"),
        (["  "], "the query is blank"),
        (["\u200b"], "the query is blank"),
    ],
)
def test_query_that_cannot_be_searched_for(
    run: Run, path: Path, query: list[str], reason: str
) -> None:
    result = run("find", path, *query)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"tau-browse: error: {reason}\n"


def test_expression_without_end_is_stopped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tau_browser.search.find._PATIENCE", 0.01)
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "a" * 64 + "!")]))
    result = run("find", path, "--regex", "(?:a|aa)+$")
    assert result.code == 2 and "takes too long" in result.err


@pytest.mark.parametrize("limit", ["0", "-1", "x", ""])
def test_limit_must_be_a_number_from_one(run: Run, path: Path, limit: str) -> None:
    result = run("find", path, "needle", f"--limit={limit}")
    assert result.code == 2 and "must be a whole number from 1" in result.err
