"""Changes on a server that are stopped, or whose server goes away: nothing of them is left, or what
is left is told."""

from __future__ import annotations

import signal
import socket
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
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import StoreError
from tests.cli.conftest import Run
from tests.conftest import DATA
from tests.jmfts.appliance import Appliance
from tests.jmfts.interrupting import CHANGING, killed_at, long_ago, said, session_at, state
from tests.jmfts.making import Making
from tests.jmfts.proxy import Proxy, whole


def stopping_at(step: int) -> Callable[[Progress], None]:
    """A person who stops a change at some step."""
    left = step

    def tell(progress: Progress) -> None:
        nonlocal left
        left -= 1
        if left < 0 and not progress.final:
            raise Stopped

    return tell


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
