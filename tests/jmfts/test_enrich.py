"""Enrichment: what lacks something gets it, once, and what cannot have it stops nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tau_browser.stores.jmfts.enriching import NO_MODEL, Step, Survey, enriched, surveyed
from tau_browser.stores.jmfts.store import JmftsStore
from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making, message
from tests.jmfts.proxy import answered, proxy_before

LONG = " ".join(f"Sentence {at} is about the number {at} and little else." for at in range(90))


@pytest.fixture
def embedding(full: Appliance, tmp_path: Path) -> Iterator[tuple[Making, JmftsStore]]:
    making, store = Making(full), JmftsStore(full.url, full.token, tmp_path / "cache")
    yield making, store
    store.close()
    making.close()


def survey(store: JmftsStore, root: int, index: str | None = None) -> Survey:
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    looking = surveyed(store.client, root, last.session, index)
    while True:
        try:
            next(looking)
        except StopIteration as end:
            found: Survey = end.value
            return found


def enrich(store: JmftsStore, root: int, index: str | None = None) -> list[Step]:
    return list(enriched(store.client, survey(store, root, index)))


def pieces_of(making: Making, document: int) -> list[int]:
    path = f"/documents/{document}/children?usetype=jmfts:chunk&limit=1000"
    return [child["id"] for child in making.request("GET", path)]


def has_vector(making: Making, document: int) -> bool:
    found = making.request("GET", f"/documents/{document}?include_embed=true")
    return found["embed"] is not None


def test_all_that_says_something_is_embedded_and_only_once(
    embedding: tuple[Making, JmftsStore],
) -> None:
    making, store = embedding
    root, first, second = making.chain("How are sessions kept?", "Hm.")
    call = message("", "assistant")
    call["message"]["content"] = [{"type": "toolCall", "id": "c", "name": "read", "arguments": {}}]
    making.entry(second, 3, call)
    elide = {"type": "elide", "timestamp": "2026-03-01T10:00:02Z", "firstKeptId": str(first)}
    fold = making.entry(second, 4, elide)
    text = "elide: history folded here, context resumes at entry 2"
    making.request("PATCH", f"/documents/{fold}", json={"content": text, "re_embed": False})
    planned = survey(store, root)
    assert planned.embed == [first, fold]
    assert planned.skipped == {"nothing said, or too little": 2}
    assert {step.did for step in enrich(store, root)} <= {"embedded", "indexed"}
    assert has_vector(making, first) and has_vector(making, fold)
    assert survey(store, root).steps == 0 and enrich(store, root) == []


def test_what_is_too_long_is_cut_up_once_even_if_stopped_midway(
    embedding: tuple[Making, JmftsStore],
) -> None:
    making, store = embedding
    root, entry = making.chain(LONG)
    working = enriched(store.client, survey(store, root))
    assert next(working).did == "cut up"
    del working  # killed before any piece had a vector
    pieces = pieces_of(making, entry)
    assert len(pieces) > 1 and not any(has_vector(making, piece) for piece in pieces)
    assert survey(store, root).pieces == sorted(pieces)
    enrich(store, root)
    assert pieces_of(making, entry) == pieces
    assert all(has_vector(making, piece) for piece in pieces)
    assert survey(store, root).steps == 0


def test_pieces_that_a_fork_of_another_program_copied_are_made_anew(
    embedding: tuple[Making, JmftsStore],
) -> None:
    making, store = embedding
    root, entry = making.chain(LONG)
    stale = making.document(
        entry,
        usetype="jmfts:chunk",
        title="— chunk 0",
        content="old",
        structured_content={"chunked_from": 9999},
    )
    enrich(store, root)
    pieces = pieces_of(making, entry)
    assert stale not in pieces and len(pieces) > 1


def test_words_of_finished_streams_are_repaired(store: JmftsStore, making: Making) -> None:
    root, first = making.chain("a question of some length")
    partial = message("the beginning of it", "assistant") | {"status": "incomplete"}
    entry = making.entry(first, 2, partial)
    final = message("the beginning of it and a zebra", "assistant")
    making.request(
        "PATCH",
        f"/documents/{entry}",
        json={
            "structured_content": {"tau": final, "seq": 2},
            "content": "the beginning of it and a zebra",
            "re_embed": False,
        },
    )
    planned = survey(store, root)
    assert planned.index == [entry]
    planned.embed.clear()
    assert [step.did for step in enriched(store.client, planned)] == ["indexed"]
    found = making.request("POST", "/search/bm25", json={"query": "zebra"})
    assert [hit["document"]["id"] for hit in found["results"]] == [entry]
    assert survey(store, root).index == []


def test_what_says_what_it_said_is_not_looked_for(
    appliance: Appliance, making: Making, tmp_path: Path
) -> None:
    """As with what was embedded: that changes a document, too."""
    root, first = making.chain("a question of some length")
    making.request("PATCH", f"/documents/{first}", json={"title": "another"})
    with proxy_before(appliance.url) as proxy:
        far = JmftsStore(proxy.url, appliance.token, tmp_path / "far")
        assert survey(far, root).index == []
        assert not any("/search/" in asked for asked in proxy.asked)
        far.close()


def test_index_of_ones_own_is_filled_once(store: JmftsStore, making: Making) -> None:
    root, first, second = making.chain("the first of the words", "and the second of them")
    planned = survey(store, root, "mine")
    assert planned.index == [first, second]
    planned.embed.clear()
    list(enriched(store.client, planned))
    assert survey(store, root, "mine").index == []
    path = "/search/bm25?index_name=mine"
    assert making.request("POST", path, json={"query": "words"})["results"]


def test_words_go_where_the_server_keeps_those_of_the_conversation(
    store: JmftsStore, making: Making
) -> None:
    root = making.root()
    making.request("POST", "/indexes", json={"name": "covering"})
    making.request("POST", f"/indexes/covering/roots?root_document_id={root}")
    entry = making.message(root, 1, "the beginning of it")
    changed = {"content": "the beginning of it and a zebra", "re_embed": False}
    stored = {"tau": message("the beginning of it and a zebra"), "seq": 1}
    making.request("PATCH", f"/documents/{entry}", json=changed | {"structured_content": stored})
    planned = survey(store, root)
    assert (planned.into, planned.index) == ("covering", [entry])
    planned.embed.clear()
    list(enriched(store.client, planned))
    found = making.request("POST", "/search/bm25?index_name=covering", json={"query": "zebra"})
    assert entry in [hit["document"]["id"] for hit in found["results"]]
    assert survey(store, root).index == []


def test_word_that_breaks_the_index_is_left_alone(store: JmftsStore, making: Making) -> None:
    root = making.root()
    blob = "".join(f"{at:x}" for at in range(4000))
    making.document(
        root,
        usetype="tau:message",
        title="user — 0001",
        content=blob,
        structured_content={"tau": message(blob), "seq": 1},
        auto_index_bm25=False,
    )
    planned = survey(store, root, "mine")
    assert planned.index == []
    assert planned.skipped["a word too long for the server's index"] == 1


def chain(appliance: Appliance, making: Making, count: int) -> tuple[int, list[int]]:
    """A conversation of messages that all end in the same word: its root and its entries."""
    root = making.root()
    appliance.sql(
        "INSERT INTO documents (parent_id, usetype, title, content, structured_content, created_at)"
        f" SELECT {root} + at - 1, 'tau:message', 'user', said, jsonb_build_object('seq', at,"
        " 'tau', jsonb_build_object('type', 'message', 'timestamp', '2026-03-01T10:00:01Z',"
        " 'message', jsonb_build_object('role', 'user', 'content', said))), clock_timestamp()"
        " FROM (SELECT at, 'entry ' || at || ' zebra' AS said"
        f" FROM generate_series(1, {count}) at ORDER BY at) x"
    )
    return root, list(range(root + 1, root + 1 + count))


def test_more_than_a_thousand_entries_are_seen(
    store: JmftsStore, making: Making, appliance: Appliance
) -> None:
    root, entries = chain(appliance, making, 1050)
    assert survey(store, root, "mine").index == entries


def test_what_was_killed_is_gone_on_with_though_many_entries_hold_the_same_words(
    store: JmftsStore, making: Making, appliance: Appliance
) -> None:
    root, entries = chain(appliance, making, 120)  # more than a search gives
    planned = survey(store, root, "mine")
    planned.embed.clear()
    working = enriched(store.client, planned)
    for _ in range(50):
        next(working)
    working.close()  # killed
    planned = survey(store, root, "mine")
    assert planned.index == entries[50:]
    planned.embed.clear()
    assert len(list(enriched(store.client, planned))) == 70
    assert survey(store, root, "mine").index == []


def test_old_server_is_enriched_like_a_new_one(old: Appliance, tmp_path: Path) -> None:
    making, store = Making(old), JmftsStore(old.url, old.token, tmp_path / "old")
    root, first, second = making.chain("the first of the words", "and the second of them")
    planned = survey(store, root, "mine")
    assert (planned.embed, planned.index) == ([first, second], [first, second])
    planned.embed.clear()
    assert [step.did for step in enriched(store.client, planned)] == ["indexed", "indexed"]
    assert survey(store, root, "mine").index == [] and survey(store, root).index == []
    store.close()
    making.close()


def test_server_that_cannot_embed_is_said_once_and_its_words_are_kept(
    store: JmftsStore, making: Making
) -> None:
    root, first, second = making.chain("something to embed", "and something more to embed")
    steps = enrich(store, root, "mine")
    assert [step.did for step in steps] == ["", "indexed", "indexed"]
    assert "cannot do this" in steps[0].problem
    assert survey(store, root, "mine").index == []
    assert survey(store, root, "mine").embed == [first, second]


def test_server_that_says_it_has_no_model_is_not_asked_for_vectors(
    run: Run,
    home: Path,
    appliance: Appliance,
    making: Making,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root, _ = making.chain("something to embed")
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    with proxy_before(appliance.url) as proxy:
        monkeypatch.setenv("JMFTS_API_URL", proxy.url)
        proxy.spoil = without_model
        said = run("enrich", "--store", "jmfts", str(root))
        assert said.code == 2 and f"1 entry cannot be found by meaning: {NO_MODEL}" in said.out
        assert not any(asked.endswith("/embed") for asked in proxy.asked)
        words = run("enrich", "--store", "jmfts", str(root), "--index", "words", "--json")
        assert words.code == 0 and words.json["conversations"][0]["done"] == {"indexed": 1}


def without_model(number: int, client: socket.socket, answer: bytes) -> bool:
    body = answer.partition(b"\r\n\r\n")[2].replace(b'"can_embed":true', b'"can_embed":false')
    client.sendall(answered(200, "application/json", body))
    return True


def test_the_command_plans_does_and_then_has_nothing_to_do(
    run: Run,
    home: Path,
    embedding: tuple[Making, JmftsStore],
    full: Appliance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making, _ = embedding
    root, first = making.chain("something to embed")
    monkeypatch.setenv("JMFTS_API_URL", full.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", full.token)
    planned = run("enrich", "--store", "jmfts", str(root), "--dry-run", "--json").json
    assert planned["conversations"][0]["plan"]["embed"] == [first]
    done = run("enrich", "--store", "jmfts", "--all", "--json").json
    assert done["conversations"][0]["done"] == {"embedded": 1} and not done["stopped"]
    again = run("enrich", "--store", "jmfts", str(root))
    assert again.code == 0 and "nothing to do" in again.out
    assert run("enrich", "--store", "jmfts").code == 2
