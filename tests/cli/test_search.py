"""The verbs search and index: what they print, what they return."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tau_browser.cli import search
from tests.cli.conftest import Run
from tests.conftest import DATA

HOME = str(DATA / "tau" / "home")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine, all is indexed before the answer."""
    monkeypatch.setattr(search, "_PATIENCE", math.inf)


def test_hits_as_json(run: Run) -> None:
    result = run("search", "pgvector", "--session-dir", HOME, "--json")
    assert result.code == 0
    found = result.json
    assert found["query"] == "pgvector"
    assert found["method"] == "hybrid"
    assert found["parsed"]["terms"] == [{"kind": "word", "text": "pgvector", "negated": False}]
    hit = found["hits"][0]
    assert hit["entry"] == "29990503"
    assert hit["state"] == "path"
    assert hit["rank"] == 1
    assert hit["rankers"]["bm25"]["rank"] == 1
    assert {"rank", "score", "normalised", "weight", "contribution"} == set(hit["rankers"]["bm25"])
    start, stop = hit["spans"][0]
    assert hit["snippet"][start:stop] == "pgvector"
    assert hit["also_in"]
    assert found["coverage"]["sessions"] == 19
    assert found["coverage"]["skipped"] == []


def test_tools_of_a_family_with_their_own_names(run: Run) -> None:
    found = run("search", "tool:shell", "--session-dir", HOME, "--json").json
    assert found["hits"]
    shells = [
        {each["name"] for each in hit["tools"] if each["family"] == "shell"}
        for hit in found["hits"]
    ]
    assert all(shells) and set.union(*shells) == {"bash"}


def test_hits_for_people(run: Run) -> None:
    result = run("search", "pgvector", "--session-dir", HOME, "--method", "bm25")
    assert result.code == 0
    assert "Documents in PostgreSQL with pgvector." in result.out
    assert "19 sessions" in result.out


def test_nothing_found_is_1(run: Run) -> None:
    result = run("search", "zzzqqqxxx", "--session-dir", HOME, "--method", "bm25")
    assert result.code == 1


def test_a_bad_query_is_2_and_shows_where(run: Run) -> None:
    result = run("search", "role:nobody pgvector", "--session-dir", HOME)
    assert result.code == 2
    assert result.err.splitlines()[0].startswith("tau-browse: error: role: cannot be 'nobody'")
    assert "^^^" in result.err
    assert run("search", "   ", "--session-dir", HOME).code == 2


def test_within_one_session(run: Run) -> None:
    result = run("search", "sessions", "--session-dir", HOME, "--in", "0e8d7f17", "--json")
    assert {hit["session"][:8] for hit in result.json["hits"]} == {"0e8d7f17"}


def test_the_index_tells_what_it_holds(run: Run) -> None:
    assert run("index", "--status", "--session-dir", HOME).code == 1
    made = run("index", "--session-dir", HOME, "--json")
    assert made.code == 0
    assert made.json["sessions"] == 19
    assert made.json["embedded"] > 0
    assert run("index", "--status", "--session-dir", HOME, "--json").json == made.json
    folder = Path(made.json["folder"])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not [path for path in folder.rglob("*") if path.stat().st_mode & 0o077]
    assert run("index", "--rebuild", "--session-dir", HOME, "--json").json["sessions"] == 19


def test_nothing_acts_on_the_terminal(run: Run) -> None:
    folder = DATA / "bugcases" / "39-terminal-injection"
    result = run("search", "FAKE", "--session-dir", folder)
    assert result.code == 0
    assert not set(result.out + result.err) & {"\x1b", "\x07", "\x9b", "\x9d"}


def test_exact_methods_take_the_query_as_it_is(run: Run) -> None:
    found = run("search", "gvect", "--session-dir", HOME, "--method", "substring", "--json").json
    assert [hit["entry"] for hit in found["hits"]] == ["29990503"]
    assert found["hits"][0]["also_in"]
    start, stop = found["hits"][0]["spans"][0]
    assert found["hits"][0]["snippet"][start:stop] == "gvect"
    found = run("search", "Postgre\\w+", "--session-dir", HOME, "--method", "regex", "--json").json
    assert "29990503" in [hit["entry"] for hit in found["hits"]]
    assert run("search", "(", "--session-dir", HOME, "--method", "regex").code == 2
    assert run("search", "zz(yy", "--session-dir", HOME, "--method", "substring").code == 1


def test_what_filters_alone_find_is_told_by_its_time(run: Run) -> None:
    asked = ("search", "role:user", "--session-dir", HOME, "--limit", "2")
    for hit in run(*asked, "--json").json["hits"]:
        assert hit["score"] is None and hit["time"]
        assert hit["rankers"] == {"newest": {"rank": hit["rank"], "time": hit["time"]}}
    assert "(newest 2" in run(*asked).out


def test_rankers_are_weighed_and_fused_as_asked(run: Run) -> None:
    asked = ("search", "how are sessions stored", "--session-dir", HOME, "--json")
    found = run(*asked, "--weights", "static=0,neural=0").json
    assert {ranker for hit in found["hits"] for ranker in hit["rankers"]} == {"bm25"}
    found = run(*asked, "--fusion", "rrf", "--weights", "bm25=2").json
    assert found["hits"][0]["rankers"]["bm25"]["weight"] == 2
    assert run(*asked, "--weights", "bm52=1").code == 2


def test_what_is_not_indexed_in_time_is_scanned_and_said(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_PATIENCE", 0)
    result = run("search", "pgvector", "--session-dir", HOME, "--json")
    assert result.code == 0
    assert [hit["entry"] for hit in result.json["hits"]] == ["29990503"]
    assert result.json["hits"][0]["rankers"] == {} and result.json["hits"][0]["score"] is None
    assert result.json["coverage"]["scanned"] == 19
    assert "19 sessions not indexed yet: scanned for these very words" in result.json["remarks"]
    assert "`tau-browse index` indexes what is left" in result.json["remarks"]
    assert "by a scan" in run("search", "pgvector", "--session-dir", HOME).out


def test_exact_methods_find_what_is_not_indexed_yet(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_PATIENCE", 0)
    asked = ("search", "gvect", "--session-dir", HOME, "--method", "substring", "--json")
    scanned = run(*asked).json
    assert [hit["entry"] for hit in scanned["hits"]] == ["29990503"]
    monkeypatch.setattr(search, "_PATIENCE", math.inf)
    indexed = run(*asked).json
    assert indexed["total"] == scanned["total"] == 1
    hit = scanned["hits"][0]
    assert {**indexed["hits"][0], "also_in": []} == {**hit, "also_in": []}


def test_a_search_is_saved_run_listed_and_deleted(run: Run) -> None:
    asked = ("search", "pgvector", "--session-dir", HOME, "--json", "--weights", "static=0")
    first = run(*asked, "--save", "my search").json
    again = run("search", "--saved", "my search", "--session-dir", HOME, "--json").json
    assert again["parsed"] == first["parsed"]
    assert [hit["entry"] for hit in again["hits"]] == [hit["entry"] for hit in first["hits"]]
    assert again["hits"][0]["rankers"]["bm25"] == first["hits"][0]["rankers"]["bm25"]
    kept = run("saved", "--json").json["saved"]
    assert [(it["name"], it["query"], it["weights"]["static"]) for it in kept] == [
        ("my search", "pgvector", 0)
    ]
    listed = run("saved").out
    assert "my search" in listed and "tau-browse search --weights" in listed
    assert run("saved", "--delete", "my search").code == 0
    assert run("saved", "--delete", "my search").code == 2
    assert run("saved").code == 1
    gone = run("search", "--saved", "my search", "--session-dir", HOME)
    assert gone.code == 2 and "no search is saved as 'my search'" in gone.err


def test_a_search_needs_a_query_or_a_name(run: Run) -> None:
    for words in ((), ("query", "--saved", "name")):
        result = run("search", *words, "--session-dir", HOME)
        assert result.code == 2
        assert "a query, or --saved NAME" in result.err
