"""Search on a server: its methods asked one by one, within the scope, every hit an entry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.state import State
from tau_browser.model.summary import Summary
from tau_browser.search.find import QueryError
from tau_browser.search.query import parse
from tau_browser.search.results import Asking, Hit, Method, Results
from tau_browser.search.server import ServerEngine
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import Capabilities, Found, Located, Scored
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
    assert hit.score == pytest.approx(sum(part.contribution for part in hit.parts))
    assert [hit.snippet.text[slice(*span)] for span in hit.snippet.marks] == ["quick", "fox"]
    assert (hit.standing.path, hit.standing.session) == (str(root), "0f" * 16)


def test_methods_that_a_server_cannot_do_are_named_with_the_reason(
    engine: ServerEngine, making: Making
) -> None:
    making.chain("the quick brown fox")
    results = found(engine, "fox")
    assert set(engine.unable) == {"vector", "maxsim"}
    assert sum("is not to be had: " in remark for remark in results.remarks) == 2
    assert found(engine, "fox", Method.VECTOR).hits == []


def test_scope_is_a_conversation_or_what_hangs_below_an_entry(
    engine: ServerEngine, making: Making
) -> None:
    one, *_, low = making.chain("fox one", "fox two", "fox three")
    other, far = making.chain("fox elsewhere", id="1" * 32)
    assert set(entries(found(engine, "fox", paths=[str(one)]))) == {low - 2, low - 1, low}
    assert entries(found(engine, "fox", paths=[str(low - 1)])) == [low]
    assert set(entries(found(engine, "fox", paths=[str(low - 1), str(other)]))) == {low, far}


def test_filters_phrases_and_exclusions_hold(engine: ServerEngine, making: Making) -> None:
    making.chain("red fox", "red old fox", "fox red", id="a" * 32)
    assert len(found(engine, '"red fox"').hits) == 1
    assert {hit.snippet.text for hit in found(engine, "fox -old").hits} == {"red fox", "fox red"}
    assert {hit.speaker for hit in found(engine, "fox role:user").hits} == {"user"}
    assert found(engine, "fox kind:compaction").hits == []
    assert len(found(engine, "fox project:demo").hits) == 3
    assert found(engine, "fox since:2026-03-02").hits == []


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("/f.x/", "knows no expressions"),
        ("role:user", "must be given words"),
        ("fox tool:bash", "tool: cannot be asked of a server"),
    ],
)
def test_what_a_server_cannot_be_asked_is_said(
    engine: ServerEngine, making: Making, query: str, why: str
) -> None:
    making.chain("fox")
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
    called = making.entry(first, 2, call)
    assert found(engine, "garden").hits == []
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    engine.follow(str(root), last.session)
    (hit,) = found(engine, "garden").hits
    assert int(hit.entry) == called and hit.parts == ()
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
    making.chain("fox")
    assert engine.answer(Asking(parse("fox")), lambda: True).hits == []
    assert len(found(engine, "fox").hits) == 1


def test_coverage_tells_what_is_embedded(embedding: tuple[Making, ServerEngine]) -> None:
    making, engine = embedding
    _, first, _ = making.chain("the quick brown fox", "a slow snail")
    making.request("POST", f"/documents/{first}/embed?with_tokens=true")
    assert (engine.coverage().embedded, engine.coverage().indexed) == (1, 3)


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


# Whatever a server answers

_PATHS = st.lists(st.sampled_from([1, 2, 3, 4, 5, 6]), unique=True, max_size=4)


class Untrue(Client):
    """A server that answers with anything."""

    def __init__(self, answer: Found) -> None:
        super().__init__("http://nowhere", "token")
        self._untrue = answer

    async def search(self, *_: Any) -> Found:
        return self._untrue

    async def entry(self, document: int) -> Located:
        return located(document, [1])


def located(number: int, path: list[int], usetype: str = "tau:message") -> Located:
    stored = msgspec.Raw(msgspec.json.encode({"tau": message("fox"), "seq": 1}))
    parent = path[-1] if path else None
    return Located(number, path, parent, usetype=usetype, structured_content=stored)


@given(st.lists(st.tuples(_PATHS, st.booleans()), max_size=12), st.sampled_from([1, 2, 3]))
def test_hits_are_never_outside_the_scope(
    tmp_path_factory: pytest.TempPathFactory, hits: list[tuple[list[int], bool]], scope: int
) -> None:
    answer = Found(
        [
            Scored(located(100 + at, path, "jmfts:chunk" if piece else "tau:message"), 1.0)
            for at, (path, piece) in enumerate(hits)
        ]
    )
    summary = Summary("s", "t", False, "", None, "", "", 0, 0, 0, 0, 0, 0, False)
    listed = SimpleNamespace(path="1", summary=summary)
    store: Any = SimpleNamespace(
        client=Untrue(answer), name="jmfts", scan=lambda: iter([]), about=Capabilities
    )
    engine = ServerEngine(store, tmp_path_factory.getbasetemp())
    engine._summaries, engine._known_until = {int(listed.path): summary}, float("inf")
    results = engine.answer(Asking(parse("fox"), Method.BM25, paths=[str(scope)]))
    inside = {
        path[-1] if piece else 100 + at for at, (path, piece) in enumerate(hits) if scope in path
    }
    assert set(entries(results)) <= inside
