"""Search from a query to hits in their places, over real sessions and a real index."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tau_browser.model.context import subagent_heads
from tau_browser.model.label import speaker_of
from tau_browser.search.engine import Engine
from tau_browser.search.fusion import DEFAULT_WEIGHTS
from tau_browser.search.index.folder import NoIndex
from tau_browser.search.query import parse
from tau_browser.search.results import Asking, Method, Results
from tau_browser.stores.session_file import load_session
from tau_browser.stores.targets import store_over
from tests.conftest import DATA, log_of, message

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
def test_hits_stand_in_the_order_of_their_scores(engine: Engine, query: str) -> None:
    results = engine.search(parse(query))
    assert results.hits
    scores = [hit.score or 0.0 for hit in results.hits]
    assert scores[0] > 0 and scores == sorted(scores, reverse=True)
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


@pytest.mark.parametrize("query", ["role:user", "/sess\\w+/", "kind:message -sqlite"])
def test_without_words_the_newest_come_first_and_nothing_is_scored(
    engine: Engine, query: str
) -> None:
    hits = engine.search(parse(query), weights={"bm25": 0.0, "static": 1.0}).hits
    assert len(hits) > 1
    assert [hit.time for hit in hits] == sorted((hit.time for hit in hits), reverse=True)
    for hit in hits:
        assert [(part.ranker, part.rank) for part in hit.parts] == [("newest", hit.rank)]
        assert hit.score is None


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


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[tuple[Engine, Path]]:
    """An engine over one session, indexed, and the session's path."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    path = folder / "s.jsonl"
    path.write_bytes(log_of([message("e1", None, "an old needle")]))
    made = Engine(store_over([str(folder)], None), tmp_path / "cache")
    made.update()
    yield made, path
    made.close()


def append(path: Path, *records: dict) -> None:
    with path.open("ab") as file:
        file.write(log_of(records, None))


def test_what_is_followed_is_found_before_it_is_indexed(growing: tuple[Engine, Path]) -> None:
    engine, path = growing
    append(path, message("e2", "e1", "a new needle in the haystack"))
    assert ids(engine.search(parse("needle"))) == ["e1"]
    engine.follow(str(path), load_session(str(path)))
    results = engine.search(parse("needle"))
    assert sorted(ids(results)) == ["e1", "e2"] and results.total == 2
    (hit,) = engine.search(parse("haystack")).hits
    assert hit.standing.path == str(path) and hit.state.word == "path"
    assert hit.snippet.text[slice(*hit.snippet.marks[0])] == "haystack"
    engine.update()
    results = engine.search(parse("needle"))
    assert sorted(ids(results)) == ["e1", "e2"] and results.total == 2
    append(path, message("e3", "e2", "one more needle"))
    engine.follow(str(path), load_session(str(path)))
    assert engine.search(parse("needle")).total == 3
    engine.forget(str(path))
    assert engine.search(parse("needle")).total == 2


def test_an_answer_of_before_is_left_as_it_is_when_what_is_followed_went_on(
    growing: tuple[Engine, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keys of entries in memory stand for nothing any more."""
    engine, path = growing
    monkeypatch.setattr("tau_browser.search.engine.is_installed", lambda: True)
    append(path, message("e2", "e1", "a new needle"))
    engine.follow(str(path), load_session(str(path)))
    before = engine.search(parse("needle"))
    engine.update()
    assert engine.reranked(before) is before
    path.with_name("other.jsonl").write_bytes(log_of([message("o1", None, "another needle")]))
    assert sorted(ids(engine.completed(before))) == ["e1", "e2", "o1"]


def test_what_is_not_indexed_is_scanned_and_counted(growing: tuple[Engine, Path]) -> None:
    engine, path = growing
    other = path.with_name("other.jsonl")
    other.write_bytes(
        log_of([message("o1", None, "the needle of another"), message("o2", "o1", "nothing")])
    )
    answer = engine.search(parse("the needle"))
    assert ids(answer) == ["e1"]
    whole = engine.completed(answer)
    assert ids(whole) == ["e1", "o1"] and whole.total == 2
    assert [hit.rank for hit in whole.hits] == [1, 2]
    assert whole.hits[1].state.word == "path"
    assert whole.coverage.scanned == 1
    assert any("1 session not indexed yet" in remark for remark in whole.remarks)
    engine.update()
    assert engine.completed(engine.search(parse("the needle"))).coverage.scanned == 0


def test_without_an_index_a_scan_answers(tmp_path: Path) -> None:
    engine = Engine(store_over([str(HOME)], None), tmp_path)
    results = engine.scan(Asking(parse("role:assistant PGVector")))
    assert ids(results) == ["29990503"]
    assert (results.total, results.coverage.sessions, results.coverage.scanned) == (1, 19, 19)
    assert not engine.folder.exists()


@pytest.mark.parametrize("query", ["jmfts", "retry policy", "role:user session", "is:error"])
def test_a_scan_and_the_index_agree_where_all_words_must_be_there(
    engine: Engine, tmp_path: Path, query: str
) -> None:
    """A naive second opinion: each entry that holds the words as they are."""
    scanned = Engine(store_over([str(HOME)], None), tmp_path).scan(Asking(parse(query), limit=999))
    indexed = engine.search(parse(query), Method.BM25, limit=999)
    assert {hit.entry for hit in scanned.hits} <= {hit.entry for hit in indexed.hits}
    assert len(scanned.hits) == scanned.total


def test_pages_go_on_to_the_last_hit_and_keep_the_order(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    records = [message(f"e{at:04}", None, f"needle {at}") for at in range(700)]
    (folder / "s.jsonl").write_bytes(log_of(records))
    engine = Engine(store_over([str(folder)], None), tmp_path / "cache")
    engine.update()
    pages = [engine.search(parse("needle"), limit=limit) for limit in (50, 200, 800)]
    assert [page.total for page in pages] == [700] * 3
    assert [page.has_more for page in pages] == [True, True, False]
    whole = ids(pages[-1])
    assert len(set(whole)) == 700
    for page in pages:
        assert ids(page) == whole[: len(page.hits)]
    engine.close()


class OddModel:
    """In MiniLM's place: the longer a text, the better."""

    def __init__(self) -> None:
        self.read = 0

    def scores(self, query: str, texts: Iterable[str]) -> Iterator[float]:
        for text in texts:
            self.read += 1
            yield len(text) / 1e6


@pytest.fixture
def model(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> OddModel:
    made = OddModel()
    monkeypatch.setattr(engine, "_loaded", made)
    monkeypatch.setattr("tau_browser.search.engine.is_installed", lambda: True)
    return made


def test_the_model_of_the_extra_has_its_say(engine: Engine, model: OddModel) -> None:
    before = engine.search(parse("how are sessions stored"))
    after = engine.reranked(before)
    assert after.reranked and not before.reranked
    assert {hit.entry for hit in after.hits} == {hit.entry for hit in before.hits}
    named = [part for hit in after.hits for part in hit.parts if part.ranker == "neural"]
    assert sorted(part.rank for part in named) == list(range(1, 51))
    assert engine.reranked(after) is after
    assert model.read == 50


def test_the_model_is_stopped_between_two_texts(engine: Engine, model: OddModel) -> None:
    before = engine.search(parse("how are sessions stored"))
    assert engine.reranked(before, lambda: model.read == 3) is before
    assert model.read == 3


@pytest.mark.parametrize("query", ['"tell me"', "role:user", "/sql.*/"])
def test_the_model_is_silent_where_nothing_similar_will_do(
    engine: Engine, model: OddModel, query: str
) -> None:
    before = engine.search(parse(query))
    assert engine.reranked(before) is before
    weights = {**DEFAULT_WEIGHTS, "neural": 0.0}
    weighed = engine.search(parse("tell me"), weights=weights)
    assert engine.reranked(weighed) is weighed
    assert model.read == 0


def test_filters_are_completed_from_what_is_indexed(engine: Engine) -> None:
    values = engine.values()
    assert "jmfts_search" in values["tool"]
    assert values["kind"][0] == "message"
    assert all(values[name] for name in ("role", "model", "project"))
    for name, some in values.items():
        for value in some[:3]:
            assert engine.search(parse(f'{name}:"{value}"')).total, f"{name}:{value}"


def test_the_terms_that_matched_are_told(engine: Engine) -> None:
    for hit in engine.search(parse("retry policy"), Method.BM25).hits:
        assert hit.terms and set(hit.terms) <= {"retry", "policy"}


def test_what_is_found_by_its_meaning_alone_is_shown_where_it_means_it(engine: Engine) -> None:
    hits = engine.search(parse("how are conversations kept"), Method.VECTOR).hits
    assert hits and all(not hit.spans or hit.terms for hit in hits)
    assert any(hit.snippet.text.startswith("…") for hit in hits if not hit.spans)


def test_hits_are_told_with_their_turn(engine: Engine) -> None:
    hits = engine.placed(engine.search(parse("session"), limit=200)).hits
    assert any(hit.turn for hit in hits)
    for hit in hits:
        session = load_session(hit.standing.path)
        place = int(np.flatnonzero(session.columns.start == hit.standing.start)[0])
        above = [int(at) for at in session.tree.path(place) if at != place]
        asked = [at for at in above if speaker_of(session.record(at)) == "user"]
        if speaker_of(session.record(place)) == "user" or not asked:
            assert hit.turn is None
        else:
            assert hit.turn is not None and hit.turn.entry == session.entry_id(asked[-1])


def test_hits_of_sub_agents_are_told(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    shutil.copy(DATA / "tau" / "09-subagents-last-writer-is-a-subagent.jsonl", folder / "s.jsonl")
    own = Engine(store_over([str(folder)], None), tmp_path / "cache")
    own.update()
    (path,) = folder.iterdir()
    session = load_session(str(path))
    heads = set(subagent_heads(session))
    hits = own.placed(own.search(parse("kind:message"), limit=200)).hits
    inside = {
        session.entry_id(place)
        for place in range(len(session))
        if heads & set(session.tree.path(place).tolist())
    }
    told = {hit.entry for hit in hits if hit.is_subagent}
    assert told and told == inside & {hit.entry for hit in hits}
    own.close()


def test_sessions_that_are_gone_leave_hits_as_they_are(growing: tuple[Engine, Path]) -> None:
    engine, path = growing
    results = engine.search(parse("needle"))
    path.unlink()
    assert engine.placed(results).hits == results.hits
