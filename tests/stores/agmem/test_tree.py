"""Repositories as trees: what stands where, and that all of it does."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tau_browser.model.session import Session
from tests.stores.agmem.conftest import Read, drawn
from tests.stores.agmem.made import commit, keep, start


@pytest.fixture
def repo(agmem: Path, read_repo: Read) -> Session:
    return read_repo(agmem / "repo")


def records(session: Session, kind: str) -> list[dict[str, object]]:
    return [session.record(place) for place in session.places_of_kind(kind)]


def holder(session: Session, entry_id: str) -> str:
    """The id of the entry that an entry hangs under."""
    (place,) = session.find(entry_id)
    return session.entry_id(int(session.tree.parent[place]))


def test_holds_what_the_sample_holds(repo: Session) -> None:
    commits = records(repo, "commit")
    by_daemon = [each for each in commits if "daemon_session_id" in (each["metadata"] or {})]
    assert (len(commits), len(by_daemon)) == (14, 7)
    observations = [each for each in records(repo, "message") if "file" in each]
    types = Counter(each["memory"] for each in observations)
    assert types == {"episodic": 14, "semantic": 15, "procedural": 9}
    assert len({each["id"] for each in observations}) == 38
    roots = [repo.record(place)["message"]["content"][0]["text"] for place in repo.tree.roots]
    assert [root.partition(" · ")[0] for root in roots] == [
        "main",
        "SessionManager's session 6a005ca0",
        "9 files that agmem keeps for itself",
        "1 blob in no commit",
    ]


def test_every_object_of_the_sample_stands_in_the_tree(repo: Session, agmem: Path) -> None:
    objects = agmem / "repo" / ".mem" / "objects"
    stored = {
        kind: {path.parent.name + path.name for path in (objects / kind).glob("*/*")}
        for kind in ("blob", "commit")
    }
    shown = {
        record["origin"]["object"]
        for record in map(repo.record, range(len(repo)))
        if "origin" in record
    }
    assert stored["commit"] <= shown
    assert stored["blob"] <= shown


def test_branches_part_where_they_parted(repo: Session) -> None:
    def full(short: str) -> str:
        return repo.entry_id(repo.find_prefix(short)[0])

    assert holder(repo, "branch/experiment") == full("fc50cb89")
    assert holder(repo, "branch/notes") == full("117a3a7a")
    assert holder(repo, "stash/0: draft") == full("6ed77b05")
    (link,) = records(repo, "link")
    assert (link["parentId"], link["target"]) == (full("6ed77b05"), full("67b09519"))
    labels = drawn(repo)
    assert any("fc50cb89 important" in line and "[tag v0.1]" in line for line in labels)


def test_sessions_end_with_a_pause(repo: Session) -> None:
    sittings = [record["message"]["content"][0]["text"] for record in records(repo, "sitting")]
    assert sittings == [
        "fb28b89a · 3 commits",
        "fb28b89a · 2 commits",
        "by hand · 1 commit",
        "by hand · 2 commits",
        "by hand · 2 commits",
        "by hand · 1 commit",
        "fb28b89a · 2 commits",
        "by hand · 1 commit",
    ]


def test_what_a_crash_left_is_there_once(agmem: Path, read_repo: Read) -> None:
    session = read_repo(agmem / "crash-snapshot")
    (pending,) = session.find("pending")
    text = session.text(pending)
    assert text.startswith("5 observations not committed · 5 in the session file, 5 in the buffer")
    below = drawn(session)[int(session.outline.line[pending]) :]
    assert sum("tool " in line for line in below) == 5
    assert not any("working copy" in line for line in below)  # their files are there already


def test_a_conflict_shows_base_ours_and_theirs(agmem: Path, read_repo: Read) -> None:
    session = read_repo(agmem / "merge-conflict-snapshot")
    (conflict,) = session.find("conflict/procedural/release.md")
    text = session.text(conflict)
    for side, step in (
        ("base", "publish\n"),
        ("ours", "by hand"),
        ("theirs", "the release workflow"),
    ):
        assert step in text.partition(f"{side}:\n")[2]
    assert session.record(conflict)["memory"] == "procedural"


def test_what_was_put_away_is_shown(agmem: Path, read_repo: Read) -> None:
    session = read_repo(agmem / "bugs" / "b38-distill")
    (archived,) = session.find("archived")
    assert len(session.tree.children(archived)) == 6
    assert drawn(session)[0] == ("branch: auto-distill/2026-11-29 · HEAD · 2 commits")


def test_a_detached_head_is_a_line_of_its_own(agmem: Path, read_repo: Read) -> None:
    lines = drawn(read_repo(agmem / "bugs" / "b43-reset"))
    assert lines[0] == "HEAD: detached · 1 commit"
    assert "      branch: main · 1 commit" in lines


def test_what_only_the_reflog_or_the_objects_know_is_shown(tmp_path: Path, read_repo: Read) -> None:
    repo = start(tmp_path / "repo")
    first = commit(repo, {"a.md": "1"})
    lost = commit(repo, {"a.md": "2"}, "moved away from")
    (repo / ".mem/refs/heads/main").write_text(first + "\n")
    alone = commit(repo, {"a.md": "3"}, "never in the reflog", branch="x", parents=[])
    (repo / ".mem/refs/heads/x").unlink()
    log = repo / ".mem/logs/HEAD"
    log.write_text("".join(line for line in log.open() if alone not in line))
    (repo / "current/a.md").write_text("1")
    lines = drawn(read_repo(repo))
    assert lines[0] == "branch: main · HEAD · 1 commit"
    assert [line.strip() for line in lines if "unreachable" in line] == [
        "unreachable: in the reflog: commit: moved away from · 1 commit",
        f"unreachable: {alone[:8]}, not even in the reflog · 1 commit",
    ]
    assert any(lost[:8] in line for line in lines)


def test_a_merge_shows_only_what_it_made_itself(tmp_path: Path, read_repo: Read) -> None:
    repo = start(tmp_path / "repo")
    base = commit(repo, {"semantic/a.md": "a"})
    theirs = commit(repo, {"semantic/a.md": "a", "semantic/t.md": "t"}, branch="t", parents=[base])
    ours = commit(repo, {"semantic/a.md": "A"}, parents=[base])
    merged = {"semantic/a.md": "A", "semantic/t.md": "t", "semantic/new.md": "n"}
    commit(repo, merged, "merge", parents=[ours, theirs], source_branch="t")
    keep(repo, merged)
    (repo / ".mem/refs/heads/t").unlink()  # the branch is gone, what it held is not
    lines = [line.strip() for line in drawn(read_repo(repo))]
    assert lines.count("file: semantic/t.md") == 1
    assert lines.count("file: semantic/new.md") == 1
    assert "merged branch: t · 1 commit" in lines
    assert f"merges: t, {theirs[:8]}: saved" in lines


def test_names_that_no_utf8_spells_are_shown(tmp_path: Path, read_repo: Read) -> None:
    repo = start(tmp_path / "repo")
    (repo / "current" / "semantic").mkdir()
    (repo / "current" / "semantic").joinpath("\udcff.md").write_text("x")
    assert any("semantic/\\udcff.md" in line for line in drawn(read_repo(repo)))


def test_a_result_that_was_cut_shows_the_whole(tmp_path: Path, read_repo: Read) -> None:
    observation = (
        "---\nobservation_id: o1\ntool_name: read\nwhole_result: results/o1.txt\n---\n\n# read\n\n"
        "### Arguments\n\n```json\n{}\n```\n\n### Result\n\n```\nbegin\n... (truncated)\n```\n"
    )
    files = {"semantic/read-o1.md": observation, "results/o1.txt": "begin and end\n"}
    repo = start(tmp_path / "repo")
    commit(repo, files)
    keep(repo, files)
    session = read_repo(repo)
    (place,) = session.find("o1")
    assert session.text(place) == "read\n{}\nbegin and end"
    assert not session.diagnostics
    assert not any("results/" in line for line in drawn(session))


def test_tells_that_a_call_failed_where_that_is_stored(tmp_path: Path, read_repo: Read) -> None:
    repo = start(tmp_path / "repo")
    pending = {
        "id": "o1",
        "timestamp": "2026-03-01T10:00:00+00:00",
        "tool_name": "bash",
        "is_error": True,
        "result": "no",
    }
    (repo / ".mem/daemon_buffer.jsonl").write_text(json.dumps(pending) + "\n")
    session = read_repo(repo)
    assert session.record(session.find("o1")[0])["message"]["is_error"] is True
