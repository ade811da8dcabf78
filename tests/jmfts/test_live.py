"""The documents behind hits, looked up on a real server: whose they are, what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tau_browser.audit.live import Live, Whose, in_words, live_of, server_documents
from tau_browser.audit.memory import Now
from tau_browser.audit.server import JmftsMemory
from tau_browser.audit.session_audit import audit_session, hits_of
from tau_browser.audit.states import load
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Store
from tau_browser.stores.targets import store_over
from tests.audit.sessions import Doc, Story
from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.jmfts.test_replay import stored

ENTRY = "The lighthouse lamp is cleaned every Tuesday."
OTHER = "Who cleans the lamp of the lighthouse?"
BRASS = "A lamp of brass."


class World:
    """A conversation that recalls its own entry, that of another, and four notes: one as it was,
    one changed, one deleted and one hidden from strangers."""

    def __init__(self, making: Making) -> None:
        self.root, own = making.chain(ENTRY)
        self.other, its = making.chain(OTHER, id="1" * 32)
        notes = [
            making.document(title=name, content=f"A lamp: {name}.", usetype="note")
            for name in ("same", "changed", "deleted", "hidden")
        ]
        self.own, self.its, self.same, self.changed, self.deleted, self.hidden = own, its, *notes
        story = Story()
        story.search(
            "lamp",
            Doc(own, "message — 0001", ENTRY, usetype="tau:message"),
            Doc(its, "message — 0001", OTHER, usetype="tau:message"),
            *(
                Doc(note, name, f"A lamp: {name}.")
                for note, name in zip(notes, ("same", "changed", "deleted", "hidden"), strict=True)
            ),
        )
        story.read(self.same, "same", "A lamp: same.")
        above = own
        for seq, record in enumerate(story.records, 2):
            dated = stored(record) | {"timestamp": "2099-01-01T00:00:00.000Z"}
            above = making.entry(above, seq, dated)
        making.request(
            "PATCH", f"/documents/{self.changed}", json={"content": BRASS, "re_embed": False}
        )
        making.request("DELETE", f"/documents/{self.deleted}")
        self.stranger = token_of(making, "stranger")
        friend = principal(making, "friend")
        grant = {"principal_id": friend, "level": "read"}
        making.request("POST", f"/access/documents/{self.hidden}/grants", json=grant)


def principal(making: Making, name: str) -> int:
    number: int = making.request("POST", "/access/principals", json={"name": name})["id"]
    return number


def token_of(making: Making, name: str) -> str:
    path = f"/access/principals/{principal(making, name)}/tokens"
    answer = making.request("POST", path, json={"label": "x"})
    return next(v for k, v in answer.items() if "token" in k and len(str(v)) > 8)


@pytest.fixture
def world(making: Making) -> World:
    return World(making)


def looked_up(store: Store, path: str, memory: JmftsMemory) -> dict[str, Live]:
    """What is known of each document of the first recall, by id."""
    session = load(store, path)
    audit = audit_session(path, session)
    answers = memory.read(server_documents(audit.recalls))
    recall = audit.recalls[0]
    lives = live_of(audit, recall, hits_of(session, audit.recalls)[0], answers)
    return {hit.document: lives[hit.rank] for hit in recall.hits}


def told(lives: Mapping[str, Live]) -> dict[int, tuple[Whose | None, Now]]:
    return {int(document): (live.whose, live.now) for document, live in lives.items()}


def test_whose_and_what_became_of_each(
    world: World, store: JmftsStore, appliance: Appliance
) -> None:
    memory = JmftsMemory(Client(appliance.url, appliance.token))
    lives = looked_up(store, str(world.root), memory)
    assert told(lives) == {
        world.own: (Whose.OWN, Now.SAME),
        world.its: (Whose.OTHER, Now.SAME),
        world.same: (Whose.NOBODY, Now.SAME),
        world.changed: (Whose.NOBODY, Now.CHANGED),
        world.deleted: (None, Now.DELETED),
        world.hidden: (Whose.NOBODY, Now.SAME),
    }
    other = lives[str(world.its)].document
    assert other is not None and (other.session, other.entry) == (str(world.other), str(world.its))


def test_what_a_token_may_not_see_is_not_called_deleted(
    world: World, store: JmftsStore, appliance: Appliance
) -> None:
    memory = JmftsMemory(Client(appliance.url, world.stranger))
    lives = looked_up(store, str(world.root), memory)
    found = told(lives)
    assert found[world.hidden] == found[world.deleted] == (None, Now.UNKNOWN)
    assert found[world.same] == (Whose.NOBODY, Now.SAME)
    assert "not open to this token" in in_words(lives[str(world.hidden)])


def test_a_number_that_the_server_never_came_to_is_not_called_deleted(
    world: World, appliance: Appliance
) -> None:
    memory = JmftsMemory(Client(appliance.url, appliance.token))
    answers = memory.read([str(world.deleted), "99999"])
    assert answers[str(world.deleted)] is None
    assert "is it another one?" in str(answers["99999"])


def test_a_server_that_is_away(world: World, store: JmftsStore) -> None:
    memory = JmftsMemory(Client("http://127.0.0.1:9", "token-of-nobody"))
    lives = looked_up(store, str(world.root), memory)
    assert {live.now for live in lives.values()} == {Now.UNKNOWN}
    assert lives[str(world.own)].whose is Whose.OWN  # which the session tells
    assert len({live.reason for live in lives.values()}) == 1
    assert "connection refused" in lives[str(world.same)].reason


def test_a_document_that_is_younger_than_its_recall(
    making: Making, appliance: Appliance, tmp_path: Path
) -> None:
    """As where a session recalled from another server."""
    note = making.document(title="Other", content="Something else.", usetype="note")
    story = Story()
    story.search("lamp", Doc(note, "Lamp", "A lamp."), Doc(note, "Other", "Something else."))
    for record in story.records:
        record["timestamp"] = "2020-01-01T00:00:00.000Z"
    path = tmp_path / "a.jsonl"
    path.write_bytes(story.log)
    session = load(store_over([str(path)], None), str(path))
    audit = audit_session(str(path), session)
    memory = JmftsMemory(Client(appliance.url, appliance.token))
    answers = memory.read(server_documents(audit.recalls))
    hits = hits_of(session, audit.recalls)[0]
    lives = live_of(audit, audit.recalls[0], hits, answers)
    assert [live.now for live in lives.values()] == [Now.UNKNOWN, Now.SAME]
    assert "another server" in lives[1].reason


def test_what_is_no_number_is_not_asked_for(appliance: Appliance) -> None:
    memory = JmftsMemory(Client(appliance.url, appliance.token))
    assert "is no number" in str(memory.read(["../../capabilities"])["../../capabilities"])


def test_the_command(
    world: World, appliance: Appliance, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    where = ("recalls", str(world.root), "--url", appliance.url)
    records = run(*where, "--live", "--json").json["recalls"][0]["gen_ai.memory.records"]
    found: dict[str, Any] = {record["id"]: record["metadata"]["live"] for record in records}
    assert found[str(world.its)] == {
        "now": "the same",
        "whose": "another session",
        "session": str(world.other),
        "entry": str(world.its),
        "title": "message — 0001",
        "reason": None,
    }
    assert found[str(world.deleted)]["now"] == "deleted since"
    assert "now: foreign, changed since" in run(*where, "--live").out
    plain = run(*where, "--json").json["recalls"][0]["gen_ai.memory.records"]
    assert {record["metadata"]["live"] for record in plain} == {None}
    assert run(*where, "--live", "--format", "md").code == 2
    assert run("recalls", "--live", "--url", appliance.url).code == 2
