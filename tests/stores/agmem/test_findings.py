"""What is said to be wrong: agmem's own faults (memory-systems 3), and damage."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from tests.stores.agmem.conftest import Read, findings
from tests.stores.agmem.made import commit, put, start


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("b01-recall-bricks", "index.json: holds the log of `agmem recall`"),
        ("b02-collision", "5 observations captured, 1 here: 4 overwritten"),
        ("b03-truncate", "its result was cut at 500 characters"),
        ("b03-truncate", "drops results of 1 to 49 characters, short errors among them"),
        ("b04-recovery", "counts 6 observations, but crash recovery wrote each of 2 down 3 times"),
        ("b04-recovery", "2 observations captured, 1 here: 1 overwritten"),
        ("b12-partial", "2 files of its parent not in it"),
        ("b13b-merge3", "1 file empty after the merge"),
        ("b15-verify", "its bytes do not give its id: they were altered"),
        ("b16-repack", "agmem cannot read its index"),
        ("b22-session", "3 files of its parent not in it"),
        ("b27-corrupt", "daemon_buffer.jsonl, line 2: not JSON"),
        ("b52-verify2", "tree a6483c54: its bytes do not give its id"),
    ],
)
def test_faults_of_agmem(agmem: Path, read_repo: Read, name: str, said: str) -> None:
    assert any(said in finding for finding in findings(read_repo(agmem / "bugs" / name)))


def test_each_finding_leads_to_the_entry_that_it_speaks_of(agmem: Path, read_repo: Read) -> None:
    session = read_repo(agmem / "repo")
    told = {
        session.entry_id(place)[:8]: session.diagnostics_of(place)[0].reason
        for place in range(len(session))
        if session.diagnostics_of(place)
    }
    assert told == {
        "81f5975f": "its result was cut at 500 characters when it was stored: the rest is nowhere",
        "8f61301f": "it counts 10 observations, but crash recovery wrote each of 5 down 2 times",
    }


def _objects(repo: Path, kind: str) -> list[Path]:
    return sorted((repo / ".mem" / "objects" / kind).glob("*/*"))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path: path.unlink(), "is not among the objects"),
        (lambda path: path.write_bytes(b"no zlib"), "not zlib data"),
        (lambda path: path.write_bytes(path.read_bytes()[:-5]), "cut short"),
        (_pipe, "cut short"),
        (lambda path: path.write_bytes(zlib.compress(b"blob 1\0x")), "they were altered"),
    ],
)
@pytest.mark.parametrize("kind", ["blob", "tree", "commit"])
def test_damaged_objects_spare_the_rest(
    tmp_path: Path, read_repo: Read, kind: str, harm: object, said: str
) -> None:
    repo = start(tmp_path / "repo")
    commit(repo, {"semantic/a.md": "a"})
    harm(_objects(repo, kind)[0])  # type: ignore[operator]
    session = read_repo(repo)
    told = findings(session)
    assert any(said in finding for finding in told) or (
        said == "they were altered" and any("not a " in finding for finding in told)
    )
    assert session.entry_id(0) == "branch/main"


def test_a_small_file_that_unpacks_to_very_much_is_refused(
    tmp_path: Path, read_repo: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tau_browser.stores.agmem.packs.LARGEST", 1000)
    repo = start(tmp_path / "repo")
    put(repo, "blob", b"0" * 100_000)
    commit(repo, {"a.md": "0" * 100_000})
    assert any("larger than" in finding for finding in findings(read_repo(repo)))


def test_refs_that_lead_nowhere_are_told(tmp_path: Path, read_repo: Read) -> None:
    repo = start(tmp_path / "repo")
    commit(repo, {"a.md": "a"})
    (repo / ".mem/refs/heads/gone").write_text("0" * 63 + "1\n")
    (repo / ".mem/refs/heads/odd").write_text("main\n")
    (repo / ".mem/stash").write_text("{}")
    told = findings(read_repo(repo))
    assert any("commit 00000000: the commit is not among the objects" in line for line in told)
    assert any("refs/heads/odd: holds no commit id" in line for line in told)
    assert any("stash: not a JSON list" in line for line in told)


def test_an_encrypted_repository_says_so(tmp_path: Path, read_repo: Read) -> None:
    repo = start(tmp_path / "repo")
    (repo / ".mem/config.json").write_text('{"encryption": {"enabled": true}}')
    assert any("objects are encrypted" in line for line in findings(read_repo(repo)))
