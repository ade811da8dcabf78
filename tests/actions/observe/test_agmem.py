"""agmem 0.3.0 itself reads what was captured, and its own checks agree."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tau_browser.stores.agmem.integrity import audit
from tau_browser.stores.agmem.origin import Repository
from tau_browser.stores.verdict import Verdict
from tests.actions.observe.sessions import call, calls, capture_once, history, write
from tests.actions.observe.test_signing import private_pem, public_pem, verdicts
from tests.environments import AGMEM, environment

pytestmark = pytest.mark.slow

CONTENT = """
import json, sys
from pathlib import Path
from memvcs.core.audit import verify_audit
from memvcs.core.daemon import SessionState
from memvcs.core.repository import Repository
from memvcs.core.schema import SchemaValidator
repo = Repository(Path("."))
tree = repo.get_commit_tree(repo.resolve_ref("HEAD"))
found = {}
for entry in tree.entries:
    path = f"{entry.path}/{entry.name}"
    text = repo.object_store.retrieve(entry.hash, "blob").decode()
    checked = SchemaValidator.validate(text, path)
    found[path] = {"text": text, "errors": [error.message for error in checked.errors]}
state = SessionState.from_dict(json.loads(Path(".mem/daemon_session.json").read_text()))
print(json.dumps({
    "files": found, "audit": verify_audit(repo.mem_dir)[0], "pending": len(state.observations)
}))
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository into which was captured twice, in several commits."""
    repo = tmp_path / "repo"
    path = write(tmp_path / "s.jsonl", calls(5))
    capture_once(path, repo, batch=2)
    long = call(5, "bash", {"command": "make"}, "y" * 5000)
    write(path, [*calls(5), *long, *call(6, "mcp/odd: [x", {"a": "```"}, "```", is_error=True)])
    capture_once(path, repo)
    return repo


def agmem(repo: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    python = environment(*AGMEM)
    return subprocess.run(
        [python, "-m", "memvcs.cli", *words],
        cwd=repo,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_log_show_status_verify_and_fsck_agree(repo: Path) -> None:
    found = history(repo)
    (line,) = found.lines
    log = agmem(repo, "log")
    assert log.returncode == 0, log.stderr
    assert re.findall("commit ([0-9a-f]{64})", log.stdout) == line.commits[::-1]
    for commit_id in line.commits:
        shown = agmem(repo, "show", commit_id)
        assert shown.returncode == 0, shown.stderr
        for said in found.commits[commit_id].message.splitlines():
            assert said.strip() in shown.stdout
    status = agmem(repo, "status")
    assert "nothing to commit, working tree clean" in status.stdout, status.stdout
    fsck = agmem(repo, "fsck")
    assert fsck.returncode == 0 and "Repository is healthy!" in fsck.stdout, fsck.stdout
    assert agmem(repo, "verify", "--crypto").returncode == 0


def test_its_own_readers_find_every_file_sound(repo: Path) -> None:
    import json

    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    told = subprocess.run(
        [environment(*AGMEM), "-c", CONTENT],
        cwd=repo,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(told.stdout)
    assert answer["audit"] is True and answer["pending"] == 0
    files = answer["files"]
    assert len(files) == 8  # seven calls, and the whole of a result that was cut
    assert not {path: file["errors"] for path, file in files.items() if file["errors"]}
    for path, file in files.items():
        assert (repo / "current" / path).read_text() == file["text"]


def test_agmem_goes_on_from_there_and_so_do_we(repo: Path, tmp_path: Path) -> None:
    (repo / "current/semantic/mine.md").write_text(
        '---\nschema_version: "1.0"\nlast_updated: "2026-03-03T00:00:00Z"\n'
        "source_agent_id: me\nconfidence_score: 1.0\ntags: [x]\n---\n\nmine\n"
    )
    assert agmem(repo, "add", ".").returncode == 0
    committed = agmem(repo, "commit", "-m", "by hand")
    assert committed.returncode == 0, committed.stdout + committed.stderr
    path = write(tmp_path / "s.jsonl", [*calls(5), *call(5, "new", {}, "x")])
    capture_once(path, repo)
    found = history(repo)
    names = {entry.name for entry in found.tree(found.commits[found.refs.head])}
    assert "mine.md" in names and len(names) == 10
    assert agmem(repo, "fsck").returncode == 0
    report = audit(str(repo), Repository(str(repo)).history())
    assert report.verdict is Verdict.UNSIGNED and not report.remarks


def test_what_we_sign_it_verifies(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    path = write(tmp_path / "s.jsonl", calls(3))
    observing = capture_once(path, repo, batch=2, key=private_pem())
    assert len(observing.capture.counts.commits) == 2
    assert verdicts(repo) == {Verdict.VERIFIED}
    signed = agmem(repo, "verify", "--crypto")
    assert signed.returncode == 0, signed.stdout
    # it does look at the signature
    (repo / ".mem" / "keys" / "public.pem").write_bytes(public_pem(private_pem()))
    refused = agmem(repo, "verify", "--crypto")
    assert refused.returncode != 0 and "signature verification failed" in refused.stdout


def test_we_capture_into_what_agmem_made(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    assert agmem(repo, "init", "--author-name", "me", "--author-email", "me@e").returncode == 0
    capture_once(write(tmp_path / "s.jsonl", calls(3)), repo)
    found = history(repo)
    assert found.commits[found.refs.head].author == "me <me@e>"
    assert agmem(repo, "fsck").returncode == 0
    assert audit(str(repo), Repository(str(repo)).history()).verdict is Verdict.UNSIGNED
