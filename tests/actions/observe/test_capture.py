"""What is captured, and how it is kept."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.files import files_of, path_of
from tau_browser.stores.agmem.integrity import audit
from tau_browser.stores.agmem.origin import Repository
from tau_browser.stores.agmem.records import Observation, read_memory
from tau_browser.stores.agmem.store import AgmemStore
from tau_browser.stores.store import StoreError
from tau_browser.stores.verdict import Verdict
from tests.actions.observe.sessions import call, calls, capture_once, held, history, write
from tests.actions.test_redaction import TOKENS


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return tmp_path / "repo"


def texts(repo: Path) -> dict[str, str]:
    """Files of the memory by their paths."""
    current = repo / "current"
    return {
        str(path.relative_to(current)): path.read_text()
        for path in current.rglob("*")
        if path.is_file()
    }


def observations(repo: Path) -> dict[str, Observation]:
    """The observations in the files of the memory, by tool."""
    read = (read_memory(path, text.encode()) for path, text in texts(repo).items())
    return {each.tool: each for each in read if isinstance(each, Observation)}


def test_each_call_is_a_file_of_its_type(tmp_path: Path, repo: Path) -> None:
    observing = capture_once(write(tmp_path / "s.jsonl", calls(4)), repo)
    assert observing.capture.counts.captured == 4
    folders = sorted(path.rpartition("-")[0] for path in texts(repo))
    assert folders == [
        "episodic/2026-03-02/09-14-00-bash",
        "episodic/2026-03-02/09-14-03-bash",
        "procedural/create_branch",
        "semantic/read",
    ]
    read = observations(repo)["read"]
    assert (read.memory, read.arguments, read.result) == ("semantic", {"path": "f1"}, "result 1")
    assert read.extra["source_entry"] == "a1" and read.time == "2026-03-02T09:14:01.000000+00:00"


def test_commits_in_batches_with_agmems_message(tmp_path: Path, repo: Path) -> None:
    capture_once(write(tmp_path / "s.jsonl", calls(5)), repo, batch=2)
    found = history(repo)
    (line,) = found.lines
    commits = [found.commits[id] for id in line.commits]
    assert [commit.counted for commit in commits] == [2, 2, 1]
    assert commits[0].message == (
        "Auto-commit: 2 observations from 2 tools\n\nCaptured observations:\n"
        "- [episodic] bash path=f0\n- [semantic] read path=f1"
    )
    assert commits[2].subject == "Auto-commit: 1 read observation(s)"
    assert len({commit.session for commit in commits}) == 1


def test_captured_again_nothing_is_new(tmp_path: Path, repo: Path) -> None:
    path = write(tmp_path / "s.jsonl", calls(3))
    capture_once(path, repo)
    before = held(repo)
    observing = capture_once(path, repo)
    assert (observing.capture.counts.captured, observing.capture.counts.known) == (0, 3)
    assert held(repo) == before and not observing.capture.counts.commits


def test_copies_in_a_fork_are_the_same_calls(tmp_path: Path, repo: Path) -> None:
    write(tmp_path / "store" / "a.jsonl", calls(3), "a")
    write(tmp_path / "store" / "b.jsonl", calls(4), "b")
    observing = capture_once(tmp_path / "store", repo)
    assert observing.sessions == 2 and len(held(repo)) == 4


def test_calls_that_look_the_same_are_kept_apart(tmp_path: Path, repo: Path) -> None:
    entries = [*call(0, "bash", {"cmd": "x"}, "1"), *call(1, "bash", {"cmd": "x"}, "2")]
    for entry in entries:
        entry["timestamp"] = "2026-03-02T09:14:00.000Z"
    capture_once(write(tmp_path / "s.jsonl", entries), repo)
    assert len(texts(repo)) == len(set(held(repo))) == 2


def test_errors_are_kept_however_short(tmp_path: Path, repo: Path) -> None:
    entries = [
        *call(0, "bash", {}, "no", is_error=True),
        *call(1, "echo", {}, ""),
        *call(2, "pwd", {}, "/"),
    ]
    capture_once(write(tmp_path / "s.jsonl", entries), repo)
    found = observations(repo)
    assert found.keys() == {"bash", "echo", "pwd"}
    assert (found["bash"].result, found["bash"].extra["is_error"]) == ("no", "true")


def test_a_cut_is_marked_and_the_whole_is_kept(tmp_path: Path, repo: Path) -> None:
    whole = "".join(f"line {at}\n" for at in range(2000))
    capture_once(write(tmp_path / "s.jsonl", call(0, "bash", {}, whole)), repo)
    (observation,) = observations(repo).values()
    assert observation.is_cut and observation.result == whole[:2000]
    path = observation.extra["whole_result"]
    assert texts(repo)[path].partition("\n---\n\n")[2] == whole  # as it was, to the character
    found = history(repo)
    entries = found.tree(found.commits[found.refs.head])
    assert path in {f"{entry.path}/{entry.name}" for entry in entries}
    *_, last = AgmemStore([str(repo)], tmp_path / "cache").open(str(repo)).load()
    assert last.session is not None and not last.session.diagnostics
    (place,) = last.session.find(observation.id)
    assert last.session.text(place).endswith(whole.rstrip("\n"))


def test_fences_and_odd_names_stay_what_they_are(tmp_path: Path, repo: Path) -> None:
    entries = [
        *call(0, "../../mcp/x: [y\nz", {"a": "```\n### Result"}, "```\nnot the end\n````\nmore"),
        *call(1, "Ünïcödé " * 30, {}, "x"),
        *call(2, "", {}, "no name"),
    ]
    capture_once(write(tmp_path / "s.jsonl", entries), repo)
    found = observations(repo)
    odd = found["../../mcp/x: [y\nz"]
    assert odd.result == "```\nnot the end\n````\nmore"
    assert odd.arguments == {"a": "```\n### Result"}
    assert sorted(texts(repo)) and len(texts(repo)) == 3
    assert not [path for path in tmp_path.iterdir() if path.name not in ("repo", "s.jsonl")]


@given(st.text(max_size=80), st.sampled_from(["episodic", "semantic", "procedural"]))
def test_paths_hold_the_whole_id_and_stay_below_their_folder(tool: str, memory: str) -> None:
    id = "01234567-89ab-cdef-0123-456789abcdef"
    observation = Observation(id, "2026-03-02T09:14:00.0+00:00", tool, {}, "x" * 3000, memory)
    for path in files_of(observation):
        assert id.replace("-", "") in path
        assert ".." not in path and path.isascii() and not path.startswith("/")
        assert all(part and len(part) < 200 for part in path.split("/"))
    assert path_of(observation).split("/")[0] == memory


def test_waits_for_a_result_and_goes_on_without_one(tmp_path: Path, repo: Path) -> None:
    path = write(tmp_path / "s.jsonl", [*calls(1), *call(1, "bash", {}, ...)])
    assert capture_once(path, repo).waiting == 1
    assert len(held(repo)) == 1
    said = {
        "type": "message",
        "id": "u",
        "parentId": "a1",
        "timestamp": "2026-03-02T09:20:00.000Z",
        "message": {"role": "user", "content": "never mind"},
    }
    write(path, [*calls(1), *call(1, "bash", {}, ...), said])
    assert capture_once(path, repo).waiting == 0
    assert len(held(repo)) == 2


SECRETS = {
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "aws": "AKIA" + "QWERTYUIOPASDFGH",
    "password": "correct-horse-battery",
}


def test_secrets_never_reach_the_disk(tmp_path: Path, repo: Path) -> None:
    entries = [
        *call(0, "bash", {"command": f"curl -H 'token: {SECRETS['github']}'"}, SECRETS["aws"]),
        *call(1, "login", {"password": SECRETS["password"], "user": "me"}, "x" * 100),
        *call(2, "bash", {"command": "x" * 80 + SECRETS["github"]}, "ok"),
        *call(3, "bash", {}, "y" * 1990 + " " + SECRETS["github"] + " z" * 50),
    ]
    path = write(tmp_path / "s.jsonl", entries)
    with Capture(repo) as capture:  # looked at before the commit, and after it
        import threading

        from tau_browser.actions.observe.follow import Observing, Pace
        from tau_browser.stores.tau_file import TauFileStore

        observing = Observing(TauFileStore([str(path)]), str(path), capture, Pace())
        observing.run(threading.Event(), once=True)
        _hold_no_secret(repo)
    _hold_no_secret(repo)
    assert observing.redaction.count >= 5
    assert "[redacted" in observations(repo)["login"].arguments["password"]
    assert observations(repo)["login"].arguments["user"] == "me"


def test_no_token_of_any_shape_reaches_the_disk(tmp_path: Path, repo: Path) -> None:
    """Whether it stands in what was asked, in what came back, or in a setting of either."""
    entries = [
        entry
        for at, token in enumerate(TOKENS.values())
        for entry in call(
            at, "bash", {"command": f"echo '{token}'", "env": {"X_TOKEN": token}}, f"x\n{token}\n"
        )
    ]
    words = [
        *("CLIENT_SECRET=hunter2abc", "Authorization: Bearer hunter2abc", "DB_PASSWORD=hunter2abc"),
        *("postgres://me:hunter2abc@db.example/x", "Cookie: sid=hunter2abc", "-u me:hunter2abc"),
    ]
    entries += call(len(TOKENS), "bash", {"command": "\n ".join(words)}, "\n ".join(words))
    capture_once(write(tmp_path / "s.jsonl", entries), repo)
    assert len(held(repo)) == len(TOKENS) + 1
    for path in repo.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data = zlib.decompress(data) if "objects" in path.parts else data
            for secret in (*TOKENS.values(), "hunter2abc"):
                assert json.dumps(secret)[1:-1].encode() not in data, (path, secret)


def _hold_no_secret(repo: Path) -> None:
    for path in repo.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if "objects" in path.parts:
                data = zlib.decompress(data)
            for secret in SECRETS.values():
                for part in (secret, secret[:12]):
                    assert part.encode() not in data, path


def test_files_are_for_their_owner_alone(tmp_path: Path, repo: Path) -> None:
    capture_once(write(tmp_path / "s.jsonl", calls(2)), repo)
    for path in repo.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_what_is_written_is_sound_and_the_session_is_ended(tmp_path: Path, repo: Path) -> None:
    capture_once(write(tmp_path / "s.jsonl", calls(7)), repo, batch=3)
    report = audit(str(repo), Repository(str(repo)).history())
    assert {check.verdict for check in report.checks} == {Verdict.UNSIGNED}
    assert not report.remarks
    session = json.loads((repo / ".mem/daemon_session.json").read_text())
    assert session["ended_at"] and session["commit_count"] == 3 and not session["observations"]
    left = {path.name for path in (repo / ".mem").iterdir() if path.is_file()}
    assert left == {"HEAD", "config.json", "daemon_session.json"}
    first = session["session_id"]
    capture_once(write(tmp_path / "s.jsonl", calls(8)), repo)
    assert json.loads((repo / ".mem/daemon_session.json").read_text())["session_id"] != first


def test_edits_of_a_person_are_neither_taken_along_nor_dropped(tmp_path: Path, repo: Path) -> None:
    path = write(tmp_path / "s.jsonl", calls(1))
    capture_once(path, repo)
    (repo / "current/semantic/mine.md").write_text("mine")
    write(path, calls(2))
    capture_once(path, repo)
    found = history(repo)
    names = {entry.name for entry in found.tree(found.commits[found.refs.head])}
    assert len(names) == 2 and "mine.md" not in names
    assert (repo / "current/semantic/mine.md").read_text() == "mine"


def test_one_capture_at_a_time(repo: Path) -> None:
    with Capture(repo), pytest.raises(StoreError, match=f"process {os.getpid()} captures"):
        Capture(repo).start()
    with Capture(repo):  # and when the first has ended, the next
        pass


def test_a_lock_of_a_process_that_is_no_more_is_taken(repo: Path) -> None:
    with Capture(repo):
        pass
    lock = repo / ".mem/tau-browse.lock"
    lock.write_text(json.dumps({"pid": os.getpid(), "started": "of another with this id"}))
    with Capture(repo):
        assert json.loads(lock.read_text())["started"] != "of another with this id"
    assert not lock.exists()


def test_what_agmems_daemon_left_is_refused(agmem_crash: Path) -> None:
    with pytest.raises(StoreError, match="left 10 observations uncommitted"):
        Capture(agmem_crash).start()
    assert not (agmem_crash / ".mem/tau-browse.lock").exists()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda repo: (repo / ".mem/HEAD").write_text("0" * 64 + "\n"), "HEAD is on no branch"),
        (
            lambda repo: (repo / ".mem/config.json").write_text('{"encryption":{"enabled":true}}'),
            "encrypted",
        ),
        (
            lambda repo: (
                (repo / ".mem/merge").mkdir(),
                (repo / ".mem/merge/conflicts.json").write_text('[{"path": "a"}]'),
            ),
            "a merge is not finished",
        ),
        (
            lambda repo: (repo / ".mem/HEAD").write_text("ref: refs/heads/../../x\n"),
            "HEAD is on no branch",
        ),
    ],
)
def test_refusals(repo: Path, harm: object, said: str) -> None:
    with Capture(repo):
        pass
    harm(repo)  # type: ignore[operator]
    with pytest.raises(StoreError, match=said):
        Capture(repo).start()


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    with pytest.raises(StoreError, match="not empty"):
        Capture(tmp_path / "mine").start()
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]


def test_nothing_is_written_through_a_link(tmp_path: Path, repo: Path) -> None:
    with Capture(repo):
        pass
    (tmp_path / "elsewhere").mkdir()
    (repo / "current/semantic").rmdir()
    (repo / "current/semantic").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="a link: nothing is written through it"):
        capture_once(write(tmp_path / "s.jsonl", calls(2)), repo)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_branch_that_went_on_meanwhile_is_built_upon(tmp_path: Path, repo: Path) -> None:
    from tests.stores.agmem.made import commit

    path = write(tmp_path / "s.jsonl", calls(2))
    capture_once(path, repo)
    found = history(repo)
    files = {
        f"{entry.path}/{entry.name}": found.objects.read(entry.hash, "blob").content.decode()
        for entry in found.tree(found.commits[found.refs.head])
    }
    commit(repo, {**files, "semantic/by-hand.md": "x"}, "by hand", observation_ids=[])
    write(path, calls(3))
    capture_once(path, repo)
    found = history(repo)
    (line,) = found.lines
    assert len(line.commits) == 3 and len(set(held(repo))) == 3
    names = {entry.name for entry in found.tree(found.commits[found.refs.head])}
    assert "by-hand.md" in names and len(names) == 4
