"""The audit of a repository: verdicts per commit and for all of it, and the first bad place."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.stores.agmem.integrity import merkle_root
from tau_browser.stores.agmem.store import AgmemStore
from tau_browser.stores.store import StoreError
from tau_browser.stores.verdict import Report, Verdict
from tests.stores.agmem.made import commit, put, start


def audited(repo: Path, anchor: str = "") -> Report:
    return AgmemStore([str(repo)]).verify(str(repo), anchor)


def said(report: Report) -> list[str]:
    return [str(check) for check in report.checks if check.verdict is Verdict.BROKEN]


def test_the_sample_is_sound(agmem: Path) -> None:
    report = audited(agmem / "repo")
    commits = [check for check in report.checks if check.name.startswith("commit")]
    assert Counter(check.verdict for check in commits) == {
        Verdict.VERIFIED: 12,
        Verdict.UNSIGNED: 2,  # a merge and a stash, which agmem does not sign
    }
    assert report.verdict is Verdict.UNSIGNED
    assert report.anchor == (agmem / "repo/.mem/audit/log").read_text().split("\n")[-2][:64]
    assert "commit 8f61301f counts 10 observations, 5 here" in report.remarks


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("b15-verify", "at its own object: its bytes do not give its id"),
        ("b52-verify2", "tree a6483c54: its bytes do not give its id"),
        ("b14-audit", "audit log: broken at line 55: it does not follow the entry before it"),
    ],
)
def test_what_agmem_itself_lets_pass(agmem: Path, name: str, broken: str) -> None:
    report = audited(agmem / "bugs" / name)
    assert report.verdict is Verdict.BROKEN
    assert any(broken in line for line in said(report)), said(report)


@pytest.fixture
def copied(agmem: Path, tmp_path: Path) -> Path:
    """The sample, to be tampered with."""
    return shutil.copytree(agmem / "repo", tmp_path / "repo")


def _object(repo: Path, kind: str, short: str) -> Path:
    (path,) = (repo / ".mem/objects" / kind / short[:2]).glob(f"{short[2:]}*")
    return path


def _swap_blobs(repo: Path) -> None:
    first, second, *_ = sorted((repo / ".mem/objects/blob").glob("*/*"))
    first.write_bytes(second.read_bytes())


def _lose_parent(repo: Path) -> None:
    _object(repo, "commit", "88570e8f").unlink()


def _lose_tree(repo: Path) -> None:
    (repo / ".mem/objects/tree").rename(repo / ".mem/objects/trees")


def _cut_log(repo: Path) -> None:
    log = repo / ".mem/audit/log"
    log.write_text("".join(log.open().readlines()[:-6]))


def _no_log(repo: Path) -> None:
    (repo / ".mem/audit/log").unlink()


def _edit_log(repo: Path) -> None:
    log = repo / ".mem/audit/log"
    log.write_text(log.read_text().replace('"staged_count": 34', '"staged_count": 35'))


def _rewrite_log(repo: Path) -> None:
    log, before, lines = repo / ".mem/audit/log", "", []
    for line in log.read_text().splitlines():
        payload = json.loads(line.partition("\t")[2])
        if payload["operation"] == "commit":
            continue
        text = json.dumps({**payload, "prev_hash": before}, sort_keys=True)
        before = hashlib.sha256((before + text).encode()).hexdigest()
        lines.append(f"{before}\t{text}\n")
    log.write_text("".join(lines))


@pytest.mark.parametrize(
    ("tamper", "broken"),
    [
        (_swap_blobs, "its bytes do not give its id"),
        (_lose_parent, "parent 88570e8f: the commit is not among the objects"),
        (_lose_tree, "it is not there"),
        (_cut_log, "its end: "),
        (_no_log, "its end: "),
        (_edit_log, "the entry was changed"),
        (_rewrite_log, "its end: "),
    ],
)
def test_tampering_is_found(copied: Path, tamper: Callable[[Path], None], broken: str) -> None:
    tamper(copied)
    report = audited(copied)
    assert report.verdict is Verdict.BROKEN
    assert any(broken in line for line in said(report)), said(report)


def test_an_anchor_finds_a_log_that_was_made_anew(copied: Path) -> None:
    anchor = audited(copied).anchor
    assert audited(copied, anchor).verdict is Verdict.UNSIGNED
    log = copied / ".mem/audit/log"
    before, lines = "", []
    for line in log.read_text().splitlines():
        payload = json.loads(line.partition("\t")[2])
        payload |= {"prev_hash": before, "timestamp": "2020-01-01T00:00:00Z"}
        text = json.dumps(payload, sort_keys=True)
        before = hashlib.sha256((before + text).encode()).hexdigest()
        lines.append(f"{before}\t{text}\n")
    log.write_text("".join(lines))
    assert audited(copied).verdict is Verdict.UNSIGNED  # a chain alone cannot show it
    assert any("which you kept, is not in it" in line for line in said(audited(copied, anchor)))


def test_another_key_and_no_key(copied: Path) -> None:
    key = copied / ".mem/keys/public.pem"
    entries = json.loads((copied / ".mem/trust/trust.json").read_text())["entries"]
    own = key.read_text()
    other = next(entry["public_key_pem"] for entry in entries if entry["public_key_pem"] != own)
    key.write_text(other)
    (copied / ".mem/trust/trust.json").unlink()
    assert any("signature: none of 1 known keys made it" in line for line in said(audited(copied)))
    key.unlink()
    verdicts = Counter(check.verdict for check in audited(copied).checks)
    assert verdicts[Verdict.UNKNOWN] == 12 and not verdicts[Verdict.VERIFIED]


@pytest.mark.parametrize(("level", "verdict"), [("full", "verified"), ("untrusted", "cannot tell")])
def test_a_key_counts_as_much_as_it_is_trusted(copied: Path, level: str, verdict: str) -> None:
    key = copied / ".mem/keys/public.pem"
    entry = {"public_key_pem": key.read_text(), "level": level, "key_id": "x"}
    key.unlink()
    (copied / ".mem/trust/trust.json").write_text(json.dumps({"entries": [entry]}))
    verdicts = {check.verdict.value for check in audited(copied).checks}
    assert verdict in verdicts and "verified" not in verdicts - {verdict}


def test_without_the_extra_a_signature_tells_nothing(
    agmem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    report = audited(agmem / "repo")
    assert report.verdict is Verdict.UNKNOWN
    assert any("tau-browser[verify]" in str(check) for check in report.checks)


def test_names_that_lead_out_of_the_memory_are_broken(tmp_path: Path) -> None:
    repo = start(tmp_path / "repo")
    commit(repo, {"../../outside.md": "x"})
    assert any('tree name "../../outside.md"' in line for line in said(audited(repo)))


def test_a_root_that_is_not_that_of_the_files(tmp_path: Path) -> None:
    repo = start(tmp_path / "repo")
    commit(repo, {"a.md": "x"}, merkle_root="0" * 64)
    assert any("merkle root" in line for line in said(audited(repo)))


def test_bad_objects_in_no_commit_count_too(tmp_path: Path) -> None:
    repo = start(tmp_path / "repo")
    blob = put(repo, "blob", b"x")
    (repo / ".mem/objects/blob" / blob[:2] / blob[2:]).write_bytes(b"no zlib")
    assert any("objects in no commit" in line for line in said(audited(repo)))


def test_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no agmem repository"):
        audited(tmp_path)
    repo = start(tmp_path / "repo")
    assert audited(repo).verdict is Verdict.UNKNOWN


def _naive_root(ids: list[str]) -> str:
    """The definition, written recursively (memory-systems 2)."""

    def sha(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def up(layer: list[str]) -> str:
        if len(layer) == 1:
            return layer[0]
        pairs = [(layer[at], layer[min(at + 1, len(layer) - 1)]) for at in range(0, len(layer), 2)]
        return up([sha(left + right) for left, right in pairs])

    return up([sha(id) for id in sorted(ids)]) if ids else sha("empty")


@given(st.lists(st.text("0123456789abcdef", min_size=1, max_size=4), max_size=20))
def test_roots_follow_their_definition(ids: list[str]) -> None:
    assert merkle_root(ids) == _naive_root(ids)
