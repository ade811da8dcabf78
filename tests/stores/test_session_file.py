"""A session in a file: read in pieces, watched, and never written."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tau_browser.model.diagnostic import Severity
from tau_browser.model.session import Session
from tau_browser.stores import session_file
from tau_browser.stores.files import FileSource, header_of
from tau_browser.stores.session_file import SessionFile, load_session
from tau_browser.stores.store import Change, StoreError
from tests.conftest import DATA, HEADER, log_of, message

BUGCASES = DATA / "bugcases"


def loaded(opened: SessionFile) -> Session:
    *_, last = opened.load()
    assert last.session is not None
    return last.session


def texts(session: Session) -> list[str]:
    return [session.text(at) for at in range(len(session))]


def severities(session: Session) -> list[Severity]:
    return [finding.severity for finding in session.diagnostics]


@pytest.fixture
def case(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The folder of a stored example, copied to where it may change."""
    folder = tmp_path / request.param
    shutil.copytree(BUGCASES / request.param, folder)
    return folder


def session_in(case: Path) -> Path:
    (path,) = case.glob("sessions/*/*.jsonl")
    return path


def play(case: Path, *steps: str) -> None:
    subprocess.run(["sh", case / "play.sh", *steps], check=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "one"), message("b", "a", "two")]))
    return path


# Loading


def test_load_tells_how_far_it_has_come_and_shows_the_first_entries_early(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_file, "_CHUNK", 150)
    size = path.stat().st_size
    progress = list(SessionFile(str(path)).load())
    done = [step.done for step in progress]
    assert done == sorted(done) and done[-1] == size
    assert {step.total for step in progress} == {size}
    first, *between, last = progress
    assert first.session is not None and len(first.session) < 2
    assert last.session is not None and texts(last.session) == ["one", "two"]
    assert [step.session for step in between] == [None] * len(between)


def test_records_are_read_when_they_are_looked_at_even_after_the_file_is_gone(path: Path) -> None:
    opened = SessionFile(str(path))
    session = loaded(opened)
    path.unlink()
    assert texts(session) == ["one", "two"]
    opened.close()
    assert texts(session) == ["one", "two"]


def test_a_file_is_closed_with_the_last_session_that_was_read_from_it(path: Path) -> None:
    gc.collect()  # what other tests left open
    open_files = len(os.listdir("/proc/self/fd"))
    opened = SessionFile(str(path))
    session = loaded(opened)
    opened.close()
    assert len(os.listdir("/proc/self/fd")) == open_files + 1
    del session, opened
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_reading_leaves_bytes_and_times_alone(path: Path) -> None:
    os.utime(path, ns=(10**18, 10**18))
    before = path.read_bytes(), path.stat().st_mtime_ns
    opened = SessionFile(str(path))
    texts(loaded(opened))
    opened.check()
    opened.follow()
    header_of(str(path))
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_only_regular_files_are_opened(tmp_path: Path, make) -> None:
    make(tmp_path / "odd.jsonl")
    with pytest.raises(StoreError, match=r"odd.jsonl: not a regular file"):
        load_session(str(tmp_path / "odd.jsonl"))


def test_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"gone.jsonl: no such file or directory"):
        load_session(str(tmp_path / "gone.jsonl"))


def test_follow_before_load_is_refused(path: Path) -> None:
    with pytest.raises(StoreError, match="not open"):
        SessionFile(str(path)).follow()


# The header alone


def test_header_is_read_from_the_first_line(path: Path) -> None:
    assert header_of(str(path)) == HEADER


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", {}),
        (b'\xef\xbb\xbf{"type":"session","id":"x"}\n{}', {"type": "session", "id": "x"}),
        (b'{"type":"session","id":"x"}', {"type": "session", "id": "x"}),
        (b'\n{"type":"session","id":"x"}\n', {}),
        (b"\xff\xfe{\x00", {}),
        (b"not json\n", {}),
        (b'{"type":"session","id":"x","much":"' + b"x" * 70_000 + b'"}\n', {}),
    ],
)
def test_header_of_odd_files(tmp_path: Path, data: bytes, expected: dict[str, str]) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    assert header_of(str(path)) == expected


# Watching


@pytest.mark.parametrize("case", ["44-file-changes-while-open"], indirect=True)
def test_file_that_grows_shrinks_is_replaced_vanishes_and_comes_back(case: Path) -> None:
    path = session_in(case)
    opened = SessionFile(str(path))
    first = loaded(opened)
    assert len(first) == 4 and opened.check() is Change.NONE

    play(case, "1")
    assert opened.check() is Change.GREW
    assert len(opened.follow()) == 5 and opened.check() is Change.NONE

    play(case, "2")
    assert opened.check() is Change.SHRANK
    assert len(loaded(opened)) == 2 and opened.check() is Change.NONE

    play(case, "3")
    assert opened.check() is Change.REPLACED
    other = loaded(opened)
    assert other.id != first.id and opened.check() is Change.NONE

    kept = texts(other)
    play(case, "4")
    assert opened.check() is Change.GONE
    assert texts(other) == kept

    play(case, "5")
    assert opened.check() is Change.BACK
    assert loaded(opened).id == first.id and opened.check() is Change.NONE


@pytest.mark.parametrize(
    ("case", "before", "after", "last"),
    [
        ("01-truncated-last-line", 4, 5, None),
        ("02-tail-cut-inside-utf8", 2, 3, "naïve 日本語 done"),
    ],
    indirect=["case"],
)
def test_torn_last_line_is_pending_until_its_rest_is_written(
    case: Path, before: int, after: int, last: str | None
) -> None:
    opened = SessionFile(str(session_in(case)))
    session = loaded(opened)
    assert len(session) == before and severities(session) == [Severity.PENDING]
    play(case)
    assert opened.check() is Change.GREW
    session = opened.follow()
    assert len(session) == after and severities(session) == []
    if last is not None:
        assert session.text(after - 1) == last
    assert texts(load_session(opened.path)) == texts(session)


def test_following_in_any_steps_gives_what_one_reading_gives(tmp_path: Path) -> None:
    data = log_of(message(f"m{at}", f"m{at - 1}" if at else None, "é" * at) for at in range(20))
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"")
    opened = SessionFile(str(path))
    loaded(opened)
    for at in range(0, len(data), 97):
        with path.open("ab") as file:
            file.write(data[at : at + 97])
        session = opened.follow()
    assert texts(session) == texts(load_session(str(path)))
    assert severities(session) == []


def test_same_size_but_other_bytes_is_a_rewrite(path: Path) -> None:
    opened = SessionFile(str(path))
    loaded(opened)
    path.write_bytes(path.read_bytes().replace(b"two", b"six"))
    os.utime(path, ns=(1, 1))
    assert opened.check() is Change.REWRITTEN
    assert texts(loaded(opened)) == ["one", "six"]


def test_longer_file_whose_old_end_is_another_is_a_rewrite(path: Path) -> None:
    opened = SessionFile(str(path))
    loaded(opened)
    path.write_bytes(log_of([message("x", None, "other, and longer than before " * 20)]))
    assert opened.check() is Change.REWRITTEN


def test_file_that_cannot_be_read_on_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: int) -> bytes:
        raise OSError(5, "Input/output error")

    opened = SessionFile(str(path))
    loaded(opened)
    with path.open("ab") as file:
        file.write(b"{}\n")
    monkeypatch.setattr(FileSource, "read", fail)
    assert opened.check() is Change.REWRITTEN
    with pytest.raises(StoreError, match=r"s.jsonl: input/output error"):
        opened.follow()
