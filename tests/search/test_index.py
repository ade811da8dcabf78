"""The index follows its store: what is new, gone, moved or changed, and only that."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_browser.search.index import catalog
from tau_browser.search.index.folder import Files, IndexBusy, NoIndex, index_folder
from tau_browser.search.index.reader import Reader
from tau_browser.search.index.recent import Recent
from tau_browser.search.index.status import status_of
from tau_browser.search.index.update import Progress
from tau_browser.stores.session_file import SessionFile
from tests.conftest import HEADER, log_of, message
from tests.search.conftest import Indexed


def chain(*texts: str, first: int = 0, **fields: Any) -> list[dict[str, Any]]:
    """Messages m0, m1, ... each under the one before."""
    return [
        message(f"m{at}", f"m{at - 1}" if at else None, text, **fields)
        for at, text in enumerate(texts, first)
    ]


# What is new


def test_new_sessions_are_indexed_once(indexed: Indexed) -> None:
    indexed.write("one", chain("apple", "pear"))
    assert indexed.update().added == 2
    indexed.write("two", chain("plum apple"))
    report = indexed.update()
    assert (report.added, report.files, report.rebuilt, report.problem) == (1, 1, "", "")
    assert indexed.update().files == 0
    assert set(indexed.found("apple")) == {"one/m0", "two/m0"}


def test_what_grew_is_read_on(indexed: Indexed) -> None:
    indexed.write("one", chain("apple", "pear"))
    indexed.update()
    indexed.append("one", chain("plum", first=2))
    assert indexed.update().added == 1
    assert indexed.found("plum") == ["one/m2"]
    assert indexed.found("apple") == ["one/m0"]


def test_a_line_in_pieces_is_indexed_when_it_is_whole(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple"))
    indexed.update()
    line = log_of(chain("plum", first=1), None)
    for piece, expected in ((line[:30], 0), (line[30:], 1)):
        with path.open("ab") as file:
            file.write(piece)
        assert indexed.update().added == expected
    assert indexed.found("plum") == ["one/m1"]


def test_an_answer_replaces_its_placeholder(indexed: Indexed) -> None:
    indexed.write("one", [*chain("ask"), message("a", "m0", role="assistant", status="incomplete")])
    indexed.update()
    assert indexed.matches("role:assistant").total == 1
    indexed.append("one", [message("a", "m0", "the answer", "assistant")])
    indexed.update()
    assert indexed.found("answer") == ["one/a"]
    assert indexed.matches("role:assistant").total == 1


# What changed, and is gone


def test_an_edit_of_the_same_size_and_time_is_noticed(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple", "pear"))
    indexed.update()
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"apple", b"grape"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert indexed.update().added == 1  # the other entry is still the same
    assert indexed.found("apple") == []
    assert indexed.found("grape") == ["one/m0"]


def test_a_rewrite_that_grew_is_not_taken_for_growth(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple", "pear", "the same end"))
    indexed.update()
    path.write_bytes(path.read_bytes().replace(b"apple", b"grape") + log_of(chain("fig"), None))
    indexed.update()
    assert indexed.found("apple") == []
    assert indexed.found("grape") == ["one/m0"]


def test_what_was_cut_off_is_gone(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple", "pear"))
    indexed.update()
    path.write_bytes(log_of(chain("apple"), HEADER | {"id": "one"}))
    assert indexed.update().added == 0
    assert indexed.found("pear") == []
    assert indexed.matches("role:user").total == 1


def test_deleted_sessions_are_forgotten(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple"))
    indexed.write("two", chain("plum"))
    indexed.update()
    path.unlink()
    assert indexed.update().removed == 1
    assert indexed.found("apple") == []
    assert indexed.matches("role:user").total == 1


def test_moved_sessions_are_not_indexed_again(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple", "pear"))
    indexed.update()
    moved = path.rename(indexed.root / "moved.jsonl")
    report = indexed.update()
    assert (report.added, report.removed) == (0, 0)
    (hit,) = indexed.matches("apple").hits
    assert indexed.reader.standings([hit[0]])[hit[0]][0].path == str(moved)


def test_sessions_that_changed_names(indexed: Indexed) -> None:
    one, two = indexed.write("one", chain("apple")), indexed.write("two", chain("plum"))
    indexed.update()
    spare = one.rename(indexed.root / "spare")
    two.rename(one)
    spare.rename(two)
    indexed.update()
    assert indexed.found("apple") == ["one/m0"]
    (hit,) = indexed.matches("apple").hits
    assert indexed.reader.standings([hit[0]])[hit[0]][0].path == str(two)


def test_what_cannot_be_read_is_said(indexed: Indexed) -> None:
    indexed.write("one", chain("apple"))
    (indexed.root / "pipe.jsonl").mkdir()
    (indexed.root / "gone.jsonl").symlink_to("nowhere")
    (indexed.root / "packed.jsonl.gz").write_bytes(b"\x1f\x8b")
    report = indexed.update()
    assert {Path(path).name for path, _ in report.skipped} == {"gone.jsonl", "packed.jsonl.gz"}
    assert report.added == 1


# Copies


def test_copies_are_one_entry_that_stands_in_many_places(indexed: Indexed) -> None:
    indexed.write("one", chain("apple", "pear"), cwd="/a")
    indexed.write("fork", [*chain("apple", "pear"), message("n", "m1", "plum")], cwd="/b")
    indexed.update()
    matches = indexed.matches("apple")
    assert matches.total == 1
    standings = indexed.reader.standings([matches.hits[0][0]])[matches.hits[0][0]]
    assert {standing.session for standing in standings} == {"one", "fork"}
    assert indexed.matches("apple project:/a").total == 1
    assert indexed.matches("apple project:/b").total == 1


def test_a_copy_outlives_its_source(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple"), cwd="/a")
    indexed.write("fork", chain("apple"), cwd="/b")
    indexed.update()
    path.unlink()
    indexed.update()
    assert indexed.found("apple") == ["fork/m0"]
    assert indexed.matches("apple project:/a").total == 0


def test_a_copy_that_is_cut_off_no_longer_stands_there(indexed: Indexed) -> None:
    indexed.write("one", chain("apple", "pear"), cwd="/a")
    path = indexed.write("fork", chain("apple", "pear"), cwd="/b")
    indexed.update()
    path.write_bytes(log_of(chain("apple"), HEADER | {"id": "fork", "cwd": "/b"}))
    indexed.update()
    assert indexed.matches("pear project:/b").total == 0
    assert indexed.matches("pear project:/a").total == 1
    assert indexed.matches("apple project:/b").total == 1


# How entries stand


def test_branch_states_follow_the_log(indexed: Indexed) -> None:
    indexed.write("one", chain("apple", "pear", "plum"))
    indexed.update()
    assert indexed.matches("branch:active").total == 3
    indexed.append("one", [message("n", "m0", "other branch")])
    assert indexed.update().added <= 3
    assert set(indexed.found("branch:abandoned")) == {"one/m1", "one/m2"}
    assert set(indexed.found("branch:active")) == {"one/m0", "one/n"}
    indexed.append("one", [message("o", "m2", "back again")])
    assert indexed.update().added == 2  # one that now stands apart from its group, and the new one
    assert set(indexed.found("branch:active")) == {"one/m0", "one/m1", "one/m2", "one/o"}
    assert indexed.found("branch:abandoned") == ["one/n"]
    indexed.append("one", [message("p", "n", "and there")])
    assert indexed.update().added == 1  # from now on whole groups change
    assert set(indexed.found("branch:active")) == {"one/m0", "one/n", "one/p"}
    assert set(indexed.found("branch:abandoned")) == {"one/m1", "one/m2", "one/o"}


def test_a_compaction_folds_what_was_indexed(indexed: Indexed) -> None:
    indexed.write("one", chain(*(f"step {at}" for at in range(10))))
    indexed.update()
    fold = {"type": "compaction", "id": "c", "parentId": "m9", "firstKeptId": "m8", "summary": "s"}
    indexed.append("one", [fold])
    assert indexed.update().added <= 3  # the two that are kept, and the compaction
    assert indexed.matches("branch:folded").total == 8
    assert set(indexed.found("branch:active")) == {"one/m8", "one/m9", "one/c"}


def test_the_model_in_force(indexed: Indexed) -> None:
    def config(entry_id: str, parent: str | None, **data: Any) -> dict[str, Any]:
        return {
            "type": "customEntry",
            "id": entry_id,
            "parentId": parent,
            "timestamp": "2026-03-01T10:00:01.000Z",
            "customType": "config",
            "data": data,
        }

    indexed.write(
        "one",
        [
            config("c1", None, model="fast", model_spec={"id": "gpt-5-mini"}),
            message("a", "c1", "one"),
            config("c2", "a", model="deep", model_spec={"id": "opus"}),
            message("b", "c2", "two"),
            config("c3", "b", thinking="high"),
            message("c", "c3", "three"),
            message("d", "a", "four"),
        ],
    )
    plain = message("p", None, role="assistant")
    plain["message"] |= {"model": "Sonnet", "content": "five"}
    indexed.write("two", [plain])
    indexed.update()
    assert set(indexed.found("model:gpt-5 kind:message")) == {"one/a", "one/d"}
    assert set(indexed.found("model:DEEP kind:message")) == {"one/b", "one/c"}
    assert indexed.found("model:sonnet") == ["two/p"]


# The folder


def test_only_the_owner_may_look_into_it(indexed: Indexed) -> None:
    indexed.write("one", chain("apple"))
    indexed.update()
    paths = [indexed.folder, *indexed.folder.rglob("*")]
    assert len(paths) > 5
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in paths)


def test_no_text_is_copied_into_it(indexed: Indexed) -> None:
    secret = "correct horse battery staple"
    indexed.write("one", chain(secret))
    indexed.update()
    held = [path.read_bytes() for path in indexed.folder.rglob("*") if path.is_file()]
    assert not any(secret.encode() in data for data in held)


def test_each_store_has_its_own(tmp_path: Path) -> None:
    one, two = Indexed(tmp_path / "a"), Indexed(tmp_path / "b")
    assert index_folder(tmp_path, one.store) != index_folder(tmp_path, two.store)
    assert index_folder(tmp_path, one.store) == index_folder(tmp_path, one.store)


def test_reading_leaves_sessions_as_they_are(indexed: Indexed) -> None:
    path = indexed.write("one", chain("apple"))
    os.utime(path, (1, 1))
    before = path.stat()
    indexed.update()
    indexed.found("apple")
    after = path.stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


def test_progress_and_cancelling(indexed: Indexed) -> None:
    for at in range(4):
        indexed.write(f"s{at}", chain("apple"))
    seen: list[Progress] = []
    report = indexed.update(progress=seen.append, cancelled=lambda: len(seen) > 2)
    assert report.cancelled and 0 < report.added < 4
    assert indexed.matches("apple role:user").total == 1 or report.added > 1
    rest = indexed.update(progress=seen.append)
    assert report.added + rest.added == 4 and not rest.cancelled
    assert (seen[-1].files_done, seen[-1].bytes_done) == (seen[-1].files, seen[-1].bytes)


def test_progress_inside_a_large_session(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tau_browser.search.index.entries._SLICE", 10)
    path = indexed.write("s", chain(*["apple"] * 40))
    seen: list[Progress] = []
    indexed.update(progress=seen.append)
    done = [progress.bytes_done for progress in seen]
    size = path.stat().st_size
    assert done == sorted(done) and {0, size // 4, size // 2, size} <= set(done)
    assert {progress.files_done for progress in seen[:-1]} == {0}


def test_cancelling_inside_a_large_session_loses_nothing(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tau_browser.search.index.entries._SLICE", 10)
    monkeypatch.setattr("tau_browser.search.index.writer._COMMIT_DOCUMENTS", 10)
    indexed.write("one", chain(*(f"step{at}" for at in range(100))))
    calls = iter(range(1000))
    report = indexed.update(cancelled=lambda: next(calls) > 3)
    assert report.cancelled and 10 <= report.added < 100
    assert indexed.found("step5") == ["one/m5"]
    rest = indexed.update()
    assert report.added + rest.added == 100
    assert indexed.matches("role:user").total == 100


def test_status_tells_what_is_covered(indexed: Indexed) -> None:
    assert status_of(indexed.store, indexed.folder).reason == "nothing is indexed yet"
    indexed.write("one", chain("apple", "pear"))
    indexed.update()
    indexed.write("two", chain("plum"))
    status = status_of(indexed.store, indexed.folder)
    assert (status.sessions, status.indexed, status.entries) == (2, 1, 2)
    assert [Path(path).name for path in status.waiting] == ["two.jsonl"]
    assert status.size > 0 and not status.reason


def test_another_version_is_made_anew(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed.write("one", chain("apple"))
    indexed.update()
    monkeypatch.setattr(catalog, "VERSION", catalog.VERSION + 1)
    with pytest.raises(NoIndex, match="version"):
        Reader(indexed.folder)
    report = indexed.update()
    assert "version" in report.rebuilt and report.added == 1


def test_readers_go_on_to_an_index_that_was_made_anew(indexed: Indexed) -> None:
    indexed.write("one", chain("apple"))
    indexed.update()
    assert indexed.found("apple") == ["one/m0"]
    assert indexed.update(rebuild=True).rebuilt
    assert indexed.found("apple") == ["one/m0"]


def test_one_writer_at_a_time(indexed: Indexed) -> None:
    indexed.write("one", chain("apple"))
    indexed.update()
    with Files(indexed.folder).locked(), pytest.raises(IndexBusy):
        indexed.update()
    assert indexed.found("apple") == ["one/m0"]


# Followed sessions


def followed(indexed: Indexed, name: str) -> tuple[SessionFile, Recent]:
    file = SessionFile(str(indexed.root / f"{name}.jsonl"))
    *_, last = file.load()
    recent = Recent(indexed.reader)
    assert last.session is not None
    recent.follow(file.path, last.session)
    return file, recent


def test_a_followed_session_is_found_before_it_is_indexed(indexed: Indexed) -> None:
    indexed.write("one", chain("apple", "pear"))
    indexed.update()
    file, recent = followed(indexed, "one")
    assert len(recent) == 0
    indexed.append("one", chain("plum apple", first=2))
    recent.follow(file.path, file.follow())
    matches = indexed.matches("apple", recent=recent)
    assert matches.total == 2
    assert set(indexed.ids([key for key, _ in matches.hits], recent)) == {"one/m0", "one/m2"}
    assert recent.text(matches.hits[0][0]) if matches.hits[0][0] < 0 else True
    assert indexed.matches("plum branch:active project:demo", recent=recent).total == 1
    assert indexed.matches("plum branch:folded", recent=recent).total == 0
    indexed.update()
    indexed.reader.refresh()
    recent.settle()
    assert len(recent) == 0
    assert indexed.matches("plum", recent=recent).total == 1


def test_a_word_that_only_a_followed_session_holds_is_not_taken_for_a_typo(
    indexed: Indexed,
) -> None:
    indexed.write("one", chain("applet"))
    indexed.update()
    file, recent = followed(indexed, "one")
    indexed.append("one", chain("applex", first=1))
    recent.follow(file.path, file.follow())
    matches = indexed.matches("applex", recent=recent)
    assert matches.total == 1 and not matches.widened


# Against what is simply there


def everywhere(indexed: Indexed, query: str) -> set[frozenset[str]]:
    """The entries that match, each as all the places where it stands."""
    keys = [key for key, _ in indexed.matches(query).hits]
    found = indexed.reader.standings(keys)
    return {frozenset(f"{it.session}:{it.start} {it.state}" for it in found[key]) for key in keys}


TEXTS = st.sampled_from(["apple", "pear", "plum", "apple pear", "fig apple"])
ROLES = st.sampled_from(["user", "assistant", "toolResult"])
EDITS = st.lists(
    st.tuples(st.sampled_from(["append", "branch", "cut", "fork", "delete", "edit"]), TEXTS, ROLES),
    min_size=1,
    max_size=8,
)


@settings(max_examples=12)
@given(edits=EDITS)
def test_whatever_happens_the_index_is_as_if_made_anew(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str, str]]
) -> None:
    indexed = Indexed(tmp_path_factory.mktemp("store"))
    files: dict[str, list[dict[str, Any]]] = {"s": chain("apple", "pear")}
    for number, (edit, text, role) in enumerate(edits):
        names = sorted(files)
        name = names[number % len(names)] if names else "s"
        records = files.setdefault(name, [])
        parent = records[-1]["id"] if records else None
        if edit == "append":
            records.append(message(f"n{number}", parent, text, role))
        elif edit == "branch":
            records.append(message(f"n{number}", records[0]["id"] if records else None, text, role))
        elif edit == "cut":
            del records[1:]
        elif edit == "fork":
            files[f"f{number}"] = list(records)
        elif edit == "delete":
            del files[name]
        elif records:
            records[0] = message(records[0]["id"], None, text, role)
        for path in indexed.root.iterdir():
            if path.stem not in files:
                path.unlink()
        for each, written in files.items():
            indexed.write(each, written, cwd=f"/{each}")
        indexed.update()
    fresh = Indexed(tmp_path_factory.mktemp("fresh"))
    fresh.root = indexed.root
    fresh.update()
    queries = ["apple", "pear plum", "role:user", "branch:active", "branch:abandoned apple"]
    for query in [*queries, *(f"project:/{name}" for name in files)]:
        assert everywhere(indexed, query) == everywhere(fresh, query), query
    counts = [
        (each.reader.count, each.reader.catalog.count("standings")) for each in (indexed, fresh)
    ]
    assert counts[0] == counts[1]


def test_an_update_without_news_leaves_readers_where_they_are(indexed: Indexed) -> None:
    indexed.write("one", chain("apple"))
    indexed.update()
    reader = Reader(indexed.folder)
    indexed.update()
    assert not reader.refresh()
    indexed.append("one", chain("pear", first=1))
    indexed.update()
    assert reader.refresh() and reader.count == 2
