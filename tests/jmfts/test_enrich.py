"""Enrichment: what lacks something gets it, once, and what cannot have it stops nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tau_browser.stores.jmfts.enriching import Step, Survey, enriched, surveyed
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.store import JmftsStore
from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making, message

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
    looking = surveyed(store.client, last.session, index)
    while True:
        try:
            next(looking)
        except StopIteration as end:
            found: Survey = end.value
            return found


def enrich(store: JmftsStore, root: int, index: str | None = None) -> list[Step]:
    return list(enriched(store.client, survey(store, root, index), index))


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
    assert "cut into" in next(working).did
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
    # τ's streams take longer than a test has time for
    planned = survey(store, root)
    if not planned.index:
        pytest.fail("a document that was changed after it was made is to be looked at")
    planned.embed.clear()
    assert [step.did for step in enriched(store.client, planned)] == ["indexed"]
    found = making.request("POST", "/search/bm25", json={"query": "zebra"})
    assert [hit["document"]["id"] for hit in found["results"]] == [entry]
    assert survey(store, root).index == []


def test_index_of_ones_own_is_filled_once(store: JmftsStore, making: Making) -> None:
    root, first, second = making.chain("the first of the words", "and the second of them")
    planned = survey(store, root, "mine")
    assert planned.index == [first, second]
    planned.embed.clear()
    list(enriched(store.client, planned, "mine"))
    assert survey(store, root, "mine").index == []
    path = "/search/bm25?index_name=mine"
    assert making.request("POST", path, json={"query": "words"})["results"]


def test_server_without_a_model_is_said(store: JmftsStore, making: Making) -> None:
    root, _ = making.chain("something to embed")
    with pytest.raises(JmftsError, match="cannot do this"):
        enrich(store, root)


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
    assert again.code == 0 and "0 to embed" in again.out
    assert run("enrich", "--store", "jmfts").code == 2
