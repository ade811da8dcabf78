"""Commits are signed with the key of whoever captures, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.signing import VARIABLE, private_key
from tau_browser.stores.agmem.integrity import audit
from tau_browser.stores.agmem.origin import Repository
from tau_browser.stores.store import StoreError
from tau_browser.stores.verdict import Verdict
from tests.actions.observe.sessions import calls, capture_once, history, write


def private_pem() -> bytes:
    """A new key, as agmem takes it."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_pem(private: bytes) -> bytes:
    """The public half of a key."""
    public = load_pem_private_key(private, None).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write(tmp_path / "s.jsonl", calls(3))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return tmp_path / "repo"


def verdicts(repo: Path) -> set[Verdict]:
    """What an audit says of the commits."""
    report = audit(str(repo), Repository(str(repo)).history())
    return {check.verdict for check in report.checks if check.name.startswith("commit ")}


def test_the_key_comes_from_the_environment_as_agmem_looks_for_it(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(b"of the file")
    file = {f"{VARIABLE}_FILE": str(tmp_path / "key.pem")}
    assert private_key({}) is None and private_key(file) == b"of the file"
    assert private_key(file | {VARIABLE: "itself"}) == b"itself"
    with pytest.raises(StoreError, match=r"gone\.pem: no such file"):
        private_key({f"{VARIABLE}_FILE": str(tmp_path / "gone.pem")})


def test_signed_commits_verify_and_the_key_is_introduced(repo: Path, session: Path) -> None:
    key = private_pem()
    capture_once(session, repo, batch=2, key=key)
    public = repo / ".mem" / "keys" / "public.pem"
    assert public.read_bytes() == public_pem(key) and public.stat().st_mode & 0o777 == 0o600
    assert key not in b"".join(path.read_bytes() for path in repo.rglob("*") if path.is_file())
    assert verdicts(repo) == {Verdict.VERIFIED}
    capture_once(write(session, calls(5)), repo, key=key)
    assert verdicts(repo) == {Verdict.VERIFIED}
    assert all("signature" in commit.metadata for commit in history(repo).commits.values())


def test_who_has_no_key_is_told_that_commits_stay_unsigned(repo: Path, session: Path) -> None:
    assert not capture_once(session, repo).capture.lacks_key
    assert verdicts(repo) == {Verdict.UNSIGNED}
    capture_once(write(session, calls(5)), repo, key=private_pem())
    assert capture_once(write(session, calls(7)), repo).capture.lacks_key


def test_a_key_that_is_not_the_one_of_the_repository_is_refused(repo: Path, session: Path) -> None:
    capture_once(session, repo, key=private_pem())
    before = history(repo).refs.head
    with pytest.raises(StoreError, match="not the private one of its public key"):
        Capture(repo, private_pem()).start()
    assert history(repo).refs.head == before
    assert not (repo / ".mem" / "tau-browse.lock").exists()


def test_a_key_that_cannot_sign_is_refused(repo: Path) -> None:
    other = generate_private_key(SECP256R1())
    of_another_kind = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(StoreError, match="no Ed25519 key"):
        Capture(repo, of_another_kind).start()
    with pytest.raises(StoreError, match="cannot be read: give an Ed25519 PEM"):
        Capture(repo, b"no key").start()
