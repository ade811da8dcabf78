"""The verbs search and index: what they print, what they return."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.conftest import DATA

HOME = str(DATA / "tau" / "home")


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


def test_rankers_are_weighed_and_fused_as_asked(run: Run) -> None:
    asked = ("search", "how are sessions stored", "--session-dir", HOME, "--json")
    found = run(*asked, "--weights", "static=0,neural=0").json
    assert {ranker for hit in found["hits"] for ranker in hit["rankers"]} == {"bm25"}
    found = run(*asked, "--fusion", "rrf", "--weights", "bm25=2").json
    assert found["hits"][0]["rankers"]["bm25"]["weight"] == 2
    assert run(*asked, "--weights", "bm52=1").code == 2
