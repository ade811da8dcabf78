"""Changes that end in the middle: stopped, killed, or with the server gone. What stands in the
journal then takes back all that was done, or says that nothing was."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tau_browser.actions import reading as readings
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.progress import Progress, Stopped
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.reading import read_file
from tau_browser.actions.server_import import plan_import
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.model.session import Session
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import StoreError
from tests.cli.conftest import PROGRAM, Run, environment
from tests.conftest import DATA
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.jmfts.proxy import Proxy, whole

CHANGING = ("POST /documents", "PATCH ", "DELETE ")


@pytest.fixture
def server(proxy: Proxy, appliance: Appliance, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    """The server as the command finds it, behind the proxy."""
    monkeypatch.setenv("JMFTS_API_URL", proxy.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    monkeypatch.setattr(readings, "_STILL", 0)
    return proxy


def state(appliance: Appliance) -> str:
    """All that the server stores."""
    return appliance.sql(
        "SELECT id, parent_id, usetype, title, content, structured_content FROM documents"
        " ORDER BY id"
    )


def said(session: Session) -> list[tuple[str, str | None]]:
    """What each entry says and what the one above it does, whatever their numbers are."""
    parents = session.tree.parent
    words = [
        session.text(at) if session.kind(at) == "message" else session.kind(at)
        for at in range(len(session))
    ]
    told = [
        (words[at], words[int(parents[at])] if parents[at] >= 0 else None)
        for at in range(len(session))
    ]
    return sorted(told, key=str)


def session_at(store: JmftsStore, root: int) -> Session:
    *_, last = store.open(str(root)).load()
    assert last.session is not None
    return last.session


def stopping_at(step: int) -> Callable[[Progress], None]:
    """A person who stops a change at some step."""
    left = step

    def tell(progress: Progress) -> None:
        nonlocal left
        left -= 1
        if left < 0 and not progress.final:
            raise Stopped

    return tell


# Stopped


@pytest.mark.parametrize("step", range(5))
def test_stopped_fork_leaves_nothing(
    appliance: Appliance, writer: ServerWriter, journal: Journal, making: Making, step: int
) -> None:
    root, *_ = making.chain(*"abcd")
    before = state(appliance)
    plan = plan_fork(writer.read(str(root), journal), ForkRequest(force=True), writer)
    with pytest.raises(Stopped):
        writer.apply(plan, journal, stopping_at(step))
    assert state(appliance) == before
    assert all(writer.obstacle(change, journal) for change in journal.changes())


def test_stopped_import_leaves_nothing(
    appliance: Appliance, writer: ServerWriter, journal: Journal
) -> None:
    plan = plan_import(read_file(str(DATA / "tau" / "02-forked-tree.jsonl")), writer)
    told: list[Progress] = []

    def tell(progress: Progress) -> None:
        told.append(progress)
        if progress.done == 3:
            raise Stopped

    with pytest.raises(Stopped):
        writer.apply(plan, journal, tell)
    assert state(appliance) == ""
    assert plan.result is not None
    assert {at.total for at in told} == {len(plan.result)} and told[-1].done == 3


@pytest.mark.parametrize("step", [0, 1])
def test_prune_in_place_is_stopped_before_it_deletes_and_never_after(
    appliance: Appliance,
    writer: ServerWriter,
    journal: Journal,
    making: Making,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
) -> None:
    monkeypatch.setattr(readings, "_STILL", 0)
    root, *_ = making.chain(*"abc")
    before = state(appliance)
    request = PruneRequest((1,), How.IN_PLACE)
    plan = plan_prune(writer.read(str(root), journal), request, writer)
    assert any("Esc stops it only before" in remark for remark in plan.remarks)
    if step == 0:
        with pytest.raises(Stopped):
            writer.apply(plan, journal, stopping_at(step))
        assert state(appliance) == before and journal.changes() == []
    else:
        writer.apply(plan, journal, stopping_at(step))
        assert len(session_at(writer._store, root)) == 1


@pytest.mark.parametrize("step", range(3))
def test_stopped_undo_of_a_pruning_leaves_it_pruned_and_can_be_asked_again(
    store: JmftsStore,
    appliance: Appliance,
    writer: ServerWriter,
    journal: Journal,
    making: Making,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
) -> None:
    monkeypatch.setattr(readings, "_STILL", 0)
    root, *_ = making.chain(*"abcd")
    whole_one = said(session_at(store, root))
    plan = plan_prune(writer.read(str(root), journal), PruneRequest((1,), How.IN_PLACE), writer)
    change = writer.apply(plan, journal)
    pruned = state(appliance)
    with pytest.raises(Stopped):
        writer.undo(change, journal, stopping_at(step))
    assert state(appliance) == pruned
    writer.undo(change, journal)
    assert said(session_at(store, root)) == whole_one and store.unfinished() == []


# Killed: each time once the server has done what it was asked, and before it could say so


def killed_at(
    proxy: Proxy,
    nth: int,
    home: Path,
    appliance: Appliance,
    *words: str,
    how: signal.Signals = signal.SIGKILL,
) -> tuple[int, str]:
    """Run the command and, once the server has answered its nth request that changes something,
    kill it: how it then ends, and what it said of it."""
    first = len(proxy.asked)

    def kill(number: int, client: socket.socket, answer: bytes) -> bool:
        changing = [each for each in proxy.asked[first:] if each.startswith(CHANGING)]
        if len(changing) == nth and proxy.asked[number].startswith(CHANGING):
            os.kill(process.pid, how)
        return whole(number, client, answer)

    proxy.spoil = kill
    there = {"JMFTS_API_URL": proxy.url, "JMFTS_API_TOKEN": appliance.token}
    process = subprocess.Popen(
        [*PROGRAM, *words, "--store", "jmfts"],
        env=environment(home) | there,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _, err = process.communicate(timeout=60)
    proxy.spoil = whole
    return process.returncode, err.decode()


def long_ago(appliance: Appliance) -> None:
    """Nobody writes: what was made was made long before."""
    appliance.sql(
        "ALTER TABLE documents DISABLE TRIGGER trigger_documents_updated_at;"
        "UPDATE documents SET updated_at = now() - interval '1 hour';"
        "ALTER TABLE documents ENABLE TRIGGER trigger_documents_updated_at;"
    )


@pytest.mark.parametrize(
    ("nth", "words"),
    [
        (1, ("rename", "{root}", "a name")),
        (2, ("rename", "{root}", "a name")),
        (1, ("prune", "{root}", "{second}", "--fold")),
        (1, ("fork", "{root}")),
        (3, ("fork", "{root}")),
        (5, ("fork", "{root}")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else str(value),
)
def test_killed_change_is_taken_back(
    run: Run,
    home: Path,
    server: Proxy,
    appliance: Appliance,
    making: Making,
    nth: int,
    words: tuple[str, ...],
) -> None:
    root, _, second, _ = making.chain(*"abc")
    long_ago(appliance)
    before = state(appliance)
    named = [word.format(root=root, second=second) for word in words]
    code, said = killed_at(server, nth, home, appliance, *named)
    assert code == -signal.SIGKILL, said
    assert state(appliance) != before
    undone = run("undo", "--store", "jmfts")
    assert undone.code == 0, undone.err
    assert state(appliance) == before
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back


def test_ctrl_c_stops_as_esc_does(
    home: Path, server: Proxy, appliance: Appliance, making: Making
) -> None:
    root, *_ = making.chain(*map(str, range(60)))  # far more than what is under way by then
    long_ago(appliance)
    before = state(appliance)
    words = ("fork", str(root))
    code, said = killed_at(server, 3, home, appliance, *words, how=signal.SIGINT)
    assert (code, said) == (130, "tau-browse: stopped: nothing of it is left\n")
    assert state(appliance) == before


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_killed_pruning_in_place_is_taken_back(
    run: Run,
    home: Path,
    server: Proxy,
    store: JmftsStore,
    appliance: Appliance,
    making: Making,
    nth: int,
) -> None:
    root, first, second, third = making.chain(*"abc")
    other = making.message(first, 4, "d")
    mark = {
        "type": "customEntry",
        "timestamp": "2026-03-01T10:00:09.000Z",
        "customType": "bookmark",
        "data": {"entry_id": str(third), "label": "x"},
    }
    making.entry(first, 5, mark)
    long_ago(appliance)
    before = said(session_at(store, root))
    words = ("prune", str(root), str(second), str(other), "--in-place", "--confirm", "3")
    code, said_then = killed_at(server, nth, home, appliance, *words)
    assert code == -signal.SIGKILL, said_then
    undone = run("undo", "--store", "jmfts")
    assert undone.code == 0, undone.err
    back = session_at(store, root)
    assert said(back) == before
    (c,) = [at for at in range(len(back)) if back.text(at) == "c"]
    marks = [back.record(at) for at in range(len(back)) if back.kind(at) == "customEntry"]
    assert [each["data"]["entry_id"] for each in marks] == [back.entry_id(c)]
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back


def test_killed_undo_of_a_pruning_leaves_it_pruned_and_doctor_names_what_is_left(
    run: Run,
    home: Path,
    server: Proxy,
    store: JmftsStore,
    appliance: Appliance,
    making: Making,
) -> None:
    root, _, second, _ = making.chain(*"abc")
    long_ago(appliance)
    before = said(session_at(store, root))
    words = ("prune", str(root), str(second), "--in-place", "--confirm", "2", "--json")
    change = run(*words, "--store", "jmfts").json["change"]
    pruned = said(session_at(store, root))
    code, said_then = killed_at(server, 2, home, appliance, "undo")
    assert code == -signal.SIGKILL, said_then
    assert said(session_at(store, root)) == pruned
    (left,) = store.unfinished()
    (problem,) = run("doctor", "--store", "jmfts", "--json").json["problems"]
    assert f"document {left.document}: cut off" in problem
    assert f"`tau-browse undo {left.change}` removes it" in problem
    assert run("undo", left.change, "--store", "jmfts").code == 0 and store.unfinished() == []
    assert run("undo", change, "--store", "jmfts").code == 0
    assert said(session_at(store, root)) == before


@pytest.mark.parametrize("nth", [3, 4, 5, 6, 7, 8])
def test_killed_undo_of_a_pruning_goes_on_where_it_stopped(
    run: Run,
    home: Path,
    server: Proxy,
    store: JmftsStore,
    appliance: Appliance,
    making: Making,
    nth: int,
) -> None:
    root, first, second, third = making.chain(*"abc")
    other = making.message(first, 4, "d")
    mark = {
        "type": "customEntry",
        "timestamp": "2026-03-01T10:00:09.000Z",
        "customType": "bookmark",
        "data": {"entry_id": str(third), "label": "x"},
    }
    making.entry(first, 5, mark)
    long_ago(appliance)
    before = said(session_at(store, root))
    words = ("prune", str(root), str(second), str(other), "--in-place", "--confirm", "3", "--json")
    change = run(*words, "--store", "jmfts").json["change"]
    # a root of its own, three entries, two moves, the bookmark, and that root goes
    code, said_then = killed_at(server, nth, home, appliance, "undo")
    assert code == -signal.SIGKILL, said_then
    if nth == 8:  # nothing was left to be done
        assert store.unfinished() == []
    else:
        (left,) = store.unfinished()
        (problem,) = run("doctor", "--store", "jmfts", "--json").json["problems"]
        is_whole = nth > 4
        assert (f"`tau-browse undo {change}` moves what is left" in problem) == is_whole
        assert (f"`tau-browse undo {left.change}` removes it" in problem) != is_whole
        if is_whole:  # what it would remove is nowhere else
            refused = run("undo", left.change, "--store", "jmfts")
            assert refused.code == 2 and f"`tau-browse undo {change}` goes on" in refused.err
        undone = run("undo", "--store", "jmfts")
        assert undone.code == 0, undone.err
    back = session_at(store, root)
    assert said(back) == before and store.unfinished() == []
    (c,) = [at for at in range(len(back)) if back.text(at) == "c"]
    marks = [back.record(at) for at in range(len(back)) if back.kind(at) == "customEntry"]
    assert [each["data"]["entry_id"] for each in marks] == [back.entry_id(c)]
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back


@pytest.mark.parametrize(
    ("corpus", "nth"),
    [("new", 1), ("new", 4), ("new", 11), ("there", 1), ("there", 4), ("there", 9)],
)
def test_killed_promotion_is_taken_back(
    run: Run, home: Path, server: Proxy, appliance: Appliance, making: Making, corpus: str, nth: int
) -> None:
    if corpus == "there":
        other = making.document(title="lessons", usetype="tau-browse:corpus")
        making.document(other, title="kept before", usetype="tau-browse:promoted", content="x")
    before = state(appliance)
    log = str(DATA / "tau" / "02-forked-tree.jsonl")
    words = ("promote", log, "--into", "lessons", "--kind", "user")
    code, said = killed_at(server, nth, home, appliance, *words)
    assert code == -signal.SIGKILL, said
    assert state(appliance) != before
    undone = run("undo", "--store", "jmfts")
    assert undone.code == 0, undone.err
    assert state(appliance) == before
    assert run("undo", "--store", "jmfts").code == 2  # there is nothing more to take back


# The server is gone


@pytest.mark.parametrize("verb", ["fork", "import"])
def test_server_that_goes_away_midway_leaves_what_doctor_names(
    run: Run,
    server: Proxy,
    store: JmftsStore,
    appliance: Appliance,
    making: Making,
    verb: str,
) -> None:
    root, *_ = making.chain(*"abcdef")
    before = state(appliance)
    path = str(DATA / "tau" / "02-forked-tree.jsonl")

    def gone(number: int, client: socket.socket, answer: bytes) -> bool:
        if len([each for each in server.asked if each.startswith(CHANGING)]) == 4:
            server.gone_after = 0
        return whole(number, client, answer)

    server.spoil = gone
    failed = run(verb, "--store", "jmfts", str(root) if verb == "fork" else path)
    assert failed.code == 2 and "cannot be reached" in failed.err
    assert "is left on the server: `tau-browse undo" in failed.err
    server.spoil, server.gone_after = whole, None
    assert len(list(store.scan())) == 1
    (left,) = store.unfinished()
    (problem,) = run("doctor", "--store", "jmfts", "--json").json["problems"]
    assert f"`tau-browse undo {left.change}` removes it" in problem
    assert run("undo", "--store", "jmfts").code == 0
    assert state(appliance) == before


def test_answer_that_never_came_is_no_reason_to_leave_anything(
    server: Proxy, appliance: Appliance, making: Making, journal: Journal, tmp_path: Path
) -> None:
    root, *_ = making.chain(*"abc")
    before = state(appliance)
    far = JmftsStore(server.url, appliance.token, tmp_path / "far")
    writer = ServerWriter(far)
    plan = plan_fork(writer.read(str(root), journal), ForkRequest(), writer)

    def unanswered(number: int, client: socket.socket, answer: bytes) -> bool:
        return not server.asked[number].startswith("POST /documents") and whole(
            number, client, answer
        )

    server.spoil = unanswered  # the first to be created is the root, whose number we never learn
    with pytest.raises(StoreError, match="the connection broke"):
        writer.apply(plan, journal)
    assert state(appliance) == before
    far.close()
