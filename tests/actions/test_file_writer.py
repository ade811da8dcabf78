"""What the writer of files does where something is in its way."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tau_browser.actions.file_writer import dashed_name
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.prune import How
from tau_browser.actions.rename import plan_rename
from tau_browser.stores.store import StoreError
from tests.actions.conftest import CopyOf, reading_of, snapshot, writer_of
from tests.actions.test_fork import WITH_CALLS
from tests.actions.test_prune import prune
from tests.conftest import log_of, message

LATE = log_of([message("late", "u3", "from another process")], None)


@pytest.mark.parametrize("how", [How.IN_PLACE, How.FOLD])
def test_whoever_writes_at_the_very_moment_loses_nothing(
    how: How, copy_of: CopyOf, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copy_of(WITH_CALLS)
    plan = prune(path, "u3", how=how)
    rename = os.replace

    def late(source: str, target: str) -> None:
        if target == str(path) and b"late" not in path.read_bytes():
            with path.open("ab") as file:
                file.write(LATE)
        rename(source, target)

    monkeypatch.setattr(os, "replace", late)
    with pytest.raises(Refused, match="at that very moment"):
        writer_of(path).apply(plan, journal)
    assert path.read_bytes() == WITH_CALLS + LATE


def test_no_file_is_ever_overwritten(copy_of: CopyOf, journal: Journal) -> None:
    path = copy_of(WITH_CALLS)
    plan = plan_fork(reading_of(path), ForkRequest(), writer_of(path))
    Path(plan.target).parent.mkdir(exist_ok=True)
    Path(plan.target).write_text("somebody else's")
    with pytest.raises(Refused, match="a file of this name already"):
        writer_of(path).apply(plan, journal)
    assert Path(plan.target).read_text() == "somebody else's"


@pytest.mark.parametrize("call", ["fsync", "link", "replace", "fchmod"])
def test_a_full_disk_leaves_the_old_and_a_sentence(
    call: str, copy_of: CopyOf, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copy_of(WITH_CALLS)
    plans = [
        plan_fork(reading_of(path), ForkRequest(), writer_of(path)),
        plan_rename(reading_of(path), "x", writer_of(path)),
    ]
    before = snapshot(path.parent)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    for plan in plans:
        if call == "link" or (call == "replace" and plan is plans[0]):
            continue
        with pytest.raises(StoreError, match="no space left on device"):
            writer_of(path).apply(plan, journal)
        assert snapshot(path.parent) == before


def test_a_file_system_without_links(
    copy_of: CopyOf, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copy_of(WITH_CALLS)

    def no_links(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    plan: Plan = plan_fork(reading_of(path), ForkRequest(), writer_of(path))
    change = writer_of(path).apply(plan, journal)
    assert Path(change.path).read_bytes() == b"".join(plan.content.pieces())


def test_a_link_to_a_session_stays_a_link(
    copy_of: CopyOf, journal: Journal, tmp_path: Path
) -> None:
    real = copy_of(WITH_CALLS)
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    writer_of(link).apply(plan_rename(reading_of(link), "x", writer_of(link)), journal)
    assert link.is_symlink() and b'"name": "x"' in real.read_bytes()


@pytest.mark.parametrize(
    ("cwd", "name"),
    [("/a/b", "--a-b--"), ("/a:b", "--a-b--"), ("/", "----"), ("/home/x/", "--home-x--")],
)
def test_the_folder_of_a_directory(cwd: str, name: str) -> None:
    assert dashed_name(cwd) == name
