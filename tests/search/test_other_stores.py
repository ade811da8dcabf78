"""Sessions of every kind of store are searched by their own lines, and hits name the session."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tau_browser.search.answers import query_as_typed
from tau_browser.search.engine import Engine
from tau_browser.search.index.status import status_of
from tau_browser.search.query import Query, parse
from tau_browser.search.results import Hit, Method
from tau_browser.stores.claude_code.store import ClaudeCodeStore
from tau_browser.stores.codex.store import CodexStore
from tau_browser.stores.pi.store import PiStore
from tau_browser.stores.store import Listed, Store
from tests.stores.logs.writing import (
    claude,
    codex,
    codex_message,
    codex_meta,
    pi_header,
    pi_message,
    tool_result,
    tool_use,
    write_lines,
)
from tests.stores.samples import SAMPLES, Sample, append


class Made(NamedTuple):
    """A sample, its texts by session id and entry, and its search."""

    sample: Sample
    folder: Path
    store: Store
    engine: Engine


@pytest.fixture(params=SAMPLES, ids=lambda sample: sample.name)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    folder = tmp_path / "store"
    folder.mkdir()
    request.param.make(folder)
    store = request.param.adapter([str(folder)], tmp_path / "cache")
    return Made(request.param, folder, store, Engine(store, tmp_path / "cache"))


def texts(store: Store) -> dict[tuple[str, str], str]:
    """What is said, by path of the session and id of the entry."""
    found = {}
    for item in store.scan():
        assert isinstance(item, Listed)
        *_, last = store.open(item.path).load()
        assert last.session is not None
        for place in range(len(last.session)):
            found[item.path, last.session.entry_id(place)] = last.session.text(place)
    return found


def places(hits: list[Hit]) -> set[str]:
    return {hit.standing.path for hit in hits}


def exact(text: str) -> Query:
    return query_as_typed(text, Method.SUBSTRING)


def test_whatever_is_said_is_found_in_its_session(made: Made) -> None:
    said = texts(made.store)
    made.engine.update()
    assert not status_of(made.store, made.engine.folder).waiting
    for (path, _), text in said.items():
        word = max(text.split(), key=len)
        for query, method in ((parse(f'"{word}"'), Method.BM25), (exact(word), Method.SUBSTRING)):
            hits = made.engine.search(query, method, paths=[path]).hits
            assert path in places(hits), (word, method)


def test_without_an_index_it_is_scanned(made: Made, tmp_path: Path) -> None:
    for (path, _), text in texts(made.store).items():
        line = max(text.split("\n"), key=len)
        results = Engine(made.store, tmp_path / "none").search(
            exact(line), Method.SUBSTRING, paths=[path]
        )
        assert path in places(results.hits), line


def test_what_was_added_is_indexed_and_the_rest_stays(made: Made) -> None:
    made.engine.update()
    before = made.engine.coverage().entries
    made.sample.grow(made.folder)
    assert len(status_of(made.store, made.engine.folder).waiting) == 1
    made.engine.update()
    assert made.engine.coverage().entries >= before + 1
    assert not status_of(made.store, made.engine.folder).waiting
    assert made.engine.update().files == 0


def hits_in(store: Store, folder: Path, query: str) -> list[Hit]:
    engine = Engine(store, folder)
    engine.update()
    return engine.search(parse(query), Method.BM25).hits


def test_what_a_sub_agent_said_is_found_in_the_session_that_called_it(tmp_path: Path) -> None:
    call = claude("assistant", "b", "a", [tool_use("t1", "Task", prompt="look")])
    result = claude("user", "c", "b", [tool_result("t1", "x")], toolUseResult={"agentId": "g1"})
    path = write_lines(tmp_path / "c1.jsonl", [claude("user", "a", None, "words"), call, result])
    agent = {"isSidechain": True, "agentId": "g1"}
    side = claude("assistant", "s1", None, "the tide was wrong", **agent)
    aside = tmp_path / "c1" / "subagents" / "agent-g1.jsonl"
    write_lines(aside, [side])
    store = ClaudeCodeStore([str(tmp_path)])
    (hit,) = hits_in(store, tmp_path / "cache", "role:assistant tide")
    assert (hit.standing.path, hit.entry) == (str(path), "s1")
    (hit,) = Engine(store, tmp_path / "cache").search(exact("tide was"), Method.SUBSTRING).hits
    assert (hit.standing.path, hit.entry) == (str(path), "s1")
    append(aside, claude("assistant", "s2", "s1", "the harbour too", **agent))
    (hit,) = hits_in(store, tmp_path / "cache", "harbour")
    assert hit.entry == "s2"


def test_results_of_tools_are_no_words_of_the_user(tmp_path: Path) -> None:
    lines = [
        claude("user", "a", None, "tide"),
        claude("assistant", "b", "a", [tool_use("t1", "Bash", command="tide")]),
        claude("user", "c", "b", [tool_result("t1", "tide", is_error=True)]),
    ]
    write_lines(tmp_path / "c1.jsonl", lines)
    store = ClaudeCodeStore([str(tmp_path)])
    cache = tmp_path / "cache"
    assert [hit.entry for hit in hits_in(store, cache, "role:user tide")] == ["a"]
    assert {hit.entry for hit in hits_in(store, cache, "tool:bash tide")} == {"b", "c"}
    assert [hit.entry for hit in hits_in(store, cache, "is:error tide")] == ["c"]


def test_what_codex_says_twice_is_one_hit_however_it_is_looked_for(tmp_path: Path) -> None:
    output = '{"output": "a \\"quoted\\" tide", "metadata": {"exit_code": 0}}'
    lines = [
        codex_meta(),
        codex_message("user", "unique words"),
        codex("event_msg", inner="user_message", message="unique words"),
        codex("response_item", inner="function_call_output", call_id="k", output=output),
    ]
    write_lines(tmp_path / "rollout-1.jsonl", lines)
    store = CodexStore([str(tmp_path)])
    assert len(hits_in(store, tmp_path / "cache", "unique words")) == 1
    engine = Engine(store, tmp_path / "none")
    assert len(engine.search(exact("unique words"), Method.SUBSTRING).hits) == 1
    assert len(engine.search(exact('"quoted" tide'), Method.SUBSTRING).hits) == 1


def test_filters_ask_the_header_in_its_own_format(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [pi_header("p1", cwd="/one"), pi_message("a", None, "tide")])
    write_lines(tmp_path / "b.jsonl", [pi_header("p2", cwd="/two"), pi_message("b", None, "tide")])
    hits = hits_in(PiStore([str(tmp_path)]), tmp_path / "cache", "project:two tide")
    assert [hit.entry for hit in hits] == ["b"]
