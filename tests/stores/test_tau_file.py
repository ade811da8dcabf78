"""τ's file store: everything that lies in its folders is listed, or said not to be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tau_browser.stores import session_file
from tau_browser.stores.store import Listed, Unreadable
from tau_browser.stores.tau_file import TauFileStore
from tests.conftest import DATA, HEADER, log_of, message
from tests.stores.conftest import write

BUGCASES = DATA / "bugcases"


def listed(store: TauFileStore) -> list[str]:
    return [os.path.basename(item.path) for item in store.scan() if isinstance(item, Listed)]


def unlisted(store: TauFileStore) -> dict[str, str]:
    found = (item for item in store.scan() if isinstance(item, Unreadable))
    return {os.path.basename(item.path): item.reason for item in found}


def looked(store: TauFileStore) -> list[Listed | Unreadable]:
    return [store.look_into(item) for item in store.scan() if isinstance(item, Listed)]


def test_sessions_at_any_depth_changed_last_first(tmp_path: Path) -> None:
    for at, name in enumerate(["x.jsonl", "a/y.jsonl", "a/b/c/z.jsonl"]):
        os.utime(write(tmp_path / name), (at, at))
    (tmp_path / "a" / "notes.txt").write_text("no session")
    assert listed(TauFileStore([str(tmp_path)])) == ["z.jsonl", "y.jsonl", "x.jsonl"]


def test_file_named_by_itself_is_listed_whatever_it_is_called(tmp_path: Path) -> None:
    path = write(tmp_path / "session.txt")
    assert listed(TauFileStore([str(path)])) == ["session.txt"]


def test_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    store = TauFileStore([str(tmp_path / "none")])
    assert list(store.scan()) == [] and store.is_empty()


def test_what_cannot_be_listed_is_said(tmp_path: Path) -> None:
    write(tmp_path / "good.jsonl")
    (tmp_path / "packed.jsonl.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / ".abc.partial").write_bytes(b"")
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    store = TauFileStore([str(tmp_path)])
    assert listed(store) == ["good.jsonl"]
    reasons = unlisted(store)
    assert "gzip" in reasons["packed.jsonl.gz"]
    assert "still being written" in reasons[".abc.partial"]
    assert reasons["nowhere.jsonl"] == "no such file or directory"
    assert "symbolic links" in reasons["loop.jsonl"]
    assert reasons["pipe.jsonl"] == "not a regular file"
    assert len(reasons) == 5


def test_linked_folders_are_gone_through_once(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "linked.jsonl")
    root = tmp_path / "root"
    write(root / "own.jsonl")
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "again").symlink_to(tmp_path / "elsewhere")
    (root / "round").symlink_to(root)
    assert sorted(listed(TauFileStore([str(root)]))) == ["linked.jsonl", "own.jsonl"]


def test_roots_that_overlap_list_each_session_once(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "s.jsonl")
    roots = [str(tmp_path), str(tmp_path / "a"), str(tmp_path)]
    assert listed(TauFileStore(roots)) == ["s.jsonl"]


def test_folder_alone_is_empty_but_not_one_that_holds_something_unreadable(tmp_path: Path) -> None:
    store = TauFileStore([str(tmp_path)])
    assert store.is_empty()
    (tmp_path / "packed.jsonl.gz").write_bytes(b"\x1f\x8b")
    assert not store.is_empty()


def test_odd_names(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9") / "-n $(id);\n'\" \U0001f469\u200d\U0001f4bb.jsonl"
    write(odd, "odd")
    (found,) = looked(TauFileStore([str(tmp_path)], tmp_path / "cache"))
    assert isinstance(found, Listed) and found.path == str(odd)
    assert found.summary is not None and found.summary.id == "odd"


def test_projects_come_from_the_header_not_from_the_folder() -> None:
    store = TauFileStore([str(BUGCASES / "45-odd-paths" / "sessions")])
    summaries = [item.summary for item in looked(store) if isinstance(item, Listed)]
    cwds = {summary.id: summary.cwd for summary in summaries if summary}
    assert cwds["p1"] == "/proj/my-app" and cwds["p2"] == "/proj/my/app"
    assert len(cwds) == 4


def test_one_bad_file_never_spoils_a_listing() -> None:
    store = TauFileStore([str(DATA / "tau" / "corrupt")])
    found = looked(store)
    assert len(found) == 33 and all(isinstance(item, Listed) for item in found)


# Permissions


def test_what_may_not_be_read_is_said_and_spoils_nothing(locked: Path) -> None:
    store = TauFileStore([str(locked)])
    found = [
        item if isinstance(item, Unreadable) else store.look_into(item) for item in store.scan()
    ]
    good = [item for item in found if isinstance(item, Listed)]
    assert [item.summary.entries for item in good if item.summary] == [2]
    reasons = {
        os.path.basename(item.path): item.reason for item in found if isinstance(item, Unreadable)
    }
    assert reasons == {
        "--proj-locked--": "permission denied",
        "2026-03-01T10-00-01-000Z_noread.jsonl": "permission denied",
    }


# What the catalog saves


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of all files that were opened to be read as sessions, as they are."""
    paths: list[str] = []
    original: Callable[..., None] = session_file.FileSource.__init__

    def spy(self: session_file.FileSource, path: str) -> None:
        paths.append(path)
        original(self, path)

    monkeypatch.setattr(session_file.FileSource, "__init__", spy)
    return paths


def test_many_files_are_read_once_and_listed_exactly(tmp_path: Path, opened: list[str]) -> None:
    root, cache = tmp_path / "sessions", tmp_path / "cache"
    for at in range(3000):
        write(root / f"--p{at % 7}--" / f"{at}.jsonl", f"id{at}", f"number {at}")
    (root / "--p0--" / "0.jsonl").write_bytes(b"garbage\n")
    first = TauFileStore([str(root)], cache)
    assert len(looked(first)) == 3000 and len(opened) == 3000
    first.remember()

    opened.clear()
    second = TauFileStore([str(root)], cache)
    assert all(isinstance(item, Listed) and item.summary for item in second.scan())
    titles = {
        item.summary.title for item in looked(second) if isinstance(item, Listed) and item.summary
    }
    assert titles >= {f"number {at}" for at in range(1, 3000)}
    assert opened == []

    write(root / "--p1--" / "1.jsonl", "id1", "changed, and longer")
    third = TauFileStore([str(root)], cache)
    assert len(looked(third)) == 3000
    assert opened == [str(root / "--p1--" / "1.jsonl")]


def test_identity_is_told_from_the_first_line(tmp_path: Path, opened: list[str]) -> None:
    write(tmp_path / "s.jsonl", "from-first-line")
    store = TauFileStore([str(tmp_path)])
    (item,) = store.scan()
    assert isinstance(item, Listed)
    assert store.identify(item) == "from-first-line" and len(opened) == 1
    known = store.look_into(item)
    assert isinstance(known, Listed)
    opened.clear()
    assert store.identify(known) == "from-first-line" and opened == []


def test_identity_where_the_first_line_does_not_tell(tmp_path: Path) -> None:
    late = log_of([message("a", None, "hi"), HEADER | {"id": "late"}], None)
    (tmp_path / "late.jsonl").write_bytes(late)
    (tmp_path / "none.jsonl").write_bytes(b"{}\n")
    store = TauFileStore([str(tmp_path)])
    ids = {
        os.path.basename(item.path): store.identify(item)
        for item in store.scan()
        if isinstance(item, Listed)
    }
    assert ids == {"late.jsonl": "late", "none.jsonl": ""}


def test_file_that_vanishes_between_scan_and_look(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl")
    store = TauFileStore([str(tmp_path)])
    (item,) = store.scan()
    assert isinstance(item, Listed)
    path.unlink()
    assert store.look_into(item) == Unreadable(str(path), "no such file or directory")
    assert store.identify(item) == ""
