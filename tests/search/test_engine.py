"""Search from a query to hits in their places, over real sessions and a real index."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tau_browser.search.engine import Engine
from tau_browser.search.index.folder import NoIndex
from tau_browser.search.query import parse
from tau_browser.search.results import Method, Results
from tau_browser.stores.session_file import load_session
from tau_browser.stores.targets import store_over
from tests.conftest import DATA

HOME = DATA / "tau" / "home"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine over the sessions of the home fixture, all indexed and embedded."""
    made = Engine(store_over([str(HOME)], None), tmp_path_factory.mktemp("cache"))
    made.update()
    for _ in made.embed():
        pass
    yield made
    made.close()


def ids(results: Results) -> list[str]:
    return [hit.entry for hit in results.hits]


def test_without_an_index_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoIndex):
        Engine(store_over([str(HOME)], None), tmp_path).search(parse("sqlite"))


def test_every_entry_is_indexed_and_embedded_once(engine: Engine) -> None:
    coverage = engine.coverage()
    assert coverage.sessions == 19
    assert coverage.indexed < coverage.entries  # forks copy entries
    assert 0 < coverage.embedded <= coverage.indexed
    assert not coverage.skipped


@pytest.mark.parametrize("query", ["sqlite", "retry policy backoff", "how are sessions stored"])
def test_contributions_add_up_to_the_score(engine: Engine, query: str) -> None:
    results = engine.search(parse(query))
    assert results.hits
    for hit in results.hits:
        assert math.isclose(hit.score, math.fsum(part.contribution for part in hit.parts))
    scores = [hit.score for hit in results.hits]
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in results.hits] == list(range(1, len(scores) + 1))


def test_copies_in_forks_are_one_hit_that_tells_where_else_it_stands(engine: Engine) -> None:
    results = engine.search(parse('"One file, FTS5"'))
    assert len(results.hits) == 1
    hit = results.hits[0]
    assert hit.state.word == "abandoned"
    assert len(hit.also_in) == 1
    assert hit.also_in[0].path != hit.standing.path


def test_spans_lie_on_what_matched(engine: Engine) -> None:
    for query in ("sqlite", '"retry policy"', "/jmfts_\\w+/", "role:user jmfts"):
        for hit in engine.search(parse(query), Method.BM25).hits:
            session = load_session(hit.standing.path)
            text = session.text(session.find(hit.entry)[0])
            for start, stop in hit.spans:
                said = text[start:stop].casefold()
                assert any(word in said for word in ("sqlite", "retr", "polic", "jmfts"))


def test_a_scope_is_never_left(engine: Engine) -> None:
    path = next(str(path) for path in HOME.rglob("*0e8d7f17*"))
    for method in Method:
        results = engine.search(parse("sessions"), method, paths=[path])
        assert results.hits
        assert {hit.standing.path for hit in results.hits} == {path}


def test_filters_hold_for_every_ranker(engine: Engine) -> None:
    results = engine.search(parse("branch:abandoned role:user tell me about"))
    assert results.hits
    assert {hit.state.word for hit in results.hits} == {"abandoned"}
    assert {hit.speaker for hit in results.hits} == {"user"}


def test_exact_queries_keep_the_vectors_silent(engine: Engine) -> None:
    for query in ('"tell me"', "/sql.*/", "src/app/config.toml"):
        results = engine.search(parse(query))
        assert not [part for hit in results.hits for part in hit.parts if part.ranker == "static"]
        assert results.similar == 0


def test_a_word_that_is_nowhere_is_found_one_letter_off_and_said(engine: Engine) -> None:
    results = engine.search(parse("compactoin"), Method.BM25)
    assert results.hits
    assert any("one letter off" in remark for remark in results.remarks)


def test_what_is_appended_is_found_after_an_update(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    whole = (DATA / "tau" / "02-forked-tree.jsonl").read_bytes().splitlines(keepends=True)
    path = folder / "s.jsonl"
    path.write_bytes(b"".join(whole[:-2]))
    engine = Engine(store_over([str(folder)], None), tmp_path / "cache")
    engine.update()
    assert "29990503" not in ids(engine.search(parse("pgvector")))
    with path.open("ab") as file:
        file.write(b"".join(whole[-2:]))
    engine.update()
    assert "29990503" in ids(engine.search(parse("pgvector")))
    for _ in engine.embed():
        pass
    assert engine.coverage().embedded
    path.unlink()
    shutil.copy(DATA / "tau" / "04-elide.jsonl", folder / "other.jsonl")
    engine.update()
    assert "29990503" not in ids(engine.search(parse("pgvector")))
    engine.close()
