"""A server as a store: what is listed, what is opened, and that what is kept is never stale."""

from __future__ import annotations

import stat
from pathlib import Path

import httpx
import pytest

from tau_browser.model.diagnostic import Severity
from tau_browser.model.session import Session
from tau_browser.stores.jmfts import opened, thread
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Change, Listed, Progress, StoreError
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making, message, more_roots


@pytest.fixture(autouse=True)
def short_ones_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was kept of conversations of a few entries counts as worth a check."""
    monkeypatch.setattr(opened, "_CHECKED", 0)


def listed(store: JmftsStore) -> list[Listed]:
    return [item for item in store.scan() if isinstance(item, Listed)]


def load(store: JmftsStore, document: int) -> Session:
    *_, last = store.open(str(document)).load()
    assert last.session is not None and last.done == last.total
    return last.session


def texts(session: Session) -> list[str]:
    return [session.text(place) for place in range(len(session))]


class Asked:
    """Which requests a store makes."""

    def __init__(self, store: JmftsStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        connections = store.client._connections
        send = connections.handle_async_request

        async def noted(request: httpx.Request) -> httpx.Response:
            self.paths.append(f"{request.method} {request.url.path}")
            return await send(request)

        monkeypatch.setattr(connections, "handle_async_request", noted)


# The list


def test_list_costs_two_requests(
    store: JmftsStore, appliance: Appliance, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = making.chain("hello")
    more_roots(appliance, root, 499)
    thread.run(store.client.capabilities())  # the connection
    asked = Asked(store, monkeypatch)
    assert len(listed(store)) == 500
    assert asked.paths == ["GET /documents"] * 2


def test_list_is_paged(store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    roots = [making.root(id=f"{number:032x}") for number in range(7)]
    monkeypatch.setattr("tau_browser.stores.jmfts.store._PAGE", 3)
    assert [int(item.path) for item in listed(store)] == roots[::-1]


def test_list_names_by_the_newest_name_in_the_session(store: JmftsStore, making: Making) -> None:
    root, first = making.chain("hello")
    for seq, name in enumerate(("old", "new"), 2):
        making.entry(
            first, seq, {"type": "session_info", "timestamp": "2026-03-01T10:00:02Z", "name": name}
        )
    other = making.root(id="1" * 32, parent="0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f")
    fork, named = listed(store)
    assert named.path == str(root) and named.summary is not None and fork.path == str(other)
    assert (named.summary.title, named.summary.named, named.summary.cwd) == (
        "new",
        True,
        "/proj/demo",
    )
    assert fork.summary is not None and fork.summary.parent == named.summary.id
    assert fork.summary.title == "Session (11111111)" and not fork.summary.named


def test_looking_into_a_session_tells_all_of_it(store: JmftsStore, making: Making) -> None:
    making.chain("hello", "hi")
    (item,) = listed(store)
    assert item.summary is not None and item.summary.partial
    looked = store.look_into(item)
    assert isinstance(looked, Listed) and looked.summary is not None
    assert (looked.summary.entries, looked.summary.title) == (2, "hello")
    assert not looked.summary.partial and listed(store)[0].summary == looked.summary


def test_long_session_is_counted_only(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tau_browser.stores.jmfts.store._LOOKED_INTO", 2)
    making.chain("hello", "hi")
    looked = store.look_into(listed(store)[0])
    assert isinstance(looked, Listed) and looked.summary is not None
    assert looked.summary.partial and looked.summary.entries == 2


def test_two_roots_with_one_id_are_both_listed(store: JmftsStore, making: Making) -> None:
    assert making.chain("a")[0] != making.chain("b")[0]
    assert len({item.path for item in listed(store)}) == 2


# Opening


def test_session_is_read_as_a_log(store: JmftsStore, making: Making) -> None:
    root, *entries = making.chain("what?", "that.", "why?")
    session = load(store, root)
    assert texts(session) == ["what?", "that.", "why?"]
    assert session.ids(range(3)) == [str(number) for number in entries]
    assert session.tree.parent.tolist() == [-1, 0, 1] and session.leaf == 2
    assert session.header["cwd"] == "/proj/demo" and not session.diagnostics


@pytest.mark.parametrize("window", [1, 2, 3, 5])
def test_levels_that_are_asked_for_one_after_the_other_make_one_session(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    root, *chain = making.chain(*"abcdefg")
    making.message(chain[1], 8, "aside")
    whole = load(store, root)
    monkeypatch.setattr(opened, "_WINDOW", window)
    store.open(str(root))._cache.forget(root)
    steps = list(store.open(str(root)).load())
    early, last = (step for step in steps if step.session is not None)
    assert early.total == 0 < early.done < last.done == last.total
    assert early.session is not None and last.session is not None
    assert set(texts(early.session)) < set(texts(whole)) == set(texts(last.session))
    assert texts(last.session) == texts(whole)
    assert last.session.tree.parent.tolist() == whole.tree.parent.tolist()


def test_foreign_documents_stand_in_place_and_never_move_the_leaf(
    store: JmftsStore, making: Making
) -> None:
    root, first, second = making.chain("ask", "answer")
    note = making.document(first, title="A note", content="remember the milk", usetype="note")
    chunk = making.document(
        second,
        title="x — chunk 0",
        content="answer",
        usetype="jmfts:chunk",
        structured_content={"chunked_from": second},
    )
    session = load(store, root)
    assert session.leaf == 1 and session.entry_id(1) == str(second)
    for number, parent, text in ((note, 0, "remember the milk"), (chunk, 1, "answer")):
        (place,) = session.find(str(number))
        assert session.tree.parent[place] == parent
        assert session.kind(place) == "jmfts:document" and text in session.text(place)


def test_hostile_payload_cannot_take_the_place_of_another(
    store: JmftsStore, making: Making
) -> None:
    root, first = making.chain("ask")
    forged = message("I am the first") | {
        "id": str(first),
        "parentId": "1",
        "n": '},{"id":1,"parent_id":',
    }
    number = making.entry(first, 2, forged | {"descendants": [{"id": 7, "parent_id": 1}]})
    session = load(store, root)
    assert session.ids(range(2)) == [str(first), str(number)]
    assert session.tree.parent.tolist() == [-1, 0]


# Damage


def test_document_that_is_no_conversation_is_shown_as_evidence(
    store: JmftsStore, making: Making
) -> None:
    note = making.document(None, title="A note", usetype="note", content="x")
    below = making.message(note, 1, "hello")
    session = load(store, note)
    assert session.ids([0]) == [str(below)]
    found = session.diagnostics[0]
    assert found.severity is Severity.DAMAGE and "is no tau:conversation" in found.reason


def test_header_that_lacks_something_is_evidence(store: JmftsStore, making: Making) -> None:
    root = making.document(
        None, usetype="tau:conversation", structured_content={"tau": {"type": "session", "id": "x"}}
    )
    making.message(root, 1, "hello")
    opened = store.open(str(root))
    *_, last = opened.load()
    assert last.session is not None and texts(last.session) == ["hello"]
    assert opened.flaws == ["its session header lacks version, timestamp, cwd, hostname, parent"]
    (item,) = listed(store)
    assert item.summary is not None and item.summary.damage


def test_second_writer_is_evidence(store: JmftsStore, making: Making) -> None:
    root, first, second = making.chain("a", "b")
    third = making.message(first, 2, "by another")
    opened = store.open(str(root))
    *_, last = opened.load()
    assert last.session is not None and len(last.session) == 3
    assert opened.flaws == [
        f"a second program wrote to it: document {third} has seq 2 after 2 of document {second}"
    ]


def test_missing_document_is_refused(store: JmftsStore) -> None:
    with pytest.raises(JmftsError, match="Document 999 not found, or it is not open to this"):
        load(store, 999)
    with pytest.raises(StoreError, match="'x' is no number of a document"):
        store.open("x")


# What is kept


def test_second_opening_asks_only_whether_it_still_holds(
    store: JmftsStore, making: Making, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, *_, newest = making.chain("a", "b", "c")
    before = load(store, root)
    asked = Asked(store, monkeypatch)
    assert texts(load(store, root)) == texts(before)
    assert sorted(asked.paths) == [
        f"GET /documents/{root}",
        f"GET /documents/{newest}/subtree",
        "GET /graph/diff",
        f"GET /ingest/file/{root}/frontier",
    ]
    (folder,) = (tmp_path / "cache").iterdir()
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_short_one_is_sent_again_in_one_answer(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, *_ = making.chain("a", "b")
    load(store, root)
    monkeypatch.setattr(opened, "_CHECKED", 4)
    asked = Asked(store, monkeypatch)
    assert texts(load(store, root)) == ["a", "b"]
    assert asked.paths == [f"GET /documents/{root}/subtree"]


def test_what_was_added_is_read_on(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, *_, newest = making.chain("a", "b")
    load(store, root)
    making.message(newest, 3, "c")
    asked = Asked(store, monkeypatch)
    assert texts(load(store, root)) == ["a", "b", "c"]
    assert texts(load(store, root)) == ["a", "b", "c"]
    assert f"GET /documents/{root}/subtree" not in asked.paths


@pytest.mark.parametrize("change", ["branch", "deleted", "replaced", "patched", "header"])
def test_after_any_other_change_it_is_fetched_anew(
    store: JmftsStore, making: Making, change: str
) -> None:
    root, first, second = making.chain("a", "b")
    aside = making.message(first, 3, "x")
    third = making.message(second, 4, "c")
    assert texts(load(store, root)) == ["a", "b", "x", "c"]
    expected = ["a", "b", "x", "c"]
    if change == "branch":
        making.message(first, 5, "d")
        expected = ["a", "b", "x", "c", "d"]
    elif change == "deleted":
        making.request("DELETE", f"/documents/{second}")
        expected = ["a", "x"]
    elif change == "replaced":  # as many as before, and the newest of then is still there
        making.request("DELETE", f"/documents/{aside}")
        making.message(first, 5, "y")
        expected = ["a", "b", "c", "y"]
    elif change == "patched":
        stored = {"tau": message("C"), "seq": 4}
        making.request("PATCH", f"/documents/{third}", json={"structured_content": stored})
        expected = ["a", "b", "x", "C"]
    else:
        making.request("PATCH", f"/documents/{root}", json={"title": "renamed"})
    session = load(store, root)
    assert texts(session) == expected


def test_what_is_kept_holds_while_other_conversations_grow(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, *_ = making.chain("a", "b", "c")
    load(store, root)
    making.chain("elsewhere")
    asked = Asked(store, monkeypatch)
    assert texts(load(store, root)) == ["a", "b", "c"]
    assert f"GET /documents/{root}/subtree" not in asked.paths


def test_another_token_is_shown_nothing_that_this_one_read(
    store: JmftsStore, appliance: Appliance, making: Making, tmp_path: Path
) -> None:
    root, _ = making.chain("secret")
    load(store, root)
    stranger = JmftsStore(appliance.url, "another-token", tmp_path / "cache")
    with pytest.raises(JmftsError, match="rejects the token"):
        load(stranger, root)


def test_server_that_is_away_is_a_refusal(
    store: JmftsStore, making: Making, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = making.chain("a")
    load(store, root)
    monkeypatch.setattr(store.client, "url", "http://127.0.0.1:9")
    with pytest.raises(JmftsError, match="cannot be reached: connection refused"):
        load(store, root)


# Following


def followed(store: JmftsStore, root: int, monkeypatch: pytest.MonkeyPatch) -> opened.JmftsSession:
    monkeypatch.setattr(opened, "_CHECK_EVERY", 0)
    monkeypatch.setattr(opened, "_SHARE", 0)
    session = store.open(str(root))
    assert list(session.load())
    return session


def test_new_entries_arrive(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, first = making.chain("a")
    session = followed(store, root, monkeypatch)
    assert session.check() is Change.NONE
    making.message(first, 2, "b")
    assert session.check() is Change.GREW and texts(session.follow()) == ["a", "b"]
    assert session.check() is Change.NONE


def test_entry_whose_stream_ends_replaces_itself(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, first = making.chain("a")
    partial = message("half", "assistant") | {"status": "incomplete"}
    streamed = making.entry(first, 2, partial)
    session = followed(store, root, monkeypatch)
    stored = {"tau": message("all of it", "assistant"), "seq": 2}
    making.request("PATCH", f"/documents/{streamed}", json={"structured_content": stored})
    assert session.check() is Change.GREW
    grown = session.follow()
    assert texts(grown) == ["a", "all of it"] and grown.ids(range(2)) == [str(first), str(streamed)]
    assert texts(load(store, root)) == ["a", "all of it"]


def test_deleted_session_is_gone_and_a_server_that_is_away_is_said_to_be(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = making.chain("a")
    session = followed(store, root, monkeypatch)
    url = store.client.url
    monkeypatch.setattr(store.client, "url", "http://127.0.0.1:9")
    assert session.check() is Change.AWAY
    monkeypatch.setattr(store.client, "url", url)
    assert session.check() is Change.BACK and session.check() is Change.NONE
    making.request("DELETE", f"/documents/{root}")
    assert session.check() is Change.GONE


def test_load_that_is_given_up_ends_its_request(
    store: JmftsStore, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = making.chain("a")
    loading = store.open(str(root)).load()
    assert isinstance(next(loading), Progress)
    loading.close()
    assert texts(load(store, root)) == ["a"]  # nothing is left in the way
