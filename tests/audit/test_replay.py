"""Asking again, against answers that a server once gave (the documents of fixture 22)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tau_browser.audit.memory import Answer, Document, Now
from tau_browser.audit.recall import Hit, Recall
from tau_browser.audit.replay import METHODS, Drift, replay
from tau_browser.audit.session_audit import audit_session, hits_of
from tau_browser.stores.store import StoreError
from tests.conftest import DATA, load

SESSION = DATA / "tau" / "22-recall-jmfts-exported.jsonl"
SUBTREE = DATA / "audit" / "22-recall-jmfts-subtree.json"


def recorded() -> Iterator[Document]:
    subtree = json.loads(SUBTREE.read_text())["subtree"]
    for each in [subtree["root"], *subtree["descendants"]]:
        own = each["usetype"].startswith("tau:")
        yield Document(
            str(each["id"]),
            each["title"],
            each["usetype"],
            each["content"] or "",
            each["created_at"],
            "6" if own else "",
            str(each["id"]) if own else "",
        )


class Recorded:
    """The documents as they were, and what a method finds of them, as the test wants it."""

    title = "as recorded"

    def __init__(self, found: list[str]) -> None:
        self.documents = {document.id: document for document in recorded()}
        self.found = found
        self.since: int | None = 0
        self.asked: list[tuple[Any, ...]] = []

    def search(
        self, method: str, query: str, limit: int, top: str, usetype: str
    ) -> list[tuple[Document, float]]:
        self.asked.append((method, query, limit, top, usetype))
        if method == "maxsim":
            raise StoreError("no tokens are stored")
        return [(self.documents[each], 0.5) for each in self.found]

    def read(self, documents: Iterable[str]) -> dict[str, Answer]:
        return {document: self.documents.get(document) for document in documents}

    def written_since(self, stamp: str) -> int | None:
        return self.since


@pytest.fixture
def first() -> tuple[Recall, list[Hit]]:
    session = load(SESSION)
    audit = audit_session("x", session)
    return audit.recalls[0], hits_of(session, audit.recalls)[0]


def test_the_same_is_a_match(first: tuple[Recall, list[Hit]]) -> None:
    recall, hits = first
    memory = Recorded([hit.document for hit in hits])
    found = replay(recall, hits, memory)
    assert found.verdict is Drift.MATCH
    assert {now for now, _ in found.documents.values()} == {Now.SAME}
    assert [each.method for each in found.methods] == list(METHODS)
    assert memory.asked[0] == ("hybrid", recall.query, 8, "6", "")
    assert found.methods[-1].problem == "no tokens are stored"
    assert {place.word for place in found.methods[0].places} == {"kept"}


def test_another_order_is_drift_if_nothing_else_changed(first: tuple[Recall, list[Hit]]) -> None:
    recall, hits = first
    ids = [hit.document for hit in hits]
    found = replay(recall, hits, Recorded([ids[1], ids[0], *ids[2:-1]]))
    assert found.verdict is Drift.DRIFT
    words = [place.word for place in found.methods[0].places]
    assert words == ["moved", "moved", *["kept"] * 5, "not found"]
    assert found.reasons[-1] == f"doc {ids[-1]}: not found"


def test_where_the_memory_changed_nobody_can_tell(first: tuple[Recall, list[Hit]]) -> None:
    recall, hits = first
    ids = [hit.document for hit in hits]
    changed = Recorded(ids)
    changed.documents[ids[0]] = replace(changed.documents[ids[0]], text="Never rotate it.")
    found = replay(recall, hits, changed)
    assert (found.verdict, found.reasons) == (
        Drift.CANNOT_TELL,
        [f"doc {ids[0]} is changed since"],
    )
    gone = Recorded(ids[1:])
    del gone.documents[ids[0]]
    found = replay(recall, hits, gone)
    assert (found.verdict, found.reasons) == (Drift.CANNOT_TELL, [f"doc {ids[0]} is deleted since"])
    written = Recorded(["37", *ids[:-1]])
    found = replay(recall, hits, written)
    assert (found.verdict, found.reasons) == (Drift.CANNOT_TELL, ["doc 37 was written since"])
    moved = Recorded(ids[::-1])
    moved.since = 3
    found = replay(recall, hits, moved)
    assert found.verdict is Drift.CANNOT_TELL
    assert found.reasons == ["3 documents were written since: the index moved"]


def test_a_server_that_does_not_answer(first: tuple[Recall, list[Hit]]) -> None:
    class Away(Recorded):
        def read(self, documents: Iterable[str]) -> dict[str, Answer]:
            return dict.fromkeys(documents, StoreError("the server does not answer"))

    found = replay(*first, Away([]))
    assert (found.verdict, found.reasons) == (Drift.CANNOT_TELL, ["the server does not answer"])


def test_what_cannot_be_asked_again(first: tuple[Recall, list[Hit]]) -> None:
    recall, hits = first
    for other, reason in (
        (replace(recall, query=" "), "its query"),
        (replace(recall, document=""), "where it searched"),
        (replace(recall, system="memory"), "only searches"),
    ):
        memory = Recorded([])
        found = replay(other, hits, memory)
        assert found.verdict is Drift.CANNOT_TELL
        assert found.reasons[0].startswith(reason)
        assert not memory.asked
