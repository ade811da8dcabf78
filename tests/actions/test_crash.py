"""kill -9 at every step of every change: what is there afterwards is the old or the new, whole.

The change runs in a child process whose calls to the system are counted; at one of them it kills
itself, before or after. Each number is tried until the change outlives it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.folder_writer import Folder, FolderWriter
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.log_writers import ClaudeCodeWriter, PiWriter
from tau_browser.actions.plan import Plan, Refused, Verb, Way
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.reading import Reading
from tau_browser.actions.rename import plan_rename
from tau_browser.actions.undo import last_undoable, take_back, undoables
from tau_browser.model.context import context_messages
from tests.actions.conftest import LONG_AGO, in_tau, snapshot
from tests.actions.programs import test_claude_code, test_pi
from tests.actions.test_fork import WITH_CALLS
from tests.conftest import load, log_of, message, read

_CALLS = ("open", "write", "fsync", "fchmod", "utime", "link", "rename", "replace", "unlink",
          "mkdir", "makedirs", "close", "fstat", "stat")  # fmt: skip
_NAME = "2026-03-01T10-00-00-000Z_s1.jsonl"


class Place:
    """A folder with one session, and a state folder beside it."""

    def __init__(self, folder: Path, log: bytes, hand: type[FileWriter] = FileWriter) -> None:
        self.folder = folder / "sessions" / "--proj-demo--"
        self.folder.mkdir(parents=True)
        self.path = self.folder / _NAME
        self.path.write_bytes(log)
        os.utime(self.path, ns=(LONG_AGO, LONG_AGO))
        self.journal = Journal(folder / "state")
        self.writer = hand.beside(str(self.path))

    def reading(self, path: Path | None = None) -> Reading:
        return self.writer.read(str(path or self.path), self.journal)

    @property
    def sessions(self) -> dict[str, tuple[bytes, int]]:
        """The sessions there are: what a reader lists."""
        files = snapshot(self.folder.parent)
        return {path: held for path, held in files.items() if path.endswith(".jsonl")}


Work = Callable[[Place], None]


def survives(work: Work, place: Place, steps: int, *, after: bool) -> bool:
    """Do the work in a child that is killed at its nth call; whether it came to its end."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work itself failed"
        return not os.WIFSIGNALED(status)
    try:
        _count_down(steps, after=after)
        work(place)
        os._exit(0)
    except BaseException:
        os._exit(1)


def _count_down(steps: int, *, after: bool) -> None:
    left = [steps]

    def counted(call: Callable) -> Callable:
        def run(*args: object, **kwargs: object) -> object:
            left[0] -= 1
            is_last = left[0] == 0  # it may call others that are counted
            if is_last and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return call(*args, **kwargs)
            finally:
                if is_last:
                    os.kill(os.getpid(), signal.SIGKILL)

        return run

    for name in _CALLS:
        setattr(os, name, counted(getattr(os, name)))


def root(place: Place, entry_id: str) -> tuple[int, ...]:
    return (load(place.path).find(entry_id)[0],)


def applied(plan: Plan, place: Place) -> None:
    place.writer.apply(plan, place.journal)


def prune_in_place(place: Place) -> None:
    request = PruneRequest(root(place, "u3"), How.IN_PLACE)
    applied(plan_prune(place.reading(), request, place.writer), place)


def prune_to_a_copy(place: Place) -> None:
    request = PruneRequest(root(place, "u3"))
    applied(plan_prune(place.reading(), request, place.writer), place)


def fork(place: Place) -> None:
    applied(plan_fork(place.reading(), ForkRequest(), place.writer), place)


def fork_elsewhere(place: Place) -> None:
    request = ForkRequest(cwd="/new/place")
    applied(plan_fork(place.reading(), request, place.writer), place)


def rename(place: Place) -> None:
    applied(plan_rename(place.reading(), "new", place.writer), place)


def undo(place: Place) -> None:
    writers = {place.writer.store: place.writer}
    take_back(last_undoable(place.journal, writers), place.journal, writers)


OF_PI, OF_CLAUDE_CODE = (log_of(lines, None) for lines in (test_pi.TALK, test_claude_code.TALK))
CHANGES: dict[str, tuple[Work, Work | None, bytes, type[FileWriter]]] = {
    "prune in place": (prune_in_place, None, WITH_CALLS, FileWriter),
    "prune to a copy": (prune_to_a_copy, None, WITH_CALLS, FileWriter),
    "fork": (fork_elsewhere, None, WITH_CALLS, FileWriter),
    "rename": (rename, None, WITH_CALLS, FileWriter),
    "undo of pruning in place": (undo, prune_in_place, WITH_CALLS, FileWriter),
    "undo of a fork": (undo, fork_elsewhere, WITH_CALLS, FileWriter),
    "undo of a rename": (undo, rename, WITH_CALLS, FileWriter),
    "fork for pi": (fork, None, OF_PI, PiWriter),
    "undo of a fork for pi": (undo, fork, OF_PI, PiWriter),
    "fork for Claude Code": (fork, None, OF_CLAUDE_CODE, ClaudeCodeWriter),
    "undo of a fork for Claude Code": (undo, fork, OF_CLAUDE_CODE, ClaudeCodeWriter),
}


@pytest.mark.parametrize("after", [False, True], ids=["before a call", "after a call"])
@pytest.mark.parametrize("name", CHANGES)
def test_killed_at_every_step(name: str, after: bool, tmp_path: Path) -> None:
    work, first, log, hand = CHANGES[name]
    for steps in range(1, 200):
        folder = tmp_path / str(steps)
        place = Place(folder, log, hand)
        if first:
            first(place)
        old = place.sessions
        done = survives(work, place, steps, after=after)
        if _bytes(place.sessions) != _bytes(old):  # what is new is all of it, and can be undone
            _check_whole(place)
            if not first:
                undo(place)
                assert place.sessions == old
        elif first is None:
            with pytest.raises(Refused):
                undo(place)
            work(place)  # what is left of the attempt is in nobody's way
            undo(place)
            assert place.sessions == old
        else:
            assert not done
            undo(place)
        shutil.rmtree(folder)
        if done:
            assert steps > 10
            return
    pytest.fail("never came to its end")


def _bytes(files: dict[str, tuple[bytes, int]]) -> list[bytes]:
    return sorted(held for held, _ in files.values())


def _check_whole(place: Place) -> None:
    for path in place.sessions:
        session = place.reading(Path(path)).session
        assert not session.diagnostics and session.header and len(session)
    writers = {place.writer.store: place.writer}
    stand = [at for at in undoables(place.journal, writers) if not at.obstacle]
    assert stand, "what took effect stands in the journal"


# A session and what belongs to it


def with_agents(folder: Path) -> Place:
    """A session of Claude Code's with a sub-agent's file."""
    place = Place(folder, OF_CLAUDE_CODE, ClaudeCodeWriter)
    agent = place.path.with_suffix("") / "subagents" / "agent-g1.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes(log_of(test_claude_code.AGENT, None))
    os.utime(agent, ns=(LONG_AGO, LONG_AGO))
    return place


@pytest.mark.parametrize("after", [False, True], ids=["before a call", "after a call"])
@pytest.mark.parametrize("work", [fork, undo])
def test_who_finds_a_session_finds_what_belongs_to_it(
    work: Work, after: bool, tmp_path: Path
) -> None:
    for steps in range(1, 400):
        place = with_agents(tmp_path / str(steps))
        old = place.sessions
        if work is undo:
            fork(place)
        done = survives(work, place, steps, after=after)
        for path in set(place.folder.glob("*.jsonl")) - {place.path}:
            session = place.reading(path).session
            assert session.find("s2") and not session.diagnostics
        if place.sessions != old:
            undo(place)
        else:
            with pytest.raises(Refused):
                undo(place)
        assert place.sessions == old
        if done:
            assert steps > 20
            return
        shutil.rmtree(tmp_path / str(steps))
    pytest.fail("never came to its end")


# Folders

FILES = {"a.jsonl": b"one\n", "rag/b/c.json": b"{}", "rag/d": b""}


class Made:
    """A folder that a plan makes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "made"
        folder.mkdir()
        self.journal = Journal(folder / "state")
        self.hand = FolderWriter()

    def make(self) -> None:
        plan = Plan(
            Verb.SNAPSHOT, "aethergraph", "it", None, Way.NEW, str(self.path), Folder(FILES)
        )
        self.hand.apply(plan, self.journal)

    def undo(self) -> None:
        writers = {"aethergraph": self.hand}
        take_back(last_undoable(self.journal, writers), self.journal, writers)

    def undo_the_undo(self) -> None:
        self.hand.undo(self.journal.changes()[-1], self.journal)

    @property
    def is_there(self) -> bool:
        """Whether it is, and then whole."""
        files = [path for path in self.path.rglob("*") if path.is_file()]
        found = {str(path.relative_to(self.path)): path.read_bytes() for path in files}
        assert found == (FILES if self.path.exists() else {})
        return self.path.exists()


@pytest.mark.parametrize("after", [False, True], ids=["before a call", "after a call"])
@pytest.mark.parametrize("name", ["make", "undo", "undo of the undo"])
def test_a_folder_killed_at_every_step(name: str, after: bool, tmp_path: Path) -> None:
    for steps in range(1, 300):
        made = Made(tmp_path / str(steps))
        if name != "make":
            made.make()
        if name == "undo of the undo":
            made.undo()
        work = {"make": made.make, "undo": made.undo, "undo of the undo": made.undo_the_undo}
        done = survives(lambda _, does=work[name]: does(), None, steps, after=after)  # type: ignore
        if not made.is_there:
            if name == "make":
                with pytest.raises(Refused):
                    made.undo()
                made.make()
            elif name == "undo of the undo":
                made.hand.undo(made.journal.changes()[1], made.journal)
            else:
                made.undo_the_undo()
        assert made.is_there
        if done:
            assert steps > 10
            return
        made.undo()
        assert not made.is_there
        shutil.rmtree(tmp_path / str(steps))
    pytest.fail("never came to its end")


# Any tree, any plan, any moment


@st.composite
def trees(draw: st.DrawFn) -> bytes:
    """Logs of some entries under parents that came before them."""
    parents = draw(st.lists(st.integers(0, 30), min_size=2, max_size=14))
    ids = [f"e{at}" for at in range(len(parents))]
    records = [
        message(ids[at], ids[parent % at] if at else None, f"text {at}")
        for at, parent in enumerate(parents)
    ]
    return log_of(records)


@settings(max_examples=60)
@given(trees(), st.randoms(use_true_random=False), st.integers(1, 60), st.booleans())
def test_any_tree_any_plan_any_moment(
    log: bytes, choice: random.Random, steps: int, after: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), log)
        entries = range(len(load(place.path)))
        entry = choice.choice(entries)
        how = choice.choice([*How, "fork", "only", "rename"])

        def work(place: Place) -> None:
            applied(plan(place), place)

        def plan(place: Place) -> Plan:
            reading = place.reading()
            if how == "fork":
                return plan_fork(reading, ForkRequest(at=entry), place.writer)
            if how == "only":
                return plan_fork(reading, ForkRequest(only=(entry,)), place.writer)
            if how == "rename":
                return plan_rename(reading, f"name {entry}", place.writer)
            return plan_prune(reading, PruneRequest((entry,), how), place.writer)

        try:
            planned = plan(place)
            planned.require_sound()
        except Refused:
            return
        old = place.sessions
        survives(work, place, steps, after=after)
        new = place.sessions
        if _bytes(new) == _bytes(old):
            assert new == old
            return
        _check_whole(place)
        (made,) = set(_bytes(new)) - set(_bytes(old))
        expected, written = read(b"".join(planned.content.pieces())), read(made)
        assert len(written) == len(expected)
        assert written.tree.parent.tolist() == expected.tree.parent.tolist()
        (path,) = (path for path, (held, _) in new.items() if held == made)
        seen, session = in_tau(path), load(Path(path))
        assert seen["leaf"] == session.entry_id(session.leaf)
        assert seen["path"] == session.ids(session.tree.path(session.leaf))
        assert seen["context"] == json.dumps(context_messages(session, session.leaf))
        undo(place)
        assert place.sessions == old
