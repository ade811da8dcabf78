"""What we make on a server: τ opens it and finds the same, nothing is lost, nothing is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tau_browser.actions import reading as readings
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.reading import read_file
from tau_browser.actions.rename import plan_rename
from tau_browser.actions.server_import import plan_import
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.model.session import Session
from tau_browser.stores.jmfts.errors import JmftsError
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.jmfts.storing import UNFINISHED
from tau_browser.stores.store import StoreError
from tests.cli.conftest import Run
from tests.conftest import DATA
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making, message
from tests.jmfts.tau import ask
from tests.jmfts.telling import named_by_place

TAU_FILES = sorted((DATA / "tau").glob("*.jsonl"))
# 16 holds what no server can store; 17 and 18 only take long.
FILES = [path for path in TAU_FILES if path.name[:2] not in ("16", "17", "18", "33")]


@pytest.fixture(autouse=True)
def nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests have just written counts as written long ago."""
    monkeypatch.setattr(readings, "_STILL", 0)


def bring(path: Path, writer: ServerWriter, journal: Journal) -> int:
    """Import a file; returns the root's document."""
    return int(writer.apply(plan_import(read_file(str(path)), writer), journal).path)


def session_at(store: JmftsStore, root: int) -> Session:
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    return last.session


def documents(appliance: Appliance) -> int:
    return int(appliance.sql("SELECT count(*) FROM documents").strip())


# Import


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_import_loses_nothing_and_tau_finds_the_same(
    store: JmftsStore, appliance: Appliance, writer: ServerWriter, journal: Journal, path: Path
) -> None:
    plan = plan_import(read_file(str(path)), writer)
    if plan.refusals:
        pytest.fail("; ".join(refusal.reason for refusal in plan.refusals))
    root = int(writer.apply(plan, journal).path)
    source, made = read_file(str(path)).session, session_at(store, root)
    assert named_by_place(made) == named_by_place(source)
    assert {k: v for k, v in made.header.items() if k != "hostname"} == {
        k: v for k, v in source.header.items() if k != "hostname"
    }
    here, there = ask(appliance, "file", path), ask(appliance, "server", root)
    for same in ("id", "context", "messages"):
        assert there[same] == here[same]


def test_import_keeps_the_name_for_tau_too(
    appliance: Appliance, writer: ServerWriter, journal: Journal
) -> None:
    bring(DATA / "tau" / "07-labels-custom.jsonl", writer, journal)
    assert ask(appliance, "names") == ["Auth refactor (renamed)"]


def test_import_of_what_is_there_says_so_first(
    store: JmftsStore, writer: ServerWriter, journal: Journal
) -> None:
    path = DATA / "tau" / "03-compaction.jsonl"
    root = bring(path, writer, journal)
    plan = plan_import(read_file(str(path)), writer)
    assert f"a conversation of this id is there already: document {root}" in plan.remarks[0]
    assert bring(path, writer, journal) != root
    assert len(list(store.scan())) == 2


def test_what_a_server_cannot_store_is_refused_before_anything_is_written(
    appliance: Appliance, writer: ServerWriter, journal: Journal
) -> None:
    plan = plan_import(read_file(str(DATA / "tau" / "16-weird-text.jsonl")), writer)
    said = "\n".join(refusal.reason for refusal in plan.refusals)
    for why in ("a number that JSON does not know", "a NUL character", "half a character"):
        assert why in said
    with pytest.raises(Refused):
        writer.apply(plan, journal)
    assert documents(appliance) == 0 and journal.changes() == []


def test_endless_word_does_not_make_the_server_fail(
    store: JmftsStore, writer: ServerWriter, journal: Journal, tmp_path: Path
) -> None:
    source = (DATA / "tau" / "01-linear-tools.jsonl").read_bytes().splitlines()
    blob = "".join(f"{at:x}" for at in range(4000))
    entry = json.dumps({"id": "blob", "parentId": None, **message(blob)}).encode()
    path = tmp_path / "blob.jsonl"
    path.write_bytes(b"\n".join([*source, entry, b""]))
    made = session_at(store, bring(path, writer, journal))
    assert made.text(len(made) - 1) == blob


# Forks


@pytest.mark.parametrize("path", FILES[:12], ids=lambda path: path.stem)
def test_fork_is_equal_for_us_and_for_tau(
    store: JmftsStore, appliance: Appliance, writer: ServerWriter, journal: Journal, path: Path
) -> None:
    root = bring(path, writer, journal)
    plan = plan_fork(writer.read(str(root), journal), ForkRequest(), writer)
    fork = int(writer.apply(plan, journal).path)
    assert named_by_place(session_at(store, fork)) == named_by_place(session_at(store, root))
    before, after = ask(appliance, "server", root), ask(appliance, "server", fork)
    for same in ("context", "messages", "leaf", "context_places"):
        assert after[same] == before[same]
    assert session_at(store, fork).header["parent"] == before["id"]


def test_fork_carries_what_others_put_there_and_leaves_pieces_to_enrich(
    store: JmftsStore, writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, first = making.chain("ask")
    making.document(
        first, title="A note", content="milk", usetype="note", structured_content={"by": "me"}
    )
    making.document(first, title="x — chunk 0", content="ask", usetype="jmfts:chunk")
    fork = int(writer.apply(fork_of(root, writer, journal), journal).path)
    made = session_at(store, fork)
    assert [made.kind(at) for at in range(len(made))] == ["message", "jmfts:document"]
    record = made.record(1)
    assert (record["title"], record["content"], record["usetype"]) == ("A note", "milk", "note")
    assert record["structured_content"] == {"by": "me"} and made.leaf == 0


def fork_of(root: int, writer: ServerWriter, journal: Journal) -> Plan:
    return plan_fork(writer.read(str(root), journal), ForkRequest(), writer)


def test_fork_at_an_entry(
    store: JmftsStore, appliance: Appliance, writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, *_ = making.chain("a", "b", "c")
    reading = writer.read(str(root), journal)
    plan = plan_fork(reading, ForkRequest(at=1, name="half of it"), writer)
    fork = int(writer.apply(plan, journal).path)
    made = session_at(store, fork)
    assert [made.text(at) for at in range(len(made))] == ["a", "b", "half of it"]
    assert ask(appliance, "names") == ["half of it", None]


# All or nothing


class Failing:
    """A server that stops taking documents after some."""

    def __init__(self, store: JmftsStore, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
        create = store.client.create
        self.left = after

        async def fails(document: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise JmftsError("the server failed at POST /documents (500)", 500)
            return await create(document)

        monkeypatch.setattr(store.client, "create", fails)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_what_fails_midway_leaves_nothing(
    store: JmftsStore,
    appliance: Appliance,
    writer: ServerWriter,
    journal: Journal,
    making: Making,
    monkeypatch: pytest.MonkeyPatch,
    after: int,
) -> None:
    root, *_ = making.chain("a", "b", "c")
    before = documents(appliance)
    plan = fork_of(root, writer, journal)
    Failing(store, after, monkeypatch)
    with pytest.raises(StoreError, match="failed"):
        writer.apply(plan, journal)
    assert documents(appliance) == before


def test_what_cannot_be_removed_is_no_conversation_and_undo_removes_it_later(
    store: JmftsStore,
    appliance: Appliance,
    writer: ServerWriter,
    journal: Journal,
    making: Making,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root, *_ = making.chain("a", "b")
    before = documents(appliance)
    plan = fork_of(root, writer, journal)
    with monkeypatch.context() as gone:
        Failing(store, 2, gone)

        async def away(document: int) -> None:
            raise JmftsError("cannot be reached")

        gone.setattr(store.client, "delete", away)
        with pytest.raises(StoreError, match="is left on the server: `tau-browse undo"):
            writer.apply(plan, journal)
    assert len(list(store.scan())) == 1 and documents(appliance) == before + 2
    left = appliance.sql(f"SELECT count(*) FROM documents WHERE usetype = '{UNFINISHED}'")
    assert left.strip() == "1"
    (change,) = journal.changes()
    assert [left.document for left in store.unfinished()] == [int(change.path)]
    writer.undo(change, journal)
    assert documents(appliance) == before


def test_plan_does_not_hold_once_the_conversation_went_on(
    writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, first = making.chain("a")
    plan = fork_of(root, writer, journal)
    making.message(first, 2, "b")
    with pytest.raises(Refused, match="it changed since it was read"):
        writer.apply(plan, journal)


def test_evidence_is_not_written_to(writer: ServerWriter, journal: Journal, making: Making) -> None:
    root, first, _ = making.chain("a", "b")
    making.message(first, 2, "by another")
    for plan in (
        fork_of(root, writer, journal),
        plan_rename(writer.read(str(root), journal), "x", writer),
    ):
        assert any("a second program wrote to it" in each.reason for each in plan.refusals)


# Undo


def undone(writer: ServerWriter, journal: Journal) -> Change:
    change = journal.changes()[-1]
    assert writer.obstacle(change, journal) == ""
    return writer.undo(change, journal)


def test_undo_of_what_was_made_removes_it(
    appliance: Appliance, writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, *_ = making.chain("a", "b")
    before = documents(appliance)
    writer.apply(fork_of(root, writer, journal), journal)
    undone(writer, journal)
    assert documents(appliance) == before
    assert writer.obstacle(journal.changes()[0], journal) == "what it made is gone"


def test_undo_is_refused_once_the_copy_went_on(
    writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, *_ = making.chain("a")
    change = writer.apply(fork_of(root, writer, journal), journal)
    making.message(int(change.path) + 1, 2, "b")
    assert writer.obstacle(change, journal) == "entries came or went since"


def test_rename_is_taus_and_is_taken_back(
    store: JmftsStore, appliance: Appliance, writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, *_ = making.chain("a")
    plan = plan_rename(writer.read(str(root), journal), "a new name", writer)
    writer.apply(plan, journal)
    assert ask(appliance, "names") == ["a new name"]
    assert session_at(store, root).text(1) == "a new name"
    undone(writer, journal)
    assert ask(appliance, "names") == [None] and len(session_at(store, root)) == 1


# Pruning in place


def test_prune_in_place_and_back(
    store: JmftsStore, appliance: Appliance, writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, first, second, third = making.chain("a", "b", "c")
    making.document(third, title="note", content="milk", usetype="note")
    making.message(first, 4, "d")
    mark = making.entry(
        first,
        5,
        {
            "type": "customEntry",
            "timestamp": "2026-03-01T10:00:09.000Z",
            "customType": "bookmark",
            "data": {"entry_id": str(third), "label": "x"},
        },
    )
    whole = session_at(store, root)
    reading = writer.read(str(root), journal)
    (place,) = reading.session.find(str(second))
    request = PruneRequest((place,), How.IN_PLACE)
    writer.apply(plan_prune(reading, request, writer), journal)
    cut = session_at(store, root)
    assert [cut.text(at) for at in range(2)] == ["a", "d"] and len(cut) == 3
    assert cut.record(2)["data"]["entry_id"] is None
    ask(appliance, "server", root)

    undone(writer, journal)
    back = session_at(store, root)
    assert sorted(back.text(at) for at in range(len(back)) if at != 2) == sorted(
        whole.text(at) for at in range(len(whole)) if whole.entry_id(at) != str(mark)
    )
    (c,) = [at for at in range(len(back)) if back.text(at) == "c"]
    assert back.record(2)["data"]["entry_id"] == back.entry_id(c)
    assert back.text(int(back.tree.parent[c])) == "b"
    ask(appliance, "server", root)


def test_deep_down_a_server_says_it_failed_although_it_deleted(
    store: JmftsStore, writer: ServerWriter, journal: Journal, making: Making
) -> None:
    root, *_ = making.chain(*(f"text {at}" for at in range(260)))
    reading = writer.read(str(root), journal)
    request = PruneRequest((258,), How.IN_PLACE)
    writer.apply(plan_prune(reading, request, writer), journal)
    assert len(session_at(store, root)) == 258


# Through the command


def test_the_command_imports_forks_and_takes_back(
    run: Run, home: Path, appliance: Appliance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    path = DATA / "tau" / "02-forked-tree.jsonl"
    made = run("import", "--store", "jmfts", path, "--json").json
    assert made["plan"]["verb"] == "import" and made["plan"]["refusals"] == []
    assert made["resume"].endswith("tau --store jmfts --mode repl --session 1")
    (row,) = run("ls", "--store", "jmfts", "--json").json["sessions"]
    assert (row["path"], row["title"], row["entries"]) == ("1", "three branches", None)
    fork = run("fork", "--store", "jmfts", "1", "--force", "--json").json
    assert fork["change"] and run("undo").code == 0
    assert run("undo", made["change"]).code == 0
    assert run("ls", "--store", "jmfts").code == 1
    token = appliance.token
    assert token not in Path(home / ".local/state/tau-browse/changes/journal.jsonl").read_text()
