"""Documents cut out of an answer as it arrives: all of them, once, whatever stands in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.stores.jmfts import splitter
from tau_browser.stores.jmfts.documents import Document
from tau_browser.stores.jmfts.splitter import BadAnswer, split

# What a document may hold that looks like the seams between documents.
_SEAMS = [
    [{"x": 1}, {"id": 7, "parent_id": 1}, {"id": 8, "parent_id": 7, "depth": 2}],
    {"descendants": [{"id": 7, "parent_id": 1, "depth": 1}], "total": 0},
    '},{"id":7,"parent_id":1,"depth":1}],"total":0}',
    ']},{"id":7,"parent_id":1',
]
payloads = st.recursive(
    st.sampled_from(_SEAMS) | st.text(max_size=20) | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def answer(payloads: list[Any]) -> bytes:
    """What a server sends of a chain of documents that hold these."""
    documents = [
        {"id": at + 1, "parent_id": at or None, "depth": at, "structured_content": payload}
        for at, payload in enumerate(payloads)
    ]
    root, *descendants = documents
    told = {"root": root, "descendants": descendants, "total": len(documents)}
    return json.dumps(told, separators=(",", ":")).encode()


def documents(data: bytes, sizes: list[int]) -> list[list[Document]]:
    """What is made of an answer that comes in pieces of these sizes, over and over."""

    async def pieces() -> AsyncGenerator[tuple[bytes, int]]:
        at = turn = 0
        while at < len(data):
            size = sizes[turn % len(sizes)]
            yield data[at : at + size], len(data)
            at, turn = at + size, turn + 1

    async def collected() -> list[list[Document]]:
        return [list(arrived.documents) async for arrived in split(pieces())]

    return asyncio.run(collected())


def told(arrived: list[list[Document]]) -> list[tuple[int, Any]]:
    flat = [document for documents in arrived for document in documents]
    return [(document.id, json.loads(bytes(document.structured_content))) for document in flat]


@pytest.fixture(params=[1, 100])
def stretch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitter, "_STRETCH", request.param)


@pytest.mark.usefixtures("stretch")
@given(held=st.lists(payloads, min_size=1, max_size=8), sizes=st.lists(st.integers(1, 200)))
def test_every_document_comes_once_and_whole(held: list[Any], sizes: list[int]) -> None:
    arrived = documents(answer(held), sizes or [64])
    assert told(arrived) == list(enumerate(held, 1))


@pytest.mark.usefixtures("stretch")
@given(held=st.lists(payloads, min_size=1, max_size=8), share=st.floats(0, 1, exclude_max=True))
def test_answer_that_breaks_off_is_never_taken_for_whole(held: list[Any], share: float) -> None:
    whole = answer(held)
    with pytest.raises(BadAnswer, match="cut off"):
        documents(whole[: int(len(whole) * share)], [64])


def test_answer_that_counts_otherwise_is_bad() -> None:
    whole = answer([None, None]).replace(b'"total":2', b'"total":3')
    with pytest.raises(BadAnswer, match="it says 3 documents and holds 2"):
        documents(whole, [64])


def test_documents_come_before_the_answer_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitter, "_STRETCH", 100)
    arrived = documents(answer(["x" * 50] * 20), [100])
    assert len(arrived) > 10 and max(map(len, arrived)) <= 3


def test_spelling_of_another_server_is_read_at_the_end() -> None:
    spaced = json.dumps(json.loads(answer([1, 2, 3])), indent=2).encode()
    assert told(documents(spaced, [10])) == [(1, 1), (2, 2), (3, 3)]
