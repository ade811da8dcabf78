"""Recalls against a real server: asked again, each method by itself, and where documents stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tau_browser.audit.memory import Now
from tau_browser.audit.recall import Hit, Recall
from tau_browser.audit.replay import Drift, replay
from tau_browser.audit.server import JmftsMemory
from tau_browser.audit.session_audit import audit_session, hits_of
from tau_browser.config import Settings
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.targets import Target
from tau_browser.tui.app import BrowserApp
from tests.audit.sessions import Doc, Story
from tests.cli.conftest import Run
from tests.conftest import read
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.tui.browsing import chosen, lines, press, settle

_COLUMN = 23  # of six on 140 columns
QUERY = "lighthouse lamp"
TEXTS = (
    "The lighthouse lamp is cleaned every Tuesday.",
    "Who cleans the lamp of the lighthouse? The lighthouse keeper, and the lamp is heavy.",
    "The harbour is closed at night.",
)


@pytest.fixture
def memory(appliance: Appliance) -> JmftsMemory:
    return JmftsMemory(Client(appliance.url, appliance.token))


def recalled(making: Making, top: int | None = None, **arguments: Any) -> Story:
    """A session that searched the server just now, and wrote down what it found as τ does."""
    body = {"query": QUERY, "limit": 8} | ({"parent_id": top} if top else {})
    found = making.request("POST", "/search/fulltext", json=body)["results"]
    docs = [
        Doc(
            hit["document"]["id"],
            hit["document"]["title"],
            hit["document"]["content"] or "",
            usetype=hit["document"]["usetype"],
            score=hit["score"],
        )
        for hit in found
    ]
    story = Story()
    story.user("Who cleans it?")
    scope = {"scope": "subtree", "doc_id": top} if top else {"scope": "all"}
    story.search(QUERY, *docs, method="fulltext", **scope, **arguments)
    details = story.records[-1]["message"]["details"]
    details |= {"scope": scope["scope"], "parent_id": top}
    for record in story.records:
        record["timestamp"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return story


def first(story: Story) -> tuple[Recall, Sequence[Hit]]:
    session = read(story.log)
    audit = audit_session("x", session)
    return audit.recalls[0], hits_of(session, audit.recalls)[0]


def test_asked_at_once_it_is_a_match(making: Making, memory: JmftsMemory) -> None:
    root, *_ = making.chain(*TEXTS)
    note = making.document(title="Lamp", content="A lighthouse lamp.", usetype="note")
    found = replay(*first(recalled(making)), memory)
    assert found.verdict is Drift.MATCH
    assert {now for now, _ in found.documents.values()} == {Now.SAME}
    own = {document.id: document for _, document in found.documents.values() if document}
    assert own[str(note)].session == ""  # nobody's entry
    entries = [document for document in own.values() if document.session]
    assert {document.session for document in entries} == {str(root)}
    assert all(document.entry == document.id for document in entries)
    problems = {each.method: each.problem for each in found.methods}
    assert next(iter(problems)) == "fulltext"
    assert problems["vector"]  # this server has no model: said, and no reason to stop


def test_within_a_subtree(making: Making, memory: JmftsMemory) -> None:
    root, *_ = making.chain(*TEXTS)
    making.document(title="Lamp", content="A lighthouse lamp.", usetype="note")
    recall, hits = first(recalled(making, root))
    assert recall.document == str(root)
    assert len(hits) == 2
    assert replay(recall, hits, memory).verdict is Drift.MATCH


def test_a_document_that_changed_and_one_that_is_gone(making: Making, memory: JmftsMemory) -> None:
    one = making.document(title="One", content="A lighthouse lamp of glass.", usetype="note")
    two = making.document(title="Two", content="The lighthouse lamp is old.", usetype="note")
    recall, hits = first(recalled(making))
    making.document(title="Three", content="A harbour.", usetype="note")
    brass = {"content": "A lighthouse lamp of brass.", "re_embed": False}
    making.request("PATCH", f"/documents/{one}", json=brass)
    making.request("DELETE", f"/documents/{two}")
    found = replay(recall, hits, memory)
    assert found.verdict is Drift.CANNOT_TELL
    assert {document: now for document, (now, _) in found.documents.items()} == {
        str(one): Now.CHANGED,
        str(two): Now.DELETED,
    }


def test_what_was_written_since_is_counted(making: Making, memory: JmftsMemory) -> None:
    making.document(title="One", content="A lighthouse lamp.", usetype="note")
    assert memory.written_since("2020-01-01T00:00:00.000Z") == 1
    assert memory.written_since("2099-01-01T00:00:00.000Z") == 0


def test_a_server_that_is_away() -> None:
    story = Story()
    story.search(QUERY, Doc(1, "One", "A lamp."))
    found = replay(*first(story), JmftsMemory(Client("http://127.0.0.1:9", "token-of-nobody")))
    assert found.verdict is Drift.CANNOT_TELL
    assert "token-of-nobody" not in found.reasons[0]


def test_the_command_asks_again(
    making: Making, appliance: Appliance, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    making.chain(*TEXTS)
    path = tmp_path / "a.jsonl"
    path.write_bytes(recalled(making).log)
    assert run("recalls", path, "--replay").code == 2  # no server is named
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    found = run("recalls", path, "--replay", "--json").json["recalls"][0]["replay"]
    assert found["verdict"] == "MATCH"
    assert found["methods"][0]["method"] == "fulltext"
    assert {place["change"] for place in found["methods"][0]["now"]} == {"kept"}
    shown = run("recalls", path, "--replay").out
    assert "now: MATCH" in shown
    assert appliance.token not in shown


async def test_on_screen_then_and_now(making: Making, appliance: Appliance, tmp_path: Path) -> None:
    root, *numbers = making.chain(*TEXTS)
    story = recalled(making, root)
    first_hit = int(hits_of_story(story)[0].document)
    call, answer = story.records[1:]
    ask = making.entry(numbers[-1], len(numbers) + 1, stored(call))
    making.entry(ask, len(numbers) + 2, stored(answer))
    store = JmftsStore(appliance.url, appliance.token, tmp_path / "cache")
    app = BrowserApp(Target(store, str(root)), Settings(Path("config.toml")), {})
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "a", "R")
        shown = lines(app)
        # its own result is a document by now, and is found as well
        assert shown[1].strip() == f"CANNOT TELL · doc {ask + 1} was written since"
        assert shown[2].split()[:5] == ["then,", "as", "recorded", "fulltext", "now"]
        assert f" 1 doc {first_hit}" in shown[3][:_COLUMN]
        assert f" 1 doc {ask + 1} new" in shown[3][_COLUMN:]
        await press(pilot, "j", "enter")
        assert chosen(app) == str(first_hit)
    store.close()


def hits_of_story(story: Story) -> Sequence[Hit]:
    return first(story)[1]


def stored(record: dict[str, Any]) -> dict[str, Any]:
    """A record as τ puts it on a server: without its links."""
    return {name: value for name, value in record.items() if name not in ("id", "parentId")}
