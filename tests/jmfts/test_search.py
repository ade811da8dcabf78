"""Search on a server: its methods asked one by one, within the scope, every hit an entry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tau_browser.model.state import State
from tau_browser.search.find import QueryError
from tau_browser.search.query import parse
from tau_browser.search.results import Asking, Hit, Method, Reach, Results
from tau_browser.search.server.engine import ServerEngine
from tau_browser.stores.jmfts.store import JmftsStore
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making, message


@pytest.fixture
def engine(store: JmftsStore, tmp_path: Path) -> ServerEngine:
    return ServerEngine(store, tmp_path)


@pytest.fixture
def embedding(full: Appliance, tmp_path: Path) -> Iterator[tuple[Making, ServerEngine]]:
    """A server with a model: what makes documents there, and the engine."""
    making = Making(full)
    store = JmftsStore(full.url, full.token, tmp_path / "cache")
    yield making, ServerEngine(store, tmp_path)
    store.close()
    making.close()


def found(engine: ServerEngine, text: str, method: Method = Method.HYBRID, **how: Any) -> Results:
    return engine.answer(Asking(parse(text), method, **how))


def entries(results: Results) -> list[int]:
    return [int(hit.entry) for hit in results.hits]


def ranks(hit: Hit) -> dict[str, int]:
    return {part.ranker: part.rank for part in hit.parts}


def test_each_hit_says_what_each_method_says(engine: ServerEngine, making: Making) -> None:
    root, first, second = making.chain("the quick brown fox", "foxes are quick")
    results = found(engine, "quick fox")
    assert entries(results)[0] == first and set(entries(results)) == {first, second}
    hit = results.hits[0]
    assert ranks(hit) == {"bm25": 1, "fulltext": 1} and hit.rank == 1
    assert [hit.snippet.text[slice(*span)] for span in hit.snippet.marks] == ["quick", "fox"]
    assert (hit.standing.path, hit.standing.session) == (str(root), "0f" * 16)


def test_methods_that_a_server_cannot_do_are_named_with_the_reason(
    engine: ServerEngine, making: Making
) -> None:
    making.chain("the quick brown fox")
    results = found(engine, "fox")
    assert set(engine.unable) == {"vector", "maxsim"}
    assert results.missing[0].startswith("no vector, maxsim: ")
    assert found(engine, "fox", Method.VECTOR).hits == []


def test_scope_is_a_conversation_or_what_hangs_below_an_entry(
    engine: ServerEngine, making: Making
) -> None:
    one, *_, low = making.chain("fox one", "fox two", "fox three")
    other, far = making.chain("fox elsewhere", id="1" * 32)
    assert set(entries(found(engine, "fox", paths=[str(one)]))) == {low - 2, low - 1, low}
    assert entries(found(engine, "fox", paths=[str(low - 1)])) == [low]
    assert set(entries(found(engine, "fox", paths=[str(low - 1), str(other)]))) == {low, far}


def test_branch_is_what_stands_above_an_entry_and_below_it(
    engine: ServerEngine, making: Making
) -> None:
    _, first, second, third = making.chain("fox one", "fox two", "fox three")
    aside = making.message(first, 4, "fox aside")
    making.chain("fox elsewhere", id="1" * 32)

    def branch(document: int) -> set[int]:
        return set(entries(found(engine, "fox", paths=[str(document)], reach=Reach.BRANCH)))

    assert branch(third) == {first, second, third}
    assert branch(aside) == {first, aside}
    assert branch(first) == {first, second, third, aside}
    with pytest.raises(QueryError, match="not found"):
        branch(999)


def test_what_belongs_to_no_conversation_is_found_where_everything_is_searched(
    engine: ServerEngine, making: Making
) -> None:
    root, first = making.chain("the fox")
    note = making.document(first, title="remark", content="fox remarked", usetype="note")
    book = making.document(title="of foxes", usetype="book")
    page = making.document(book, title="page 1", content="all about the fox", usetype="page")
    assert set(entries(found(engine, "fox"))) == {first}
    assert set(entries(found(engine, "fox", paths=[str(root)]))) == {first, note}
    hits = {int(hit.entry): hit for hit in found(engine, "fox", reach=Reach.ALL).hits}
    assert {first, note, page} <= hits.keys()
    outside = hits[page]
    assert outside.standing.path == "" and hits[note].standing.path == str(root)
    assert outside.document is not None and outside.document["title"] == "page 1"
    assert outside.snippet.text == "page 1␤all about the fox"
    assert root not in hits


def test_conversation_that_is_new_is_found_at_once(engine: ServerEngine, making: Making) -> None:
    making.chain("the fox")
    assert len(found(engine, "fox").hits) == 1
    _, new = making.chain("another fox", id="1" * 32)
    assert new in entries(found(engine, "another fox"))


def test_filters_phrases_and_exclusions_hold(engine: ServerEngine, making: Making) -> None:
    making.chain("red fox", "red old fox", "fox red", id="a" * 32)
    assert len(found(engine, '"red fox"').hits) == 1
    assert {hit.snippet.text for hit in found(engine, "fox -old").hits} == {"red fox", "fox red"}
    assert {hit.snippet.text for hit in found(engine, "fox /^red/").hits} == {
        "red fox",
        "red old fox",
    }
    assert {hit.speaker for hit in found(engine, "fox role:user").hits} == {"user"}
    assert found(engine, "fox kind:compaction").hits == []
    assert len(found(engine, "fox kind:message -project:elsewhere").hits) == 3
    assert len(found(engine, "fox project:demo").hits) == 3
    assert found(engine, "fox project:elsewhere").hits == []
    assert found(engine, "fox since:2026-03-02").hits == []


def test_filters_are_asked_of_what_an_entry_holds(engine: ServerEngine, making: Making) -> None:
    _, first = making.chain("read the fox file")
    call = message("now the fox", "assistant")
    call["message"]["content"].append(
        {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "fox.txt"}}
    )
    called = making.entry(first, 2, call)
    answer = message("no fox there", "toolResult")
    answer["message"] |= {"tool_name": "read", "tool_call_id": "c", "is_error": True}
    answered = making.entry(called, 3, answer)
    recall = message("fox recalled", "assistant")
    recall["message"]["content"].append(
        {"type": "toolCall", "id": "d", "name": "jmfts_search", "arguments": {"query": "fox"}}
    )
    recalled = making.entry(answered, 4, recall)
    assert set(entries(found(engine, "fox tool:read"))) == {called, answered}
    assert entries(found(engine, "fox is:error")) == [answered]
    assert entries(found(engine, "fox is:recall")) == [recalled]
    assert set(entries(found(engine, "fox -tool:read"))) == {first, recalled}
    assert found(engine, "fox has:image").hits == []
    assert set(entries(found(engine, "fox store:jmfts"))) == {first, called, answered, recalled}


def test_filters_on_branches_and_models_are_asked_of_the_conversation(
    engine: ServerEngine, making: Making
) -> None:
    root = making.root()
    config = making.entry(
        root,
        1,
        {
            "type": "customEntry",
            "customType": "config",
            "timestamp": "2026-03-01T10:00:00Z",
            "data": {"model": "opus"},
        },
    )
    ask = making.message(config, 2, "ask the fox")
    left = making.message(ask, 3, "fox left", "assistant")
    stays = making.message(ask, 4, "fox stays", "assistant")
    assert entries(found(engine, "fox branch:abandoned")) == [left]
    assert set(entries(found(engine, "fox -branch:abandoned"))) == {ask, stays}
    assert set(entries(found(engine, "fox model:opus"))) == {ask, left, stays}
    assert found(engine, "fox model:sonnet").hits == []


def test_what_cannot_be_judged_is_left_out_and_counted(
    engine: ServerEngine, store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tau_browser.stores.jmfts.store._LOOKED_INTO", 2)
    monkeypatch.setattr("tau_browser.search.server.distant._NEWEST", 0)
    root, *some = making.chain("fox one", "fox two", "fox three")
    results = found(engine, "fox branch:active role:user")
    assert results.hits == []
    assert any(remark.startswith("2 hits not judged") for remark in results.remarks)
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    engine.follow(str(root), last.session)
    assert entries(found(engine, "fox branch:active role:user")) == [some[0], some[2]]


def test_how_far_the_answer_of_a_filter_reaches_is_said(
    engine: ServerEngine, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tau_browser.search.server.engine.MOST", 2)
    making.chain("fox one", "fox two", "fox three")
    results = found(engine, "fox role:user")
    assert len(results.hits) < 3
    assert any(remark.startswith("chosen among the first") for remark in results.remarks)


def test_words_that_the_index_lacks_are_counted(engine: ServerEngine, making: Making) -> None:
    _, first = making.chain("the fox")
    assert engine.coverage().unindexed == 0
    making.request(
        "POST",
        "/documents",
        json={
            "parent_id": first,
            "content": "fox unseen",
            "usetype": "tau:message",
            "auto_embed": False,
            "auto_index_bm25": False,
        },
    )
    engine._holdings._known_until = 0
    assert (engine.coverage().unindexed, engine.coverage().entries) == (1, 2)
    making.request("DELETE", f"/documents/{first}")
    engine._holdings._known_until = 0
    assert engine.coverage().unindexed is None


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("/f.x/", "must be given words"),
        ("role:user", "must be given words"),
    ],
)
def test_what_a_server_cannot_be_asked_is_said(
    engine: ServerEngine, making: Making, query: str, why: str
) -> None:
    making.chain("the fox")
    with pytest.raises(QueryError, match=why):
        found(engine, query)


def test_calls_are_found_in_the_session_that_is_open(
    engine: ServerEngine, store: JmftsStore, making: Making
) -> None:
    root, first = making.chain("do it")
    call = message("", "assistant")
    arguments = {"path": "secret-garden.txt"}
    call["message"]["content"] = [
        {"type": "toolCall", "id": "c", "name": "read", "arguments": arguments}
    ]
    call["message"]["model"] = "opus"
    called = making.entry(first, 2, call)
    assert found(engine, "garden").hits == []
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    engine.follow(str(root), last.session)
    (hit,) = found(engine, "garden").hits
    assert int(hit.entry) == called and hit.parts == ()
    assert entries(found(engine, "garden branch:active model:opus")) == [called]
    assert found(engine, "garden model:sonnet").hits == []
    engine.forget(str(root))
    assert found(engine, "garden").hits == []


def test_states_and_turns_are_told_of_sessions_that_are_at_hand(
    engine: ServerEngine, making: Making
) -> None:
    _, ask, _ = making.chain("ask the fox", "fox says")
    left = making.message(ask, 3, "fox left", "assistant")
    making.message(ask, 4, "goes on", "assistant")
    results = engine.placed(found(engine, "fox"))
    states = {int(hit.entry): (hit.state, hit.turn and hit.turn.entry) for hit in results.hits}
    assert states[ask] == (State.PATH, None)
    assert states[left] == (State.ABANDONED, str(ask))


def test_answer_that_nobody_waits_for_is_given_up(engine: ServerEngine, making: Making) -> None:
    making.chain("the fox")
    assert engine.answer(Asking(parse("fox")), lambda: True).hits == []
    assert len(found(engine, "fox").hits) == 1


def test_coverage_tells_what_is_embedded(embedding: tuple[Making, ServerEngine]) -> None:
    making, engine = embedding
    _, first, _ = making.chain("the quick brown fox", "a slow snail")
    making.request("POST", f"/documents/{first}/embed?with_tokens=true")
    assert (engine.coverage().embedded, engine.coverage().indexed) == (1, 2)


def test_meaning_finds_what_words_do_not_and_pieces_count_for_their_entry(
    embedding: tuple[Making, ServerEngine],
) -> None:
    making, engine = embedding
    root, first, second = making.chain("The automobile would not start this morning.", "I see.")
    making.request("POST", f"/documents/{first}/embed?with_tokens=true")
    texts = ("The engine of the vehicle was cold.", "A car needs petrol.")
    for at, text in enumerate(texts):
        piece = making.document(second, usetype="jmfts:chunk", title=f"— chunk {at}", content=text)
        making.request("POST", f"/documents/{piece}/embed?with_tokens=true")
    results = found(engine, "car trouble")
    assert set(entries(results)) == {first, second} and engine.unable == {}
    for hit in results.hits:
        assert {"vector", "maxsim"} <= ranks(hit).keys()
    assert "2 pieces counted for the entries they are of" in results.remarks
    assert entries(found(engine, "car trouble", Method.VECTOR, paths=["99"])) == []
    assert set(entries(found(engine, "car", Method.MAXSIM, paths=[str(root)]))) == {first, second}


def test_what_late_interaction_probably_matched_is_told_from_the_tokens(
    embedding: tuple[Making, ServerEngine],
) -> None:
    making, engine = embedding
    _, first, second = making.chain("Vehicle repair", "about vehicle repair")
    piece = making.document(
        second, usetype="jmfts:chunk", title="— chunk 0", content="vehicle repair"
    )
    for document in (first, piece):
        making.request("POST", f"/documents/{document}/embed?with_tokens=true")

    def explained(query: str) -> dict[int, Hit]:
        hits = found(engine, query).hits
        return {int(hit.entry): engine.explained(hit, parse(query)) for hit in hits}

    hits = explained("car trouble")
    (likely,) = hits[first].likely
    assert (likely.word, likely.sought, likely.spans) == ("vehicle", "car", [(0, 7)])
    assert 0.5 < likely.nearness < 1
    assert [likely.spans for likely in hits[second].likely] == [[(6, 13)]]  # by its piece
    assert explained("vehicle")[first].likely == ()  # the word itself stands there


def test_the_server_s_own_mixture_gives_the_server_s_own_order(
    embedding: tuple[Making, ServerEngine],
) -> None:
    making, engine = embedding
    texts = ("the car broke down", "a vehicle needs repair", "cars and buses", "the cat sat down")
    _, *some = making.chain(*texts)
    for document in some:
        making.request("POST", f"/documents/{document}/embed?with_tokens=true")
    body = {"query": "car repair", "limit": 30, "usetype": "tau:message"}
    theirs = making.request("POST", "/search/hybrid", json=body)["results"]
    preset = engine.manner.presets["server"]
    ours = found(engine, "car repair", weights=preset.weights, fused_by=preset.fused_by)
    assert entries(ours) == [each["document"]["id"] for each in theirs]
